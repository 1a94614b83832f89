"""Results told by hand: one, or a file of them; all are taken or none is."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from lawsmith.errors import LawsmithError, suggest
from lawsmith.files import reason
from lawsmith.formats import number as written
from lawsmith.journal import Event, Ledger, Stage, Trial, make
from lawsmith.numbers import as_float, read_json, short_repr
from lawsmith.runners.results import Result, ResultKind, parse_progress, read_text, result_of
from lawsmith.study.live import LiveStudy
from lawsmith.study.outcomes import of_result, progress_events

MAX_BYTES = 64 * 2**20  # results of a million runs; what is larger is another file
# A loss is doubted if it is FAR times above the largest so far, or below the smallest: losses of a
# ladder of models lie within a factor of three, and a perplexity does not. One loss says no range.
FAR, MIN_KNOWN = 3.0, 2
METRICS = "metrics."  # before the name of a metric, in a column
PROGRESS_KEYS = ("loss", "tokens", "saved")


@dataclass(frozen=True)
class TrialResult:
    """What a person tells of a trial: the object of a result file or, on the way, of progress."""

    trial: str
    values: Mapping[str, Any]
    where: str = "tell"

    @property
    def on_the_way(self) -> bool:
        """Whether it is a loss on the way, the end of a decay or a checkpoint."""
        return self.values.get("tokens") is not None or self.values.get("saved") is not None


def tell(study: LiveStudy, results: Sequence[TrialResult]) -> list[Event]:
    """Put results on record; the events that were new."""
    return study.journal.update(
        lambda ledger: [event for given in results for event in _events(study, ledger, given)]
    )


def doubts(study: LiveStudy, results: Sequence[TrialResult]) -> list[str]:
    """Losses far from all that the study has, a sentence each: they may be typing errors."""
    known = [t.loss for t in study.journal.ledger.trials.values() if t.stage is Stage.FINISHED]
    losses = [loss for loss in known if loss is not None]
    if len(losses) < MIN_KNOWN:
        return []
    low, high = min(losses), max(losses)
    found = []
    for given in results:
        result = result_of(given.values, study.spec.results, {})
        if result.kind is not ResultKind.LOSS or result.loss is None or given.on_the_way:
            continue  # on the way a loss may be far above
        if not low / FAR <= result.loss <= high * FAR:
            seen = written(low) if low == high else f"{written(low)} to {written(high)}"
            found.append(f"{given.trial}: a loss of {written(result.loss)}, after {seen} so far")
    return found


def _events(study: LiveStudy, ledger: Ledger, given: TrialResult) -> list[Event]:
    trial = ledger.trials.get(given.trial)
    if trial is None:
        hint = suggest(given.trial, ledger.trials) or "ask for one: lawsmith ask"
        want = "a trial that was asked for"
        raise LawsmithError(given.where, got=f"trial {given.trial!r}", want=want, hint=hint)
    if given.on_the_way:
        return _on_the_way(trial, given)
    result = result_of(_with_metrics(study, given), study.spec.results, trial.config)
    if result.kind not in (ResultKind.LOSS, ResultKind.DIVERGED):
        where = f"{given.where}: {trial.name}"
        raise LawsmithError(where, got=result.detail, want="a result of this trial")
    if trial.stage in (Stage.FINISHED, Stage.DIVERGED):
        return _again(trial, given, result)
    if trial.by == "run" and trial.open:
        hint = f"its runner will tell; to stop it: lawsmith cancel … {trial.name}"
        got = f"a result of {trial.name}, which lawsmith is running"
        raise LawsmithError(given.where, got=got, want="a trial asked for by hand", hint=hint)
    return _recorded(trial, result)


def _recorded(trial: Trial, result: Result) -> list[Event]:
    found = of_result(result)
    return [] if found is None else [make(found[0], trial.name, **found[1], by="hand")]


def _with_metrics(study: LiveStudy, given: TrialResult) -> dict[str, Any]:
    """What is given, with columns that are called like a [[metric]] of the study as metrics."""
    named = {one.name: given.values.get(one.name) for one in study.spec.metric}
    where = f"{given.where}: {given.trial}"
    numbers = {k: number_of(v, where=f"{where}: {k}") for k, v in named.items() if v is not None}
    return {**given.values, "metrics": {**numbers, **given.values.get("metrics", {})}}


def _on_the_way(trial: Trial, given: TrialResult) -> list[Event]:
    """The events of a loss, the end of a decay or a checkpoint; none where it is known."""
    where, step = f"{given.where}: {trial.name}", parse_progress(given.values)
    if step.saved is None and step.loss is None:
        got = (f"{key} {given.values[key]}" for key in PROGRESS_KEYS if key in given.values)
        want = "a loss and tokens above 0 that a run can have"
        raise LawsmithError(where, got=", ".join(got), want=want)
    if not trial.open:
        raise LawsmithError(where, got=f"a trial that is {trial.stage.value}", want="an open one")
    known = [passed[:2] for passed in trial.passed] if step.final else trial.reports
    new = replace(step, loss=None) if (step.tokens, step.loss) in known else step
    # What differs from what is on record corrects it.
    return progress_events(replace(trial, reports=(), passed=()), [new])


def _again(trial: Trial, given: TrialResult, result: Result) -> list[Event]:
    """The same result twice is one, but for new metrics; another loss is a mistake somewhere."""
    if result.loss == trial.loss:
        new = {k: x for k, x in result.metrics.items() if trial.metrics.get(k) != x}
        return _recorded(trial, replace(result, metrics=new)) if new else []
    where = f"{given.where}: {trial.name}"
    known = "a divergence" if trial.stage is Stage.DIVERGED else f"{trial.loss:g}"
    got = "a divergence" if result.loss is None else f"{result.loss:g}"
    hint = f"to take the first one back: lawsmith exclude … --trial {trial.name}"
    raise LawsmithError(where, got=got, want=f"{known}, as told before", hint=hint)


def read_results(path: Path) -> list[TrialResult]:
    """The results in a file: JSON (an object or a list), JSON lines, or CSV."""
    try:
        text = read_text(path, limit=MAX_BYTES)
    except (OSError, ValueError) as error:
        raise LawsmithError(str(path), got=reason(error), want="a file of results") from None
    rows = (_csv_rows if path.suffix.lower() in (".csv", ".tsv") else _json_rows)(path, text)
    found = [_result_in(row, f"{path}: row {n}") for n, row in enumerate(rows, start=1)]
    if not found:
        raise LawsmithError(str(path), got="no result", want="at least one")
    return found


def _csv_rows(path: Path, text: str) -> list[object]:
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    try:
        rows = list(csv.DictReader(StringIO(text), delimiter=delimiter, restkey="", restval=None))
    except csv.Error as error:
        raise LawsmithError(str(path), got=str(error), want="a CSV of results") from None
    return [{k: v for k, v in row.items() if v not in (None, "")} for row in rows]


def _json_rows(path: Path, text: str) -> list[object]:
    try:
        value = read_json(text)
        return value if isinstance(value, list) else [value]
    except ValueError:
        rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            rows += [read_json(line)] if line.strip() else []
        except ValueError as error:
            got = repr(line[:60]) if isinstance(error, JSONDecodeError) else str(error)
            where = f"{path}: line {number}"
            raise LawsmithError(where, got=got, want="a JSON object") from None
    return rows


def _result_in(row: object, where: str) -> TrialResult:
    """What a row tells, its numbers checked."""
    want = "an object with trial and loss"
    if not isinstance(row, dict) or not isinstance(row.get("trial"), str):
        raise LawsmithError(where, got=short_repr(row, 80), want=want)
    known = row.get("saved") is not None or row.get("diverged") is True
    if "loss" not in row and not known:
        raise LawsmithError(where, got=f"no loss of {row['trial']}", want=want)
    for name in PROGRESS_KEYS:
        number_of(row.get(name), where=f"{where}: {name}")
    metrics = dict(row["metrics"]) if isinstance(row.get("metrics"), dict) else {}
    metrics |= {key.removeprefix(METRICS): row[key] for key in row if key.startswith(METRICS)}
    for name, value in metrics.items():
        number_of(value, where=f"{where}: {name}", want="a number")
    config = row["config"] if isinstance(row.get("config"), dict) else {}
    return TrialResult(row["trial"], {**config, **row, "metrics": metrics}, where)


def number_of(
    value: object, *, where: str, want: str = "a number, or nan for a divergence"
) -> float | None:
    """A number, also as text ('nan' too); None stays None."""
    if value is None:
        return None
    number = as_float(value)
    if number is None:
        raise LawsmithError(where, got=short_repr(value), want=want)
    return number
