"""The options that commands share as Typer types: names, help and what a number looks like."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from lawsmith.numbers import as_float, shown

_RUNS, _LAW, _SHOW = "Which runs", "Which law, and how it is fitted", "What is shown"
_TASK = "Accuracy of a task"
Texts = list[str] | None


def number(text: str) -> float:
    """A finite number."""
    value = as_float(text)
    if value is None or not math.isfinite(value):
        raise typer.BadParameter(f"got {text!r}, want a number")
    return value


def whole(text: str) -> int:
    """A whole number from 0."""
    word = str(text).strip()
    if not (word.isascii() and word.isdecimal() and len(word) <= 18):
        raise typer.BadParameter(f"got {shown(text)}, want a whole number from 0")
    return int(word)


FORMS = (
    "a CSV, Excel, Parquet or JSON file; W&B runs (a folder of offline runs, or "
    "wandb:ENTITY/PROJECT); an MLflow store or server (mlruns/, mlflow.db, http://…); a folder of "
    "TensorBoard event files; an Optuna or NePS study"
)


def option(
    panel: str,
    metavar: str | None,
    text: str,
    *names: str,
    parser: Callable[[str], Any] | None = None,
) -> Any:
    """An option in a panel of the help; its name is the parameter's if none is given."""
    return typer.Option(*names, parser=parser, metavar=metavar, help=text, rich_help_panel=panel)


