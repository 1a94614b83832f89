"""The options of `lawsmith fit` as Typer types: names, help and what a number looks like."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

_RUNS, _LAW, _SHOW = "Which runs", "Which law, and how it is fitted", "What is shown"


def number(text: str) -> float:
    """A finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise typer.BadParameter(f"got {text!r}, want a number")
    return value


def whole(text: str) -> int:
    """A whole number from 0."""
    word = str(text).strip()
    if not (word.isascii() and word.isdecimal()):
        raise typer.BadParameter(f"got {text!r}, want a whole number from 0")
    return int(word)


Table = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        show_default=False,
        help="A CSV, Parquet or JSON-lines file with one row per run, or the name of a published "
        "study (lawsmith datasets lists them).",
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="N=…,D=…,loss=…",
        help="Which column is what; well-known names are found without it.",
        rich_help_panel=_RUNS,
    ),
]
Where = Annotated[
    str | None,
    typer.Option(
        metavar="EXPR",
        help="Keep the rows for which this holds: \"optimizer == 'adamw'\".",
        rich_help_panel=_RUNS,
    ),
]
DropLargestLoss = Annotated[
    int,
    typer.Option(
        parser=whole,
        metavar="K",
        help="Leave out the K runs of largest loss.",
        rich_help_panel=_RUNS,
    ),
]
DivergedAbove = Annotated[
    float | None,
    typer.Option(
        parser=number,
        metavar="LOSS",
        help="A run above this loss has diverged, as one with NaN has.",
        rich_help_panel=_RUNS,
    ),
]
SkipBadRows = Annotated[
    bool,
    typer.Option(
        "--skip-bad-rows",
        help="Leave out rows with a bad cell instead of stopping.",
        rich_help_panel=_RUNS,
    ),
]
Compute = Annotated[
    str,
    typer.Option(
        metavar="6ND|COLUMN",
        help="How C is counted; auto: by the table's own compute, else as 6ND.",
        rich_help_panel=_RUNS,
    ),
]
HoldOut = Annotated[
    str | None,
    typer.Option(
        metavar="0.5|largest-N",
        help="Keep runs apart to judge the law by: 0.5 is the upper half of compute.",
        rich_help_panel=_RUNS,
    ),
]
LawName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="LC, LN, LD, chinchilla, kaplan, skaling or gadre; the study's own by default.",
        rich_help_panel=_LAW,
    ),
]
Fix = Annotated[
    list[str] | None,
    typer.Option(metavar="E=1.69", help="Pin a parameter; may be repeated.", rich_help_panel=_LAW),
]
PriorText = Annotated[
    list[str] | None,
    typer.Option(
        "--prior",
        metavar="E=1.69±0.05",
        help="Pull a parameter: value ± SD (or value:SD); may be repeated.",
        rich_help_panel=_LAW,
    ),
]
ObjectiveName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="huber, least-squares, least-squares-log or mae; by default what the law's authors "
        "use.",
        rich_help_panel=_LAW,
    ),
]
Delta = Annotated[
    float | None,
    typer.Option(
        parser=number, metavar="δ", help="Huber's δ, by default 1e-3.", rich_help_panel=_LAW
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force", help="Fit a law that these runs cannot identify.", rich_help_panel=_LAW
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        parser=whole,
        metavar="SEED",
        help="Of the draws behind the intervals.",
        rich_help_panel=_LAW,
    ),
]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        metavar="1e25|7e9,1.4e11",
        help="Predict the loss at a compute, or at N,D; may be repeated.",
        rich_help_panel=_SHOW,
    ),
]
Level = Annotated[
    float,
    typer.Option(parser=number, metavar="0.95", help="Of the intervals.", rich_help_panel=_SHOW),
]
Compare = Annotated[
    bool,
    typer.Option("--compare", help="Judge every law on held-out compute.", rich_help_panel=_SHOW),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="One JSON object instead of tables.", rich_help_panel=_SHOW),
]
Charts = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Write charts there, as HTML and PNG.", rich_help_panel=_SHOW),
]
