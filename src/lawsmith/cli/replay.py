"""`lawsmith replay STUDY`: choose a finished study's runs anew, and see what its law would cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lawsmith.cli import params
from lawsmith.cli.console import INTERRUPTED
from lawsmith.cli.params import number, option, whole

_RUNS, _LAW = "Which runs", "Which law"
_CHOICE, _END, _SHOW = "How runs are chosen", "When it ends", "What is shown"

StudyName = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        show_default=False,
        help="The name of a published or synthetic study (lawsmith datasets lists them), or a "
        "table with one row per run, in any form that lawsmith fit reads.",
    ),
]
HoldOut = Annotated[
    str | None,
    option(
        _RUNS,
        "50%|largest-N|0",
        "Runs to hold out and judge by, never chosen; 0 holds out none. By default as the study's "
        "paper splits it, else the upper half of compute, for laws of N the largest N.",
    ),
]
LawName = Annotated[str, option(_LAW, "NAME", "LC, LN, LD, chinchilla, kaplan, skaling or gadre.")]
Force = Annotated[
    bool, option(_LAW, None, "Use the law even if this study cannot identify it.", "--force")
]
Policy = Annotated[
    str,
    option(
        _CHOICE,
        "frontier|window|full",
        "frontier: in turn the run that lowers the envelope most and the one that tells most "
        "about the answer, per FLOP. window, full: the paper's search of a growing window, or of "
        "the whole pool.",
    ),
]
SurrogateName = Annotated[
    str | None,
    option(_CHOICE, "NAME", "surface (default for frontier) or gp (default for window and full)."),
]
Kernel = Annotated[
    str | None,
    option(_CHOICE, "NAME", "Kernel of gp: matern (default), linear, matern+linear or grouped."),
]
Priors = Annotated[
    str | None, option(_CHOICE, "NAME", "Priors of gp: free (default), lognormal or gamma.")
]
Scale = Annotated[
    str | None,
    option(_CHOICE, "loss|log", "What is modelled: the loss (default) or its logarithm."),
]
AcquisitionName = Annotated[
    str | None, option(_CHOICE, "lcb|ei|pi", "Acquisition function; default lcb.")
]
Kappa = Annotated[
    float | None,
    option(_CHOICE, "κ", "Standard deviations below the mean in lcb; default 2.", parser=number),
]
Reach = Annotated[
    float | None,
    option(
        _CHOICE,
        "FACTOR",
        "Reach of the window beyond the compute run so far; 1 is the next level only. By default "
        "as the study's paper sets it, else 1.5.",
        parser=number,
    ),
]
SliceBy = Annotated[
    str | None,
    option(_CHOICE, "C|N|D", "What the window grows by: compute (default), N or D."),
]
NInit = Annotated[
    int | None,
    option(_CHOICE, "N", "Cheap random runs to start from: 10, or 0 for surface.", parser=whole),
]
Seed = Annotated[int, option(_CHOICE, "SEED", "Random seed.", parser=whole)]
Iterations = Annotated[
    int | None,
    option(_END, "N", "Stop after this many runs, initial ones included.", parser=whole),
]
BudgetText = Annotated[
    str | None,
    option(
        _END,
        "0.05|5%|1e21",
        "Stop before spending more than this share of the pool's compute, or these FLOPs.",
        "--budget",
    ),
]
StopWhen = Annotated[
    str | None,
    option(_END, "RULE", "Stop when the best loss is known this well: 'loss@1e25 within 1%'."),
]
TrunkDecay = Annotated[
    float | None,
    option(
        _CHOICE,
        "SHARE",
        "Price runs that differ in D alone as branches of one trunk, each with a decay of "
        "this share of its tokens, such as 0.2.",
        parser=number,
    ),
]
Out = Annotated[Path | None, option(_SHOW, "DIR", "Folder for trace.json, steps.csv and charts.")]


def replay(
    context: typer.Context,
    study: StudyName,
    columns: params.Columns = None,
    ignore: params.Ignore = None,
    where: params.Where = None,
    drop_largest_loss: params.DropLargestLoss = 0,
    diverged_above: params.DivergedAbove = None,
    skip_bad_rows: params.SkipBadRows = False,
    compute: params.Compute = "auto",
    hold_out: HoldOut = None,
    learn_from: params.LearnFrom = None,
    law: LawName = "LC",
    force: Force = False,
    policy: Policy = "frontier",
    surrogate: SurrogateName = None,
    kernel: Kernel = None,
    priors: Priors = None,
    scale: Scale = None,
    acquisition: AcquisitionName = None,
    kappa: Kappa = None,
    reach: Reach = None,
    slice_by: SliceBy = None,
    n_init: NInit = None,
    seed: Seed = 0,
    iterations: Iterations = None,
    budget: BudgetText = None,
    stop_when: StopWhen = None,
    trunk_decay: TrunkDecay = None,
    target: params.Targets = None,
    at: params.At = None,
    as_json: params.Json = False,
    out: Out = None,
    charts: params.Charts = None,
) -> None:
    """Replay a finished study as if its runs were still to be chosen.

    For example: lawsmith replay oellm-english --budget 5% --seed 0
    """
    given = dict(locals())
    from lawsmith.cli.replay_options import CHOICES  # here: --help need not wait for numpy
    from lawsmith.cli.replay_run import read_options, run_replay

    if run_replay(read_options(given, CHOICES), given).stopped == "interrupted":
        raise typer.Exit(INTERRUPTED)
