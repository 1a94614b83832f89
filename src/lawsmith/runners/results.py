"""The result of a run, read from its folder: its loss, or why there is none.

It is read in the same way for every runner. A result is a JSON file renamed into place
($LAWSMITH_RESULT), the last match of a regular expression in the log, or the last row of a CSV. A
result file is final as soon as it exists. A log or a CSV is read only after the run has completed,
because its last loss before that is not the final one. Nothing that is read is ever executed.

Lines of the progress file are JSON objects; keys may share a line:
    {"tokens": 1e9, "loss": 2.9}                  a loss during training
    {"tokens": 1e9, "loss": 2.7, "final": true}   the end of a decay during training: a result
    {"saved": 1e9}                                a checkpoint after so many tokens
    {"resumed": 1e9}                              the run now continues from such a checkpoint
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from lawsmith.files import read_bytes, read_tail
from lawsmith.numbers import as_float, read_json, short_repr
from lawsmith.plausible import LOSS, SCALE
from lawsmith.spec.models import ResultsSpec

MAX_BYTES = 16 * 2**20  # of a result file, and of progress read in one call
MAX_METRICS = 1000  # of a result: the journal keeps each of them
TAIL_BYTES = 4 * 2**20  # of a log, which has the loss at its end
RESULT, PROGRESS, CONFIG, LOG = "result.json", "progress.jsonl", "config.json", "log.txt"
Value = float | int | str


class ResultKind(StrEnum):
    """What the folder of a run holds."""

    LOSS = "loss"
    DIVERGED = "diverged"
    NOTHING = "nothing"
    UNREADABLE = "unreadable"
    CONTRADICTION = "contradiction"


@dataclass(frozen=True)
class Result:
    """The result of a run; ``loss`` is set for a loss, and for a divergence with a number.

    reports  losses during training, (tokens, loss), that the result itself lists
    metrics  further numbers by name, such as accuracies
    """

    kind: ResultKind
    loss: float | None = None
    detail: str = ""
    reports: tuple[tuple[float, float], ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)


def read_result(
    folder: Path, spec: ResultsSpec, config: Mapping[str, Value], *, completed: bool
) -> Result:
    """The result in ``folder`` of a run of ``config``; ``completed``: it ended without error."""
    path = folder / result_file(spec)
    if spec.kind != "json" and not completed:
        return Result(ResultKind.NOTHING)
    try:
        if not path.is_file():
            return Result(ResultKind.NOTHING)
        result = {"json": _from_json, "regex": _from_log, "csv": _from_csv}[spec.kind](
            path, spec, config
        )
    except (OSError, ValueError, csv.Error) as error:
        result = Result(ResultKind.UNREADABLE, detail=str(error)[:200])
    if result.kind is ResultKind.UNREADABLE:
        return replace(result, detail=f"{path.name}: {result.detail}")
    return result


def result_file(spec: ResultsSpec) -> str:
    """The name of the file that holds the result."""
    defaults = {"json": RESULT, "regex": LOG, "csv": "metrics.csv"}
    return spec.file or defaults[spec.kind]


@dataclass(frozen=True)
class Progress:
    """One line of a run's progress file; None for a key that it does not have."""

    tokens: float | None = None
    loss: float | None = None
    final: bool = False
    saved: float | None = None
    resumed: float | None = None


def read_progress(folder: Path, offset: int = 0) -> tuple[list[Progress], int]:
    """(progress of the new lines, offset of the next); lines without any progress are skipped."""
    path = folder / PROGRESS
    try:
        text = read_bytes(path, limit=MAX_BYTES, offset=offset)
    except OSError:
        return [], offset
    whole = text.rpartition(b"\n")[0]
    if not whole:
        return [], offset
    steps = [step for line in whole.split(b"\n") if (step := _read_line(line)) != Progress()]
    return steps, offset + len(whole) + 1


def read_all_progress(folder: Path) -> list[Progress]:
    """The progress of all lines, also of a file that is too long for one call."""
    steps, offset = read_progress(folder)
    while True:
        more, end = read_progress(folder, offset)
        if end == offset:
            return steps
        steps, offset = [*steps, *more], end


def tokens_trained(steps: Sequence[Progress], begun: float) -> float | None:
    """Tokens trained by an attempt that began at ``begun``; None if its progress does not tell.

    A run that restarts within an attempt goes back to the checkpoint it names or, without one, to
    the last checkpoint before its next report. Tokens trained again count again.
    """
    total, at, saved, known = 0.0, begun, [begun], False
    for step in steps:
        if step.resumed is not None:
            at = step.resumed
        if step.tokens is not None:
            if step.tokens < at:
                at = max((point for point in saved if point <= step.tokens), default=0.0)
            total, at, known = total + (step.tokens - at), step.tokens, True
        if step.saved is not None:
            if step.saved > at:  # it must have trained up to there
                total, at = total + (step.saved - at), step.saved
            saved, known = [*saved, step.saved], True
    return total if known else None


def log_tail(folder: Path, lines: int = 5, *, file: str = LOG) -> str:
    """The last lines of a run's log, without control characters."""
    try:
        text = read_tail(folder / file, limit=8192).decode("utf-8", "replace")
    except OSError:
        return ""
    kept = [line.rstrip() for line in text.splitlines() if line.strip()][-lines:]
    return "\n".join(re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "", line)[:300] for line in kept)


