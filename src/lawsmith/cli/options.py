"""Parse the text of options, and read the tables that they name.

Each function raises a one-line error that names the option.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lawsmith.analysis import FitOptions, with_curves
from lawsmith.answer import Target
from lawsmith.cli.commands import AnswerRequest, StudyRequest, TableRequest
from lawsmith.cli.console import downloads
from lawsmith.curves import Along
from lawsmith.datasets import ENTRIES, CurveOptions, Entry, ReadOptions, Study, load, load_curves
from lawsmith.errors import LawsmithError, unknown
from lawsmith.formats import parse_number, symbol
from lawsmith.laws.catalogue import get_law
from lawsmith.laws.law import Law
from lawsmith.laws.objective import Objective, get_objective, huber
from lawsmith.numbers import as_float
from lawsmith.plausible import SCALE, SETTING
from lawsmith.tasks import Task

_PARTS = re.compile(r",(?!\d{3}(?:\D|$))")  # not between the digits of 1,300,000


def reading(request: TableRequest) -> ReadOptions:
    """How to read a table of runs."""
    named = columns(request.columns or ())
    options = ReadOptions(
        columns=with_loss(named, getattr(request, "loss", None), "--loss"),
        ignore=tuple(names(request.ignore, "--ignore")) if request.ignore else (),
        where=request.where,
        skip_bad_rows=request.skip_bad_rows,
    )
    if not isinstance(request, StudyRequest):
        return options
    return replace(
        options,
        drop_largest_loss=request.drop_largest_loss,
        diverged_above=math.inf if request.diverged_above is None else request.diverged_above,
        compute=request.compute,
    )


def load_study(source: str, reading: ReadOptions, entries: Mapping[str, Entry] = ENTRIES) -> Study:
    """The runs of a table or of a published study; a download shows its progress."""
    with downloads() as progress:
        return load(source, reading, progress=progress, entries=entries)


def read_runs(
    request: AnswerRequest, table: str, reading: ReadOptions
) -> tuple[Study, Along | None, tuple[Target, ...]]:
    """The runs, their curves, and the targets, checked against the names in the table."""
    targets(request.targets)  # bad text is reported before a table is read
    curve_reading = curve_options(request)
    study = load_study(table, reading)
    curves, along = study.curves, None
    if request.curves is not None and curve_reading is not None:
        curves = load_curves(request.curves, replace(curve_reading, carry=tuple(study.grid.hp)))
    if curves is not None:
        joined, along = with_curves(study, curves)
        study = replace(joined, notes=(*joined.notes, *along.notes))
    return study, along, targets(request.targets, list(study.grid.hp))


def law_options(study: Study, request: AnswerRequest, targets: Sequence[Target]) -> FitOptions:
    """How a law is fitted to a study; by default the law is the study's usual one.

    A law knows no hyperparameters but its own inputs.
    """
    law = law_for(study, request.law)
    return FitOptions(
        law=law,
        hold_out=request.hold_out,
        targets=tuple(target for target in targets if set(target.hp) <= set(law.inputs)),
        level=request.level,
        force=request.force,
        seed=request.seed,
    )


def columns(texts: Iterable[str]) -> dict[str, str]:
    """'N=params,D=tokens' → {'N': 'params', 'D': 'tokens'}; repeated options add to it."""
    return pairs(texts, "--columns", "NAME=COLUMN such as N=params,D=tokens,loss=val_loss")


def with_loss(columns: Mapping[str, str], loss: str | None, option: str) -> dict[str, str]:
    """The columns, with the loss column that an option names."""
    if loss is None:
        return dict(columns)
    if columns.get("loss", loss) != loss:
        got = f"{loss!r}, and {columns['loss']!r} is the loss already"
        raise LawsmithError(option, got=got, want="one loss")
    return {**columns, "loss": loss}


def with_tasks(reading: ReadOptions, tasks: Sequence[Task], via: str | None) -> ReadOptions:
    """Read the columns of the tasks too, and that of --via as the loss."""
    columns = with_loss(reading.columns, via, "--via")
    return replace(reading, columns=columns, metrics=tuple(task.name for task in tasks))


def names(texts: Iterable[str], option: str) -> list[str]:
    """'a,b' and 'c' → ['a', 'b', 'c']."""
    listed = [name.strip() for text in texts for name in text.split(",")]
    if not all(listed) or len(set(listed)) < len(listed):
        raise LawsmithError(option, got=repr(",".join(listed)), want="distinct names of columns")
    return listed


def tasks(request: AnswerRequest) -> tuple[Task, ...]:
    """--metric with --chance and --questions, each once or as often as --metric."""
    metrics = request.metric or ()
    if len(set(metrics)) < len(metrics):
        raise LawsmithError("--metric", got="a column twice", want="distinct columns")
    given = {"--chance": request.chance, "--questions": request.questions, "--via": request.via}
    for option, value in given.items():
        if value and not metrics:
            raise LawsmithError(option, got="no --metric", want="--metric COLUMN as well")
    chances: list[float | None] = [*map(_chance, request.chance or ())] or [None]
    counts = [_questions(text) for text in request.questions or ()] or [0]
    for option, n in (("--chance", len(chances)), ("--questions", len(counts))):
        if n not in (1, len(metrics)):
            got, want = f"{n} for {len(metrics)} metrics", "one, or one for each --metric"
            raise LawsmithError(option, got=got, want=want)
    return tuple(
        Task(name, chances[i % len(chances)], counts[i % len(counts)])
        for i, name in enumerate(metrics)
    )


def tokens(text: str) -> float:
    """A number of tokens: '1T', '3e11'."""
    return _number(text, "tokens", "a number of tokens such as 1T", lambda x: 0.0 < x < math.inf)


def _number(text: str, option: str, want: str, holds: Callable[[float], bool]) -> float:
    """The number in the text of an option; an error if it does not hold."""
    value = parse_number(text)
    if not holds(value):
        raise LawsmithError(option, got=repr(text), want=want)
    return value


def _chance(text: str) -> float:
    want = "from 0 to below 1, such as 0.25"
    return _number(text, "--chance", want, lambda x: 0.0 <= x < 1.0)


def _questions(text: str) -> int:
    want = "a whole number above 0"
    return int(_number(text, "--questions", want, lambda x: 1.0 <= x < 1e12 and x == int(x)))


def curve_options(request: AnswerRequest) -> CurveOptions | None:
    """How to read --curves; None without it."""
    kind, texts = request.curve_kind, request.curve_columns or ()
    columns = pairs(texts, "--curve-columns", "NAME=COLUMN such as run=name,D=tokens")
    if request.curves is None:
        for option, value in (("--curve-kind", kind), ("--curve-columns", columns)):
            if value:
                raise LawsmithError(option, got="no curves", want="--curves FILE beside it")
        return None
    return CurveOptions(columns=columns, kind=kind, skip_bad_rows=request.skip_bad_rows)


def fixed(texts: Iterable[str], law: Law) -> dict[str, float]:
    """'E=1.69' → {'E': 1.69}, for parameters of ``law``, α or alpha."""
    given = pairs(texts, "--fix", "PARAMETER=VALUE such as E=1.69")
    names = {symbol(param.name): param.name for param in law.params}
    values = {}
    for name, text in ((names.get(name, name), text) for name, text in given.items()):
        param, option = law.params[law.position(name)], f"--fix {name}"
        value = _number(text, option, "a number such as 1.69", lambda x: bool(SETTING.contains(x)))
        if param.positive and not value > 0:
            raise LawsmithError(option, got=f"{value:g}", want="a number above 0")
        values[name] = value
    return values


def targets(given: Sequence[tuple[str, str]], known: Collection[str] = ()) -> tuple[Target, ...]:
    """Options and their texts, in order: ('--target', '1e25'), ('--at', 'N=7B,D=140B,lr=3e-4').

    known   names of hyperparameters that --at may give
    """
    return tuple(
        _compute(text) if option == "--target" else _at(text, known) for option, text in given
    )


def compute_rule(study: Study) -> str | None:
    """How C is counted: 'column', '6ND', or None if the table has no compute."""
    if "C" in study.grid.names:
        return "column"
    return "6ND" if study.has_compute else None


def law_for(study: Study, law: Law | None) -> Law:
    """The law, by default the study's usual one; the study must have its inputs."""
    chosen = law or get_law(law_of(study))
    check_inputs(study, chosen)
    return chosen


