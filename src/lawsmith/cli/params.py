"""The options of `lawsmith fit` as Typer types: names, help and what a number looks like."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from lawsmith.numbers import as_float, shown

_RUNS, _LAW, _SHOW = "Which runs", "Which law, and how it is fitted", "What is shown"
_TASK = "Accuracy of a task"


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
Table = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        show_default=False,
        help=f"One row per run: {FORMS}. Or the name of a published study (lawsmith datasets "
        "lists them).",
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="N=…,D=…,loss=…",
        help="Which column is what; well-known names are found without it. N=params_m:M says that "
        "the column counts millions.",
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
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN,…",
        help="Columns that do not matter: runs that differ in nothing else are averaged. '*' for "
        "all that are neither named nor well known.",
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
LossName = Annotated[
    str | None,
    typer.Option(
        "--loss",
        metavar="COLUMN",
        help="The column of the loss, the same as --columns loss=COLUMN.",
        rich_help_panel=_RUNS,
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN,…",
        help="Several losses: a surface for each, answers side by side; may be repeated.",
        rich_help_panel=_RUNS,
    ),
]
HoldOut = Annotated[
    str | None,
    typer.Option(
        metavar="50%|largest-N",
        help="Keep runs apart to judge the law by: 50% (or 0.5) is the upper half of compute.",
        rich_help_panel=_RUNS,
    ),
]
LearnFrom = Annotated[
    list[str] | None,
    typer.Option(
        "--learn-from",
        metavar="FILE|NAME",
        help="An earlier study that this one is like: a table, a study.toml or a catalogued study; "
        "may be repeated. Its exponents, optima and noise narrow the answer.",
        rich_help_panel=_RUNS,
    ),
]
CurvesFile = Annotated[
    str | None,
    typer.Option(
        "--curves",
        metavar="SOURCE",
        help="Losses along runs: a table with run, D and loss (and lr, kind, N), or the histories "
        "of a tracker's runs. Trunks and unfinished runs count too.",
        rich_help_panel=_RUNS,
    ),
]
CurveKind = Annotated[
    str | None,
    typer.Option(
        "--curve-kind",
        metavar="trunk|scheduled",
        help="What all curves are, where their table has no column kind: trunk (no decay yet) or "
        "scheduled (towards a horizon).",
        rich_help_panel=_RUNS,
    ),
]
CurveColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--curve-columns",
        metavar="run=…,D=…,loss=…",
        help="Which column of the curves is what; well-known names are found without it.",
        rich_help_panel=_RUNS,
    ),
]
LawName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="LC, LN, LD, chinchilla, kaplan, skaling or gadre, or one of your own, FILE.py:NAME; "
        "the study's own by default.",
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
        help="huber, least-squares, least-squares-log, mae, or one-sided (runs above the law count "
        "a tenth: for sizes tuned less); by default what the law's authors use.",
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
        help="Random seed.",
        rich_help_panel=_LAW,
    ),
]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        metavar="1e25",
        help="Predict the best loss at a compute in FLOPs; may be repeated. By default half a "
        "decade or more above the largest run.",
        rich_help_panel=_SHOW,
    ),
]
At = Annotated[
    list[str] | None,
    typer.Option(
        "--at",
        metavar="N=7B,D=140B",
        help="Predict the loss at an N and a D, best over hyperparameters, or at those given too "
        "(N=7B,D=140B,lr=3e-4); may be repeated.",
        rich_help_panel=_SHOW,
    ),
]
InferenceTokens = Annotated[
    str | None,
    typer.Option(
        metavar="1T",
        help="Tokens to be served: at each --target, the N and D with the same loss that make "
        "training and serving cheapest.",
        rich_help_panel=_SHOW,
    ),
]
NextRuns = Annotated[
    int,
    typer.Option(
        "--next",
        metavar="K",
        min=0,
        help="The K runs that would narrow the interval at each target most for a FLOP, and by how "
        "much.",
        rich_help_panel=_SHOW,
    ),
]
CriticalBatch = Annotated[
    bool,
    typer.Option(
        "--critical-batch",
        help="The largest batch that costs at most 20% more tokens for the same loss, at each "
        "target; of runs that vary the batch.",
        rich_help_panel=_SHOW,
    ),
]
OtherN = Annotated[
    str | None,
    typer.Option(
        metavar="EXPRESSION",
        help="N counted in another way, of columns of the table: the answer says how far it moves. "
        "For example: --other-n 'N + vocab * width'.",
        rich_help_panel=_SHOW,
    ),
]
Metric = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Predict the accuracy of a task, a fraction from 0 to 1; may be repeated, and then "
        "their average is predicted too.",
        rich_help_panel=_TASK,
    ),
]
Via = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The loss by way of which accuracy is predicted; without it, from scale alone.",
        rich_help_panel=_TASK,
    ),
]
Chance = Annotated[
    list[str] | None,
    typer.Option(
        metavar="0.25",
        help="The accuracy of guessing, once or for each --metric; estimated by default.",
        rich_help_panel=_TASK,
    ),
]
Questions = Annotated[
    list[str] | None,
    typer.Option(
        metavar="INT",
        help="How many questions the task has, once or for each --metric.",
        rich_help_panel=_TASK,
    ),
]
Level = Annotated[
    float,
    typer.Option(
        parser=number, metavar="0.95", help="Confidence level of intervals.", rich_help_panel=_SHOW
    ),
]
Compare = Annotated[
    bool,
    typer.Option(
        "--compare",
        help="Compare every law with the answer, on held-out compute.",
        rich_help_panel=_SHOW,
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", help="One JSON object instead of tables.", rich_help_panel=_SHOW),
]
Charts = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Write charts there, as HTML and PNG.", rich_help_panel=_SHOW),
]
