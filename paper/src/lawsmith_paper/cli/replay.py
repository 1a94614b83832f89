"""`lawsmith-paper replay STUDY`: lawsmith's replay with every rival, and the page of --explain."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import typer

from lawsmith.cli.console import INTERRUPTED
from lawsmith.cli.params import SHOW, number, option, takes
from lawsmith.cli.replay import CHOICE, ReplayRequest


@dataclass(frozen=True, kw_only=True)
class RivalRequest(ReplayRequest):
    """What `lawsmith-paper replay` is asked: lawsmith's own with more to choose from."""

    policy: str = option(
        CHOICE,
        "NAME",
        "frontier, window or full, as lawsmith has them; or a rival: slice (only what the "
        "window adds), random, cheapest (first), vopt (what most lowers the variance of the "
        "linearised law).",
        default="frontier",
    )
    surrogate: str | None = option(
        CHOICE,
        "NAME",
        "surface (frontier's), gp (window's, full's and slice's), botorch, xgboost, tabpfn, "
        "or none: random.",
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
    model_path: Path | None = option(
        CHOICE, "FILE", "TabPFN's weights; by default those in its own cache."
    )
    explain: Path | None = option(
        SHOW,
        "PAGE.html",
        "Write a page that tells the search step by step: what was known after each run, "
        "and why the next one was chosen. With --policy frontier.",
    )


@takes(RivalRequest)
def replay(asked: RivalRequest) -> None:
    """Replay a finished study with lawsmith's methods or with a rival's.

    For example: lawsmith-paper replay oellm-english --policy window --surrogate botorch
    """
    from lawsmith.cli.replay_run import run_replay, set_up
    from lawsmith_paper.cli.choices import CHOICES, method
    from lawsmith_paper.cli.explain import explain, page_file

    setup = set_up(asked, method(asked), CHOICES)
    page = page_file(asked.explain, setup.method) if asked.explain else None
    done = run_replay(setup)
    if page:
        explain(setup, done, page)
    if done.stopped == "interrupted":
        raise typer.Exit(INTERRUPTED)