def law_of(study: Study) -> str:
    """The name of the law that a study is fitted with by default."""
    if study.default_law is None:
        inputs = ", ".join(axis.name for axis in study.grid.axes)
        got = f"inputs {inputs}, for which there is no usual law"
        hint = "other laws can be defined in Python"
        raise LawsmithError(study.name, got=got, want="a law named by --law", hint=hint)
    if compute_rule(study) is None:
        # A table with N or D alone more often has a misnamed column than needs a law of one input.
        has, lacks = ("N", "D") if "N" in study.grid.names else ("D", "N")
        got = f"a column for {has}, none for {lacks} or for the compute C"
        hint = f"say which: --columns {lacks}=NAME; or --law {study.default_law} for a law of {has}"
        raise LawsmithError(study.name, got=got, want="N and D, or C", hint=hint)
    return study.default_law


def check_inputs(study: Study, law: Law) -> None:
    """Refuse a law whose inputs are neither columns of the study nor its compute."""
    known = [*study.grid.names, *(["C"] if compute_rule(study) else [])]
    missing = [name for name in law.inputs if name not in known]
    if missing:
        got = f"columns {', '.join(study.grid.names)}"
        want = f"{' and '.join(law.inputs)} for {law.name}"
        hint = f"say which: --columns {','.join(f'{name}=NAME' for name in missing)}"
        raise LawsmithError(study.name, got=got, want=want, hint=hint)


