"""A table of past runs as columns of the study's own names, read as `lawsmith fit` reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lawsmith.arrays import AnyArray
from lawsmith.datasets import ReadOptions, read_frame
from lawsmith.datasets.schema import ROLES
from lawsmith.datasets.tables import read_rows
from lawsmith.errors import LawsmithError
from lawsmith.spreadsheet import unguarded

Columns = dict[str, AnyArray]


@dataclass(frozen=True, eq=False)
class PastRuns:
    """Past runs.

    columns      N, D, loss and axes by the study's names; 'row' counts from 1
    found        each of them → its name in the table
    unfinished   how many runs of each other state were left out
    """

    columns: Columns
    found: Mapping[str, str]
    unfinished: Mapping[str, int]
    n_rows: int


def read_columns(
    source: str | Path, axes: Sequence[str], asked: Mapping[str, str], *, where: str | None
) -> PastRuns:
    """The rows of ``source`` whose runs finished and for which ``where`` holds.

    asked   the table's names of N, D, loss and the axes, where they are not the usual ones
    """
    known = (*ROLES, *axes, "model")
    for name in set(asked) - set(known):
        want = "one of " + ", ".join((*ROLES[:2], "loss", *axes, "model"))
        raise LawsmithError("--columns", got=repr(name), want=want)
    frame = read_frame(source)
    options = ReadOptions(columns=asked, where=where)
    rows = read_rows(frame, options, (*axes, "model"), source=str(source))
    columns = {name: _plain(values) for name, values in rows.columns.items()}
    return PastRuns(columns, rows.found, rows.unfinished, len(frame))


def _plain(values: AnyArray) -> AnyArray:
    """Text as it was before an export guarded it from spreadsheets."""
    if values.dtype == np.float64:
        return values
    return np.array([unguarded(text) for text in values.tolist()], dtype=np.str_)
