"""Results told by hand: one, or a file of them; all are taken or none is."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from lawsmith.errors import LawsmithError, suggest
from lawsmith.files import read_bytes, reason
from lawsmith.formats import number as written
from lawsmith.journal import Event, Kind, Ledger, Stage, Trial, make
from lawsmith.numbers import as_float, read_json, shown
from lawsmith.plausible import LOSS, SCALE
from lawsmith.runners.results import Found, contradiction, judge
from lawsmith.study.live import LiveStudy

MAX_BYTES = 64 * 2**20
FAR = 3.0  # times the largest loss so far, or below the smallest by as much
MIN_KNOWN = 2
METRICS = "metrics."  # before the name of a metric, in a column
_TAKES = (Stage.ASKED, Stage.FAILED, Stage.CANCELLED, Stage.QUARANTINED)


@dataclass(frozen=True)
class Told:
    """A result as a person tells it; ``values`` are what else the file says of the run.

    tokens   where it is a loss on the way, and not the final one
    final    of a loss on the way: the end of a decay, which is a result
    saved    tokens of a checkpoint, where that is all there is to tell
    metrics  further numbers of the finished run by name, such as accuracies
    """

    trial: str
    loss: float | None
    values: Mapping[str, Any]
    tokens: float | None = None
    where: str = "tell"
    final: bool = False
    saved: float | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)


def tell(study: LiveStudy, results: Sequence[Told]) -> list[Event]:
    """Put results on record; the events that were new."""
    return study.journal.update(
        lambda ledger: [event for told in results for event in _events(study, ledger, told)]
    )


def doubts(study: LiveStudy, results: Sequence[Told]) -> list[str]:
    """Losses far from all that the study has, a sentence each: a slip of the keyboard, perhaps."""
    known = [t.loss for t in study.journal.ledger.trials.values() if t.stage is Stage.FINISHED]
    losses = [loss for loss in known if loss is not None]
    if len(losses) < MIN_KNOWN:
        return []
    low, high = min(losses), max(losses)
    found = []
    for told in results:
        result = judge(told.loss, study.spec.results)
        if result.found is not Found.LOSS or told.loss is None or told.tokens is not None:
            continue  # on the way a loss may be far above
        if not low / FAR <= told.loss <= high * FAR:
            seen = written(low) if low == high else f"{written(low)} to {written(high)}"
            found.append(f"{told.trial}: a loss of {written(told.loss)}, after {seen} so far")
    return found


def _events(study: LiveStudy, ledger: Ledger, told: Told) -> list[Event]:
    trial = ledger.trials.get(told.trial)
    if trial is None:
        hint = suggest(told.trial, ledger.trials) or "ask for one: lawsmith ask"
        want = "a trial that was asked for"
        raise LawsmithError(told.where, got=f"trial {told.trial!r}", want=want, hint=hint)
    if told.saved is not None:
        return _saved(trial, told)
    if told.tokens is not None:
        return _report(trial, told)
    result = judge(told.loss, study.spec.results)
    problem = contradiction(told.values, trial.config, study.spec.results.tolerance)
    if problem or result.found is Found.CONTRADICTION:
        where = f"{told.where}: {trial.name}"
        raise LawsmithError(where, got=problem or result.detail, want="a result of this trial")
    if trial.stage in (Stage.FINISHED, Stage.DIVERGED):
        return _again(study, trial, told, result.loss)
    if trial.by == "run" and trial.open:
        hint = f"its runner will tell; to stop it: lawsmith cancel … {trial.name}"
        got = f"a result of {trial.name}, which lawsmith is running"
        raise LawsmithError(told.where, got=got, want="a trial asked for by hand", hint=hint)
    if result.found is not Found.LOSS:
        return [make(Kind.DIVERGED, trial.name, loss=None, by="hand")]
    return [_finished(trial, result.loss, _metrics(study, told))]


def _finished(trial: Trial, loss: float | None, metrics: Mapping[str, float]) -> Event:
    more = {"metrics": dict(metrics)} if metrics else {}
    return make(Kind.FINISHED, trial.name, loss=loss, by="hand", **more)


def _metrics(study: LiveStudy, told: Told) -> dict[str, float]:
    """What is told as metrics, and columns that are called like a [[metric]] of the study."""
    named = {one.name: told.values.get(one.name) for one in study.spec.metric}
    return {**metrics_of(named, where=told.where), **told.metrics}


def _report(trial: Trial, told: Told) -> list[Event]:
    where = f"{told.where}: {trial.name}"
    if told.loss is None or not LOSS.hold(told.loss):
        raise LawsmithError(where, got=f"a loss of {told.loss}", want=LOSS.want)
    if told.tokens is None or not SCALE.hold(told.tokens):
        raise LawsmithError(where, got=f"{told.tokens} tokens", want=SCALE.want)
    _check_open(trial, where)
    known = [passed[:2] for passed in trial.passed] if told.final else trial.reports
    if (told.tokens, told.loss) in known:
        return []
    kind = Kind.PASSED if told.final else Kind.REPORTED
    return [make(kind, trial.name, tokens=told.tokens, loss=told.loss)]


def _saved(trial: Trial, told: Told) -> list[Event]:
    where = f"{told.where}: {trial.name}"
    if told.saved is None or not SCALE.hold(told.saved):
        raise LawsmithError(where, got=f"saved at {told.saved} tokens", want=SCALE.want)
    _check_open(trial, where)
    return [] if told.saved in trial.saved else [make(Kind.SAVED, trial.name, tokens=told.saved)]


def _check_open(trial: Trial, where: str) -> None:
    if not trial.open:
        raise LawsmithError(where, got=f"a trial that is {trial.stage.value}", want="an open one")


def _again(study: LiveStudy, trial: Trial, told: Told, loss: float | None) -> list[Event]:
    """The same result twice is one, but for new metrics; another loss is a mistake somewhere."""
    if loss == trial.loss:
        metrics = {} if loss is None else _metrics(study, told)
        new = {name: x for name, x in metrics.items() if trial.metrics.get(name) != x}
        return [_finished(trial, loss, new)] if new else []
    where = f"{told.where}: {trial.name}"
    known = "a divergence" if trial.stage is Stage.DIVERGED else f"{trial.loss:g}"
    got = "a divergence" if loss is None else f"{loss:g}"
    hint = f"to take the first one back: lawsmith exclude … --trial {trial.name}"
    raise LawsmithError(where, got=got, want=f"{known}, as told before", hint=hint)


def read_results(path: Path) -> list[Told]:
    """The results in a file: JSON (an object or a list), JSON lines, or CSV."""
    text = _text(path)
    if path.suffix.lower() in (".csv", ".tsv"):
        rows: Iterable[tuple[int, object]] = _csv_rows(path, text)
    else:
        rows = _json_rows(path, text)
    found = [_told(row, f"{path}: row {number}") for number, row in rows]
    if not found:
        raise LawsmithError(str(path), got="no result", want="at least one")
    return found


def _text(path: Path) -> str:
    try:
        data = read_bytes(path, limit=MAX_BYTES)
        if len(data) > MAX_BYTES:
            raise LawsmithError(str(path), got="more than 64 MB", want="a file of results")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise LawsmithError(str(path), got="bytes that are no text", want="UTF-8") from None
    except (OSError, ValueError) as error:
        raise LawsmithError(str(path), got=reason(error), want="a file of results") from None


def _csv_rows(path: Path, text: str) -> list[tuple[int, object]]:
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    try:
        reader = csv.DictReader(StringIO(text), delimiter=delimiter, restkey="", restval=None)
        rows = list(enumerate(reader, start=1))
    except csv.Error as error:
        raise LawsmithError(str(path), got=str(error), want="a CSV of results") from None
    return [(n, {k: v for k, v in row.items() if v not in (None, "")}) for n, row in rows]


def _json_rows(path: Path, text: str) -> list[tuple[int, object]]:
    try:
        value = read_json(text)
    except ValueError:
        return list(_json_lines(path, text))
    return list(enumerate(value if isinstance(value, list) else [value], start=1))


def _json_lines(path: Path, text: str) -> Iterable[tuple[int, object]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                yield number, read_json(line)
            except JSONDecodeError:
                where = f"{path}: line {number}"
                raise LawsmithError(where, got=repr(line[:60]), want="a JSON object") from None
            except ValueError as error:
                where = f"{path}: line {number}"
                raise LawsmithError(where, got=str(error), want="a JSON object") from None


def _told(row: object, where: str) -> Told:
    want = "an object with trial and loss"
    if not isinstance(row, dict) or not isinstance(row.get("trial"), str):
        raise LawsmithError(where, got=shown(row, 80), want=want)
    config = row.get("config")
    values = {**(config if isinstance(config, dict) else {}), **row}
    if row.get("saved") is not None:
        saved = number_of(row["saved"], where=f"{where}: saved")
        return Told(row["trial"], None, values, where=where, saved=saved)
    if "loss" not in row and row.get("diverged") is not True:
        raise LawsmithError(where, got=f"no loss of {row['trial']}", want=want)
    loss = number_of(row.get("loss"), where=f"{where}: loss")
    tokens = row.get("tokens")
    on_the_way = None if tokens is None else number_of(tokens, where=f"{where}: tokens")
    given = row["metrics"] if isinstance(row.get("metrics"), dict) else {}
    columns = {key[len(METRICS) :]: row[key] for key in row if key.startswith(METRICS)}
    metrics = metrics_of({**given, **columns}, where=where)
    final = row.get("final") is True
    return Told(row["trial"], loss, values, on_the_way, where, final, metrics=metrics)


def metrics_of(given: Mapping[str, object], *, where: str) -> dict[str, float]:
    """Metrics by name; an empty or infinite one is left out, text is an error."""
    read = {str(k): number_of(x, where=f"{where}: {k}", want="a number") for k, x in given.items()}
    return {name: x for name, x in read.items() if x is not None and math.isfinite(x)}


def number_of(
    value: object, *, where: str, want: str = "a number, or nan for a divergence"
) -> float | None:
    """A number, also as text ('nan' too); None stays None."""
    if value is None:
        return None
    number = as_float(value)
    if number is None:
        raise LawsmithError(where, got=shown(value), want=want)
    return number
