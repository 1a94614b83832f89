"""`lawsmith-paper replay STUDY`: lawsmith's replay with every rival, and the page of --explain."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import typer

from lawsmith.cli.commands import CHOICE, ReplayRequest
from lawsmith.cli.console import INTERRUPTED
from lawsmith.cli.params import SHOW, option


@dataclass(frozen=True, kw_only=True)
class RivalRequest(ReplayRequest):
    """Replay a finished study with lawsmith's methods or with a rival's.

    For example: lawsmith-paper replay oellm-english --policy window --surrogate botorch
    """

    runs = "lawsmith_paper.cli.replay:run"

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
    model_path: Path | None = option(
        CHOICE, "FILE", "TabPFN's weights; by default those in its own cache."
    )
    explain: Path | None = option(
        SHOW,
        "PAGE.html",
        "Write a page that tells the search step by step: what was known after each run, "
        "and why the next one was chosen. With --policy frontier.",
    )


def run(request: RivalRequest) -> None:
    """Replay, and write the page of --explain."""
    from lawsmith.cli.replay import run_replay, set_up
    from lawsmith_paper.cli.choices import CHOICES, further
    from lawsmith_paper.cli.explain import explain, page_file

    setup = set_up(request, CHOICES, further(request))
    page = page_file(request.explain, setup.method) if request.explain else None
    done = run_replay(setup)
    if page:
        explain(setup, done, page)
    if done.stopped == "interrupted":
        raise typer.Exit(INTERRUPTED)
