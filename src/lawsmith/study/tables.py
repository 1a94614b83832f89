"""A table of past runs as columns of the study's own names, read as `lawsmith fit` reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lawsmith.arrays import AnyArray, FloatArray
from lawsmith.datasets import ReadOptions, cells, read_frame
from lawsmith.datasets.schema import ROLES
from lawsmith.datasets.tables import read_rows
from lawsmith.datasets.words import short
from lawsmith.errors import LawsmithError
from lawsmith.spreadsheet import unguarded
from lawsmith.study.telling import METRICS

Columns = dict[str, AnyArray]


@dataclass(frozen=True, eq=False)
class PastRuns:
    """Past runs.

    columns      N, D, loss and axes by the study's names; 'row' counts from 1
    found        each of them → its name in the table
    unfinished   how many runs of each other state were left out
    metrics      by name, (k,) numbers of the runs, NaN where a run has none
    """

    columns: Columns
    found: Mapping[str, str]
    unfinished: Mapping[str, int]
    n_rows: int
    metrics: Mapping[str, FloatArray] = field(default_factory=dict)


def read_columns(
    source: str | Path,
    axes: Sequence[str],
    asked: Mapping[str, str],
    *,
    where: str | None,
    metrics: Sequence[str] = (),
) -> PastRuns:
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
    rows = read_rows(frame, options, (*axes, "model"), source=str(source))
    columns = {name: _plain(values) for name, values in rows.columns.items()}
    place = rows.columns["row"].astype(np.int64) - 1
    named = _metric_columns(list(map(str, frame.columns)), metrics, set(rows.found.values()))
    kept: dict[str, FloatArray] = {}
    for name, column in named.items():
        kept[name], faults = cells.metric(frame[column].iloc[place])
        cells.raise_first(faults, source=str(source))
    return PastRuns(columns, {**rows.found, **named}, rows.unfinished, len(frame), kept)


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