def objective(name: str | None, delta: float | None, law: Law) -> Objective | None:
    """The objective of that name; None for the one each law's authors use. Only Huber has a δ."""
    named = get_objective(name) if name else None
    if delta is None:
        return named
    chosen = named or law.objective
    if chosen.name != "huber":
        got = f"{delta:g} with {chosen.name}"
        hint = "add --objective huber" if name is None else None
        raise LawsmithError("--delta", got=got, want="--objective huber", hint=hint)
    if not 0 < delta < math.inf:
        raise LawsmithError("--delta", got=f"{delta:g}", want="a number above 0")
    return huber(delta)


def level(text: str | float) -> float:
    """A confidence level."""
    value = as_float(text)
    if value is None or not 0 < value < 1:
        raise LawsmithError("level", got=text, want="a number between 0 and 1, such as 0.95")
    return value


def folder(path: Path, option: str) -> Path:
    """A folder that can be written, made if needed; called before the work, not after."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        got = f"{path}: {error.strerror or error}"
        raise LawsmithError(option, got=got, want="a folder that can be written") from None
    return path


def _compute(text: str) -> Target:
    value = parse_number(text)
    if SCALE.contains(value) and text.strip()[-1:].upper() not in "KMBTG":
        return Target(value)
    hint = "for an N and a D: --at N=7B,D=140B"
    raise LawsmithError("--target", got=repr(text), want="a compute such as 1e25", hint=hint)


def _at(text: str, known: Collection[str]) -> Target:
    want = "N and D such as N=7B,D=140B, or a compute C=1e23, perhaps with lr=3e-4 and the like"
    given = pairs([text], "--at", want)
    scales = ("N", "D") if "N" in given or "D" in given else ("C",)
    sizes = {name: parse_number(given.pop(name)) for name in scales if name in given}
    if not sizes or not SCALE.contains(list(sizes.values())).all():
        raise LawsmithError("--at", got=repr(text), want=want)
    for name in given:
        if known and name not in known:
            raise unknown("--at", name, ["N", "D", "C", *known])
    numbers = {name: parse_number(value) for name, value in given.items()}
    hp = {name: given[name] if math.isnan(x) else x for name, x in numbers.items()}
    C = 6.0 * sizes["N"] * sizes["D"] if len(sizes) == 2 else sizes.get("C", math.nan)
    return Target(C, sizes.get("N"), sizes.get("D"), hp)


def pairs(texts: Iterable[str], option: str, want: str) -> dict[str, str]:
    """'a=1,b=2' and 'c=3' → {'a': '1', 'b': '2', 'c': '3'}, of any option."""
    values: dict[str, str] = {}
    for part in (part for text in texts for part in _PARTS.split(text)):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals and value):
            raise LawsmithError(option, got=repr(part), want=want)
        if name in values:
            raise LawsmithError(option, got=f"{name} twice", want="each name once")
        values[name] = value
    return values
