"""`lawsmith-paper replay STUDY`: lawsmith's replay with every rival, and the page of --explain."""

from __future__ import annotations

from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from lawsmith.cli.console import INTERRUPTED
from lawsmith.cli.replay import replay as own

_CHOICE, _SHOW = "How runs are chosen", "What is shown"

Policy = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="frontier, window or full, as lawsmith has them; or a rival: slice (only what the "
        "window adds), random, cheapest (first), vopt (what most lowers the variance of the "
        "linearised law).",
        rich_help_panel=_CHOICE,
    ),
]
SurrogateName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="surface (frontier's), gp (window's, full's and slice's), botorch, xgboost, tabpfn, "
        "or none: random.",
        rich_help_panel=_CHOICE,
    ),
]
ModelPath = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="TabPFN's weights; by default those in its own cache.",
        rich_help_panel=_CHOICE,
    ),
]
Explain = Annotated[
    Path | None,
    typer.Option(
        metavar="PAGE.html",
        help="Write a page that tells the search step by step: what was known after each run, "
        "and why the next one was chosen. With --policy frontier.",
        rich_help_panel=_SHOW,
    ),
]
_CHANGED = {"policy": Policy, "surrogate": SurrogateName}
_MORE = {"model_path": ModelPath, "explain": Explain}


def replay(**given: Any) -> None:
    """Replay a finished study with lawsmith's methods or with a rival's.

    For example: lawsmith-paper replay oellm-english --policy window --surrogate botorch
    """
    from lawsmith.cli.replay_run import read_options, run_replay
    from lawsmith_paper.cli.choices import CHOICES, further
    from lawsmith_paper.cli.explain import explain, page_file

    asked = read_options({**given, "further": further(given)}, CHOICES)
    page = page_file(given["explain"], asked.method) if given["explain"] else None
    done = run_replay(asked, given)
    if page:
        explain(asked, done, page)
    if done.stopped == "interrupted":
        raise typer.Exit(INTERRUPTED)


def _with_the_options_of_lawsmith() -> None:
    """Give `replay` the options of lawsmith's own, some with other words, and two more."""
    hints = get_type_hints(own, include_extras=True) | _CHANGED | _MORE
    kept = list(signature(own).parameters.values())
    more = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in _MORE]
    parameters = [p.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[p.name]) for p in kept]
    parameters += [p.replace(annotation=hints[p.name]) for p in more]
    made = signature(own).replace(parameters=parameters)
    replay.__signature__ = made  # type: ignore[attr-defined]
    replay.__annotations__ = {**{p.name: p.annotation for p in parameters}, "return": None}


_with_the_options_of_lawsmith()
