"""Past runs from a table: matched to candidates, each once, on record as imported."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lawsmith.datasets import ReadOptions, cells, read_frame
from lawsmith.datasets.column_names import short
from lawsmith.datasets.roles import ROLES
from lawsmith.datasets.tables import FinishedRows, read_finished_rows
from lawsmith.errors import LawsmithError
from lawsmith.grid import AnyArray, FloatArray, Grid, IntArray
from lawsmith.journal import Event, Kind, Ledger, make
from lawsmith.numbers import as_float
from lawsmith.plausible import SETTING
from lawsmith.runners.results import ResultKind, judge_loss
from lawsmith.spreadsheet import unguarded
from lawsmith.study.live import LiveStudy
from lawsmith.study.telling import METRICS


def read_columns(
    source: str | Path,
    axes: Sequence[str],
    asked: Mapping[str, str],
    *,
    where: str | None,
    metrics: Sequence[str] = (),
) -> FinishedRows:
    """The rows of ``source`` whose runs finished and for which ``where`` holds.

    asked     the table's names of N, D, loss and the axes, where they are not the usual ones
    metrics   columns to keep besides those called metrics.…: arc_easy, also as summary.arc_easy
    """
    known = (*ROLES, *axes, "model")
    for name in set(asked) - set(known):
        want = "one of " + ", ".join((*ROLES[:2], "loss", *axes, "model"))
        raise LawsmithError("--columns", got=repr(name), want=want)
    frame = read_frame(source)
    options = ReadOptions(columns=asked, where=where)
    rows = read_finished_rows(frame, options, (*axes, "model"), source=str(source))
    columns = {name: _plain(values) for name, values in rows.columns.items()}
    place = rows.columns["row"].astype(np.int64) - 1
    named = _metric_columns(list(map(str, frame.columns)), metrics, set(rows.names.values()))
    kept: dict[str, FloatArray] = {}
    for name, column in named.items():
        kept[name], faults = cells.metric(frame[column].iloc[place])
        cells.raise_first(faults, source=str(source))
    return replace(rows, columns=columns, names={**rows.names, **named}, metrics=kept)


def _metric_columns(columns: list[str], asked: Sequence[str], used: set[str]) -> dict[str, str]:
    """The name of each metric → its column; those in use as N, loss or an axis are none."""
    found = {c.removeprefix(METRICS): c for c in columns if c.startswith(METRICS)}
    for column in columns:
        for name in asked:
            if name not in found and name in (column, short(column)):
                found[name] = column
    return {name: column for name, column in found.items() if column not in used}


def _plain(values: AnyArray) -> AnyArray:
    """Text as it was before an export guarded it from spreadsheets."""
    if values.dtype == np.float64:
        return values
    return np.array([unguarded(text) for text in values.tolist()], dtype=np.str_)


@dataclass(frozen=True)
class Imported:
    """What became of the rows of a table.

    unmatched  runs of no candidate, which are left out
    known      runs that were imported before, or twice in the table
    """

    events: tuple[Event, ...]
    unmatched: int
    known: int


def import_runs(study: LiveStudy, past: FinishedRows, *, source: str) -> Imported:
    """Put the runs of a table on record that are candidates and new.

    A run is known by its configuration and loss, so that a table may be imported again after it
    has grown. N and D, which tables round, may be off by the study's ``results.tolerance``.
    """
    table = past.columns
    rows = _matched(study.grid, table, study.spec.results.tolerance).tolist()
    losses = table["loss"].tolist()
    n_matched = sum(row >= 0 for row in rows)

    def decide(ledger: Ledger) -> list[Event]:
        seen = set(ledger.imported) | _finished(ledger)
        first = int(ledger.next_name("i")[1:])
        events: list[Event] = []
        for i, (row, loss) in enumerate(zip(rows, losses, strict=True)):
            if row < 0:
                continue
            values = _values_of(study, row, loss, where=f"{source}: row {table['row'][i]:g}")
            if values["key"] in seen:
                continue
            seen.add(values["key"])
            name = f"i{first + len(events):04d}"
            metrics = {m: float(x[i]) for m, x in past.metrics.items() if np.isfinite(x[i])}
            more = {"metrics": metrics} if metrics else {}
            events.append(make(Kind.IMPORTED, name, **values, source=source, **more))
        return events

    events = study.journal.update(decide)
    return Imported(tuple(events), len(rows) - n_matched, n_matched - len(events))


def _values_of(study: LiveStudy, row: int, loss: float, *, where: str) -> dict[str, Any]:
    """What is put on record of a run; a loss that is none is refused, a divergence is data."""
    result = judge_loss(loss, study.spec.results)
    if result.kind is ResultKind.CONTRADICTION:
        raise LawsmithError(where, got=result.detail, want="a loss above 0")
    config = dict(study.candidates.configs[row])
    values: dict[str, Any] = {"config": config, "loss": result.loss}
    values["key"] = _key(config, result.loss)
    return {**values, "diverged": True} if result.kind is ResultKind.DIVERGED else values


def _key(config: Mapping[str, float | int | str], loss: float | None) -> str:
    plain = {k: v if isinstance(v, str) else float(v) for k, v in config.items()}
    text = json.dumps([sorted(plain.items()), loss])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _finished(ledger: Ledger) -> set[str]:
    """Keys of the study's own results: a table exported from it adds nothing."""
    ended = (trial for trial in ledger.trials.values() if not trial.open)
    return {_key(trial.config, trial.loss) for trial in ended}


def _matched(grid: Grid, table: Mapping[str, AnyArray], tolerance: float) -> IntArray:
    """(k,) the candidate that each row of the table is a run of, −1 where it is none."""
    shared = [axis.name for axis in grid.axes if axis.name in table]
    if "N" not in table and "model" in table:
        shared.append("model")
    for name in (axis.name for axis in grid.axes):
        known = name in table or (name == "N" and "model" in table)
        if not known and len(np.unique(grid.columns[name])) > 1:
            hint = f"say which: --columns {name}=NAME"
            raise LawsmithError("import", got=f"no column for {name}", want="one", hint=hint)
    found = np.full(len(table["row"]), -1, dtype=np.int64)
    for i in range(len(found)):
        off = np.zeros(len(grid))
        for name in shared:
            allowed = tolerance if name in ("N", "D") else 1e-6
            off += _distance(grid.columns[name], table[name][i], allowed)
        if np.isfinite(off).any():
            found[i] = int(np.argmin(off))
    return found


def _distance(column: AnyArray, value: Any, allowed: float) -> FloatArray:
    """(m,) relative distance of a value to those of the candidates, infinite beyond ``allowed``."""
    if column.dtype != np.float64:
        return np.where(np.equal(column, str(value)), 0.0, np.inf)
    number = as_float(value)
    if number is None or not SETTING.contains(number):
        return np.full(len(column), np.inf)
    off = np.abs(column - number)
    return np.where(
        off <= allowed * np.abs(column), off / np.maximum(np.abs(column), 1e-300), np.inf
    )