def judge_loss(loss: float | None, spec: ResultsSpec) -> Result:
    """The result for a loss: None, NaN or too large is a divergence, too small an error."""
    if loss is None or math.isnan(loss) or loss > LOSS.high or loss == -math.inf:
        return Result(ResultKind.DIVERGED)
    if loss > (spec.diverged_above or math.inf):
        return Result(ResultKind.DIVERGED, loss)
    if loss < LOSS.low:
        return Result(ResultKind.CONTRADICTION, loss, f"a loss of {loss:g}, which no loss can be")
    return Result(ResultKind.LOSS, loss)


def contradiction(
    result: Mapping[str, Any], config: Mapping[str, Value], tolerance: float
) -> str | None:
    """How a result contradicts the configuration of its run; N and D may be rounded."""
    for name, want in config.items():
        if name not in result or result[name] is None:
            continue
        got = result[name]
        if isinstance(want, str):
            same = str(got) == want
        else:
            value = as_float(got)
            allowed = (tolerance if name in ("N", "D") else 1e-6) * abs(want) + 1e-300
            same = value is not None and abs(value - want) <= allowed
        if not same:
            return f"{name} is {str(got)[:60]} in the result, {want} in the configuration"
    return None


def result_of(values: Mapping[str, Any], spec: ResultsSpec, config: Mapping[str, Value]) -> Result:
    """The result of a run of ``config`` from an object with a loss."""
    loss = as_float(values.get("loss"))
    if problem := contradiction(values, config, spec.tolerance):
        return Result(ResultKind.CONTRADICTION, loss, problem)
    if values.get("diverged") is True:
        return Result(
            ResultKind.DIVERGED, loss if loss is not None and LOSS.contains(loss) else None
        )
    if "loss" not in values:
        return Result(ResultKind.UNREADABLE, detail="no loss")
    if loss is None and values["loss"] is not None:
        return Result(ResultKind.UNREADABLE, detail=f"a loss of {short_repr(values['loss'])}")
    listed = values.get("intermediate")
    reports = [_tokens_and_loss(item) for item in listed] if isinstance(listed, list) else []
    kept = tuple(report for report in reports if report is not None)
    return replace(judge_loss(loss, spec), reports=kept, metrics=_metrics(values.get("metrics")))


def _from_json(path: Path, spec: ResultsSpec, config: Mapping[str, Value]) -> Result:
    values = read_json(read_text(path))
    if not isinstance(values, dict):
        return Result(ResultKind.UNREADABLE, detail="not a JSON object")
    return result_of(values, spec, config)


def _metrics(values: object) -> dict[str, float]:
    """The numbers of {"metrics": {"arc_easy": 0.61}}; other values are left out."""
    pairs = list(values.items())[:MAX_METRICS] if isinstance(values, dict) else []
    numbers = {str(name)[:200]: as_float(value) for name, value in pairs}
    return {name: x for name, x in numbers.items() if x is not None and math.isfinite(x)}


def _from_log(path: Path, spec: ResultsSpec, config: Mapping[str, Value]) -> Result:
    assert spec.pattern is not None
    text = read_tail(path, limit=TAIL_BYTES).decode("utf-8", "replace")
    # Line by line from the end: a user's pattern could take very long on megabytes at once.
    for line in reversed(text.splitlines()):
        match = re.search(spec.pattern, line[:10_000])
        if match:
            loss = as_float(match.group(1))
            if loss is None:
                return Result(
                    ResultKind.UNREADABLE, detail=f"{match.group(1)[:60]!r} is not a number"
                )
            return judge_loss(loss, spec)
    return Result(ResultKind.UNREADABLE, detail=f"no line matches {spec.pattern!r}")


def _from_csv(path: Path, spec: ResultsSpec, config: Mapping[str, Value]) -> Result:
    rows = [row for row in csv.DictReader(read_text(path).splitlines()) if any(row.values())]
    if not rows or spec.column not in rows[-1]:
        return Result(ResultKind.UNREADABLE, detail=f"no column {spec.column!r}")
    return result_of({**rows[-1], "loss": rows[-1][spec.column] or ""}, spec, config)


def _read_line(line: bytes) -> Progress:
    try:
        values = read_json(line)
    except ValueError:
        return Progress()
    return parse_progress(values) if isinstance(values, dict) else Progress()


def parse_progress(values: Mapping[str, Any]) -> Progress:
    """The progress in an object; values that no run can have are ignored."""
    tokens, saved, resumed = (_tokens(values.get(key)) for key in ("tokens", "saved", "resumed"))
    pair = _tokens_and_loss(values)
    loss = None if pair is None else pair[1]
    return Progress(tokens, loss, values.get("final") is True and pair is not None, saved, resumed)


def _tokens(value: object) -> float | None:
    tokens = as_float(value)
    return tokens if tokens is not None and (tokens == 0.0 or SCALE.contains(tokens)) else None


def _tokens_and_loss(values: object) -> tuple[float, float] | None:
    """(tokens, loss) of {"tokens": …, "loss": …}; None for anything else."""
    if not isinstance(values, dict):
        return None
    tokens, loss = (as_float(values.get(name)) for name in ("tokens", "loss"))
    if tokens is None or loss is None or not (SCALE.contains(tokens) and LOSS.contains(loss)):
        return None
    return tokens, loss


def read_text(path: Path, *, limit: int = MAX_BYTES) -> str:
    """The text of a file of results; ValueError if it is too large or not UTF-8."""
    data = read_bytes(path, limit=limit)
    if len(data) > limit:
        raise ValueError(f"more than {limit // 2**20} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("bytes that are not UTF-8 text") from None
