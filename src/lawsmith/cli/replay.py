"""`lawsmith replay STUDY`: choose a finished study's runs anew, and see what its law would cost."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lawsmith.cli.console import INTERRUPTED
from lawsmith.cli.params import (
    RUNS,
    SHOW,
    ShownRequest,
    StudyRequest,
    argument,
    flag,
    number,
    option,
    reader,
    takes,
    whole,
)

if TYPE_CHECKING:
    from lawsmith.costs import Pricing
    from lawsmith.grid import HeldOut
    from lawsmith.laws.law import Law
    from lawsmith.stopping import StopRule
else:
    HeldOut = Law = Pricing = StopRule = Any  # Typer looks at the types when --help is asked for

LAW, CHOICE, END = "Which law", "How runs are chosen", "When it ends"
OPTIONS = "lawsmith.cli.replay_options"


@dataclass(frozen=True, kw_only=True)
class ReplayRequest(ShownRequest, StudyRequest):
    """What `lawsmith replay` is asked; ``budget`` up to 1 is a share of the pool, else FLOPs."""

    study: str = argument(
        "STUDY",
        "The name of a published or synthetic study (lawsmith datasets lists them), or a "
        "table with one row per run, in any form that lawsmith fit reads.",
    )
    hold_out: HeldOut | None = option(
        RUNS,
        "50%|largest-N|0",
        "Runs to hold out and judge by, never chosen; 0 holds out none. By default as the study's "
        "paper splits it, else the upper half of compute, for laws of N the largest N.",
        parser=reader("hold_out"),
    )
    law: Law = option(
        LAW,
        "NAME",
        "LC, LN, LD, chinchilla, kaplan, skaling or gadre.",
        default="LC",
        parser=reader("get_law"),
    )
    force: bool = flag(LAW, "--force", "Use the law even if this study cannot identify it.")
    policy: str = option(
        CHOICE,
        "frontier|window|full",
        "frontier: in turn the run that lowers the envelope most and the one that tells most "
        "about the answer, per FLOP. window, full: the paper's search of a growing window, or of "
        "the whole pool.",
        default="frontier",
    )
    surrogate: str | None = option(
        CHOICE, "NAME", "surface (default for frontier) or gp (default for window and full)."
    )
    kernel: str | None = option(
        CHOICE, "NAME", "Kernel of gp: matern (default), linear, matern+linear or grouped."
    )
    priors: str | None = option(CHOICE, "NAME", "Priors of gp: free (default), lognormal or gamma.")
    scale: str | None = option(
        CHOICE, "loss|log", "What is modelled: the loss (default) or its logarithm."
    )
    acquisition: str | None = option(CHOICE, "lcb|ei|pi", "Acquisition function; default lcb.")
    kappa: float | None = option(
        CHOICE, "κ", "Standard deviations below the mean in lcb; default 2.", parser=number
    )
    reach: float | None = option(
        CHOICE,
        "FACTOR",
        "Reach of the window beyond the compute run so far; 1 is the next level only. By default "
        "as the study's paper sets it, else 1.5.",
        parser=number,
    )
    slice_by: str | None = option(
        CHOICE, "C|N|D", "What the window grows by: compute (default), N or D."
    )
    n_init: int | None = option(
        CHOICE, "N", "Cheap random runs to start from: 10, or 0 for surface.", parser=whole
    )
    seed: int = option(CHOICE, "SEED", "Random seed.", default=0, parser=whole)
    iterations: int | None = option(
        END, "N", "Stop after this many runs, initial ones included.", parser=whole
    )
    budget: float | None = option(
        END,
        "0.05|5%|1e21",
        "Stop before spending more than this share of the pool's compute, or these FLOPs.",
        parser=reader("budget", OPTIONS),
    )
    rule: StopRule | None = option(
        END,
        "RULE",
        "Stop when the best loss is known this well: 'loss@1e25 within 1%'.",
        "--stop-when",
        parser=reader("answer_rule", OPTIONS),
    )
    pricing: Pricing | None = option(
        CHOICE,
        "SHARE",
        "Price runs that differ in D alone as branches of one trunk, each with a decay of "
        "this share of its tokens, such as 0.2.",
        "--trunk-decay",
        parser=reader("pricing", OPTIONS),
    )
    out: Path | None = option(SHOW, "DIR", "Folder for trace.json, steps.csv and charts.")


@takes(ReplayRequest)
def replay(asked: ReplayRequest) -> None:
    """Replay a finished study as if its runs were still to be chosen.

    For example: lawsmith replay oellm-english --budget 5% --seed 0
    """
    from lawsmith.cli.replay_run import run_replay, set_up  # here: --help need not wait for numpy

    if run_replay(set_up(asked)).stopped == "interrupted":
        raise typer.Exit(INTERRUPTED)
