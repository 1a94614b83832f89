"""Options as fields of dataclasses: a command takes one, and its fields are what can be typed.

So an option is declared once, with its help, its default and its reader. Nothing heavy is imported
before an option is read, so that `--help` answers at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from importlib import import_module
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer

from lawsmith.numbers import as_float, shown

if TYPE_CHECKING:
    from lawsmith.grid import HeldOut
    from lawsmith.laws.law import Law
else:
    HeldOut = Law = Any  # Typer looks at the types when --help is asked for

RUNS, LAW, SHOW = "Which runs", "Which law, and how it is fitted", "What is shown"
TASK = "Accuracy of a task"
LAST = (SHOW, TASK)
FORMS = (
    "a CSV, Excel, Parquet or JSON file; W&B runs (a folder of offline runs, or "
    "wandb:ENTITY/PROJECT); an MLflow store or server (mlruns/, mlflow.db, http://…); a folder of "
    "TensorBoard event files; an Optuna or NePS study"
)
Texts = list[str] | None
Reader = Callable[[str], Any]
R = TypeVar("R", bound="Request")


def number(text: str | float) -> float:
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


def reader(name: str, module: str = "lawsmith.cli.options") -> Reader:
    """A function of a module that is imported when there is something to read."""

    def read(text: str) -> Any:
        return getattr(import_module(module), name)(text)

    return read


def option(
    panel: str | None, metavar: str | None, text: str, *names: str, default: Any = None, **more: Any
) -> Any:
    """An option in a panel of the help; its name is the field's if none is given."""
    made = typer.Option(*names, metavar=metavar, help=text, rich_help_panel=panel, **more)
    return field(default=default, metadata={"typer": made})


def flag(panel: str | None, name: str, text: str) -> Any:
    """An option without a value."""
    return option(panel, None, text, name, default=False)


def argument(metavar: str, text: str, default: Any = MISSING) -> Any:
    """What is typed without a name."""
    made = typer.Argument(metavar=metavar, show_default=False, help=text)
    return field(default=default, metadata={"typer": made})


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a command was asked for.

    words   the command line as typed, from the name of the command on
    """

    words: tuple[str, ...] = ()

    @property
    def targets(self) -> tuple[tuple[str, str], ...]:
        """--target and --at with their texts, in the order they were typed."""
        return target_texts(self.words)

    @property
    def command(self) -> str:
        """The command line as typed."""
        import shlex

        return shlex.join(["lawsmith", *self.words])


def target_texts(words: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """--target and --at of a command line with their texts, in the order they were given."""
    found = []
    for i, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in ("--target", "--at"):
            found.append((name, value if equals else words[i + 1] if i + 1 < len(words) else ""))
    return tuple(found)


def takes(request: type[R]) -> Callable[[Callable[[R], None]], Callable[..., None]]:
    """Make a command of a function of a request: its options are the request's fields."""

    def made(function: Callable[[R], None]) -> Callable[..., None]:
        def command(typed: typer.Context, **given: Any) -> None:
            function(request(words=tuple(typed.obj or ()), **given))

        hints = get_type_hints(request)
        declared = [one for one in fields(request) if "typer" in one.metadata]
        # What is shown comes last in the help, whichever class it is a field of.
        declared.sort(key=lambda one: one.metadata["typer"].rich_help_panel in LAST)
        parameters = [Parameter("typed", Parameter.KEYWORD_ONLY, annotation=typer.Context)]
        parameters += [_parameter(one, hints[one.name]) for one in declared]
        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        return command

    return made