Table = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        show_default=False,
        help=f"One row per run: {FORMS}. Or a published study by name (see lawsmith datasets).",
    ),
]
Columns = Annotated[
    Texts,
    option(
        _RUNS,
        "N=…,D=…,loss=…",
        "Which column is what; well-known names are found without it. N=params_m:M says that "
        "the column counts millions.",
    ),
]
Where = Annotated[
    str | None, option(_RUNS, "EXPR", "Keep only rows for which this holds: \"opt == 'adamw'\".")
]
Ignore = Annotated[
    Texts,
    option(
        _RUNS,
        "COLUMN,…",
        "Columns that do not matter: runs that differ in nothing else are averaged. '*': all "
        "that are neither named nor well known.",
    ),
]
DropLargestLoss = Annotated[
    int, option(_RUNS, "K", "Drop the K runs with the largest loss.", parser=whole)
]
DivergedAbove = Annotated[
    float | None,
    option(_RUNS, "LOSS", "Treat runs above this loss as diverged, like NaN.", parser=number),
]
SkipBadRows = Annotated[
    bool, option(_RUNS, None, "Skip rows with a bad cell instead of stopping.", "--skip-bad-rows")
]
Compute = Annotated[
    str,
    option(_RUNS, "6ND|COLUMN", "How compute is counted; auto: the table's own column, else 6ND."),
]
LossName = Annotated[
    str | None, option(_RUNS, "COLUMN", "Loss column; the same as --columns loss=COLUMN.", "--loss")
]
Metrics = Annotated[
    Texts, option(_RUNS, "COLUMN,…", "Several loss columns: an answer for each, side by side.")
]
HoldOut = Annotated[
    str | None,
    option(_RUNS, "50%|largest-N", "Runs to judge the law by; 50%: the upper half of compute."),
]
LearnFrom = Annotated[
    Texts,
    option(
        _RUNS,
        "FILE|NAME",
        "A similar earlier study: a table, a study.toml or a published study; may be repeated. "
        "Its exponents, optima and noise narrow the answer.",
        "--learn-from",
    ),
]
CurvesFile = Annotated[
    str | None,
    option(
        _RUNS,
        "SOURCE",
        "Losses along runs: a table with run, D and loss (and lr, kind, N), or the histories "
        "of a tracker's runs. Trunks and unfinished runs count too.",
        "--curves",
    ),
]
CurveKind = Annotated[
    str | None,
    option(
        _RUNS,
        "trunk|scheduled",
        "Kind of all curves if their table has no column kind: trunk (no decay yet) or "
        "scheduled (towards a horizon).",
        "--curve-kind",
    ),
]
CurveColumns = Annotated[
    Texts,
    option(_RUNS, "run=…,D=…,loss=…", "Which column of the curves is what.", "--curve-columns"),
]
LawName = Annotated[
    str | None,
    option(
        _LAW,
        "NAME",
        "LC, LN, LD, chinchilla, kaplan, skaling or gadre, or one of your own, FILE.py:NAME; "
        "the study's own by default.",
    ),
]
Fix = Annotated[Texts, option(_LAW, "E=1.69", "Fix a parameter at a value; may be repeated.")]
PriorText = Annotated[
    Texts,
    option(_LAW, "E=1.69±0.05", "Prior of a parameter: value ± SD; may be repeated.", "--prior"),
]
ObjectiveName = Annotated[
    str | None,
    option(
        _LAW,
        "NAME",
        "huber, least-squares, least-squares-log, mae, or one-sided (runs above the law count "
        "a tenth: for sizes tuned less); by default what the law's authors use.",
    ),
]
Delta = Annotated[float | None, option(_LAW, "δ", "Huber's δ, by default 1e-3.", parser=number)]
Force = Annotated[
    bool, option(_LAW, None, "Fit the law even if these runs cannot identify it.", "--force")
]
Seed = Annotated[int, option(_LAW, "SEED", "Random seed.", parser=whole)]
Targets = Annotated[
    Texts,
    option(
        _SHOW,
        "1e25",
        "Predict the best loss at a compute in FLOPs; may be repeated. By default half a "
        "decade or more above the largest run.",
        "--target",
    ),
]
At = Annotated[
    Texts,
    option(
        _SHOW,
        "N=7B,D=140B",
        "Predict the loss at an N and a D, best over hyperparameters, or at those given too "
        "(N=7B,D=140B,lr=3e-4); may be repeated.",
        "--at",
    ),
]
InferenceTokens = Annotated[
    str | None,
    option(
        _SHOW,
        "1T",
        "Tokens to be served: at each --target, the N and D with the same loss that make "
        "training and serving cheapest.",
    ),
]
NextRuns = Annotated[
    int,
    typer.Option(
        "--next",
        metavar="K",
        min=0,
        help="The K runs that narrow the interval at each target most per FLOP.",
        rich_help_panel=_SHOW,
    ),
]
CriticalBatch = Annotated[
    bool,
    option(
        _SHOW,
        None,
        "The largest batch that needs at most 20% more tokens for the same loss, at each target.",
        "--critical-batch",
    ),
]
OtherN = Annotated[
    str | None,
    option(_SHOW, "EXPR", "How far the answer moves if N is counted so: 'N + vocab * width'."),
]
Metric = Annotated[
    Texts,
    option(
        _TASK,
        "COLUMN",
        "Predict the accuracy of a task, a fraction from 0 to 1; may be repeated, and then "
        "their average is predicted too.",
    ),
]
Via = Annotated[
    str | None,
    option(_TASK, "COLUMN", "Loss column to predict accuracy from; without it, from scale alone."),
]
Chance = Annotated[
    Texts,
    option(_TASK, "0.25", "Accuracy of guessing, once or for each --metric; estimated by default."),
]
Questions = Annotated[
    Texts, option(_TASK, "INT", "Number of questions of the task, once or for each --metric.")
]
Level = Annotated[float, option(_SHOW, "0.95", "Confidence level of intervals.", parser=number)]
Compare = Annotated[
    bool,
    option(_SHOW, None, "Compare every law with the answer, on held-out compute.", "--compare"),
]
Json = Annotated[bool, option(_SHOW, None, "Print one JSON object instead of tables.", "--json")]
Charts = Annotated[Path | None, option(_SHOW, "DIR", "Folder for charts, as HTML and PNG.")]