def _parameter(declared: Field[Any], hint: Any) -> Parameter:
    """A field of a request as Typer wants it."""
    default = Parameter.empty if declared.default is MISSING else declared.default
    kind: Any = Annotated[hint, declared.metadata["typer"]]
    return Parameter(declared.name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


@dataclass(frozen=True, kw_only=True)
class TableRequest(Request):
    """How a table of runs is read."""

    columns: Texts = option(
        RUNS,
        "N=…,D=…,loss=…",
        "Which column is what; well-known names are found without it. N=params_m:M says that "
        "the column counts millions.",
    )
    ignore: Texts = option(
        RUNS,
        "COLUMN,…",
        "Columns that do not matter: runs that differ in nothing else are averaged. '*': all "
        "that are neither named nor well known.",
    )
    where: str | None = option(
        RUNS, "EXPR", "Keep only rows for which this holds: \"opt == 'adamw'\"."
    )
    skip_bad_rows: bool = flag(
        RUNS, "--skip-bad-rows", "Skip rows with a bad cell instead of stopping."
    )


@dataclass(frozen=True, kw_only=True)
class StudyRequest(TableRequest):
    """Which runs of a table count, and how their compute is counted."""

    drop_largest_loss: int = option(
        RUNS, "K", "Drop the K runs with the largest loss.", default=0, parser=whole
    )
    diverged_above: float | None = option(
        RUNS, "LOSS", "Treat runs above this loss as diverged, like NaN.", parser=number
    )
    compute: str = option(
        RUNS,
        "6ND|COLUMN",
        "How compute is counted; auto: the table's own column, else 6ND.",
        default="auto",
    )
    target: Texts = option(
        SHOW,
        "1e25",
        "Predict the best loss at a compute in FLOPs; may be repeated. By default half a "
        "decade or more above the largest run.",
        "--target",
    )
    at: Texts = option(
        SHOW,
        "N=7B,D=140B",
        "Predict the loss at an N and a D, best over hyperparameters, or at those given too "
        "(N=7B,D=140B,lr=3e-4); may be repeated.",
        "--at",
    )


@dataclass(frozen=True, kw_only=True)
class AnswerRequest(StudyRequest):
    """What `fit` and `report` are both asked."""

    hold_out: HeldOut | None = option(
        RUNS,
        "50%|largest-N",
        "Runs to judge the law by; 50%: the upper half of compute.",
        parser=reader("hold_out"),
    )
    curves: str | None = option(
        RUNS,
        "SOURCE",
        "Losses along runs: a table with run, D and loss (and lr, kind, N), or the histories "
        "of a tracker's runs. Trunks and unfinished runs count too.",
        "--curves",
    )
    curve_kind: str | None = option(
        RUNS,
        "trunk|scheduled",
        "Kind of all curves if their table has no column kind: trunk (no decay yet) or "
        "scheduled (towards a horizon).",
    )
    curve_columns: Texts = option(RUNS, "run=…,D=…,loss=…", "Which column of the curves is what.")
    law: Law | None = option(
        LAW,
        "NAME",
        "LC, LN, LD, chinchilla, kaplan, skaling or gadre, or one of your own, FILE.py:NAME; "
        "the study's own by default.",
        parser=reader("read_law"),
    )
    force: bool = flag(LAW, "--force", "Fit the law even if these runs cannot identify it.")
    seed: int = option(LAW, "SEED", "Random seed.", default=0, parser=whole)
    metric: Texts = option(
        TASK,
        "COLUMN",
        "Predict the accuracy of a task, a fraction from 0 to 1; may be repeated, and then "
        "their average is predicted too.",
    )
    via: str | None = option(
        TASK, "COLUMN", "Loss column to predict accuracy from; without it, from scale alone."
    )
    chance: Texts = option(
        TASK, "0.25", "Accuracy of guessing, once or for each --metric; estimated by default."
    )
    questions: Texts = option(
        TASK, "INT", "Number of questions of the task, once or for each --metric."
    )
    level: float = option(
        SHOW, "0.95", "Confidence level of intervals.", default=0.95, parser=reader("level")
    )


@dataclass(frozen=True, kw_only=True)
class ShownRequest(Request):
    """What `fit` and `replay` are both asked: what to learn from, and where results go."""

    learn_from: Texts = option(
        RUNS,
        "FILE|NAME",
        "A similar earlier study: a table, a study.toml or a published study; may be repeated. "
        "Its exponents, optima and noise narrow the answer.",
        "--learn-from",
    )
    as_json: bool = flag(SHOW, "--json", "Print one JSON object instead of tables.")
    charts: Path | None = option(SHOW, "DIR", "Folder for charts, as HTML and PNG.")


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
