"""Runs as rows of a chart: the part of each in the fit, and even thinning of large studies.

Rows carry numbers only. Hyperparameters sit in columns h0, h1, …, because a study may call its
axes anything and Vega reads dots and brackets in a field's name; ``RunRows.names`` says which is
which.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lawsmith.analysis import Analysis
from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.grid import FloatArray, Grid, IntArray

MAX_RUNS = 5_000
NOT_RUN, RUN, FITTED, HELD_OUT = "not-run", "run", "fitted", "held-out"


class ChartUnavailable(LawsmithError):
    """The chart cannot be made of this analysis; ``reason`` says why, in one clause."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True)
class RunRows:
    """Configurations with a loss, one a row: those of `run_frame`, and kind.

    frame    its index is the row of the study's grid
    names    `tooltip_names`
    n_known  how many there are; ``frame`` holds fewer where they were thinned
    """

    frame: pd.DataFrame
    names: Mapping[str, str]
    n_known: int

    def of(self, kind: str) -> pd.DataFrame:
        return self.frame[self.frame["kind"] == kind]

    @property
    def thinned(self) -> bool:
        return len(self.frame) < self.n_known


def run_rows(analysis: Analysis, *, top: float = np.inf, max_runs: int = MAX_RUNS) -> RunRows:
    """The configurations of an analysis, see `rows_of`."""
    study = analysis.study
    kinds, called = run_kinds(analysis), called_in(study)
    return rows_of(study.grid, analysis.loss, kinds, called, top=top, max_runs=max_runs)


def rows_of(
    grid: Grid,
    loss: FloatArray,
    kinds: np.ndarray,
    called: Sequence[str],
    *,
    top: float = np.inf,
    max_runs: int = MAX_RUNS,
) -> RunRows:
    """Every configuration with a loss of at most ``top``; at most ``max_runs`` of them.

    Where there are more, those of kind NOT_RUN are thinned; without any, those of kind RUN.
    """
    known = np.flatnonzero(np.isfinite(loss) & (loss <= top))
    behind = NOT_RUN if NOT_RUN in kinds[known] else RUN
    kept = keep_first(known, first=kinds[known] != behind, by=grid.C[known], n=max_runs)
    frame = run_frame(grid, kept, loss, called).assign(kind=kinds[kept])
    return RunRows(frame, tooltip_names(grid), len(known))


def run_kinds(analysis: Analysis) -> np.ndarray:
    """(m,) RUN, FITTED (on the frontier the law was fitted to) or HELD_OUT (on the held-out's)."""
    kinds = np.full(len(analysis.loss), RUN, dtype=object)
    kinds[analysis.frontier] = FITTED
    if analysis.score is not None:
        kinds[analysis.score.rows] = HELD_OUT
    return kinds


def keep_first(rows: IntArray, *, first: np.ndarray, by: FloatArray, n: int) -> IntArray:
    """At most ``n`` rows, ascending: those marked ``first``, then others evenly along ``by``.

    Where even the first are more than ``n``, they are thinned in the same way.
    """
    chosen = even(rows[first], by[first], n)
    others = even(rows[~first], by[~first], n - len(chosen))
    return np.sort(np.concatenate([chosen, others]))


def even(rows: IntArray, by: FloatArray, n: int) -> IntArray:
    """At most ``n`` of ``rows``, evenly spaced in their order along ``by``, both ends kept."""
    if len(rows) <= n:
        return rows
    order = np.argsort(by, kind="stable")
    return rows[order[np.linspace(0, len(rows) - 1, n).round().astype(np.int64)]]


def column_names(grid: Grid) -> dict[str, str]:
    """Column of a chart's frame → its name in the study: N, D and C, then the hyperparameters."""
    scale = {name: name for name in ("N", "D") if name in grid.names}
    return scale | {"C": "C"} | {f"h{k}": name for k, name in enumerate(grid.hp)}


def tooltip_names(grid: Grid) -> dict[str, str]:
    """What a reader is told of a run: its own name if it has one, `column_names`, its loss."""
    return {"run": "run", **column_names(grid), "loss": "loss"}


def called_in(study: Study) -> Sequence[str]:
    """(m,) what the runs of each configuration are called; empty where they have no names."""
    return study.config_names() if study.run_names else ()


def columns(grid: Grid, rows: IntArray) -> pd.DataFrame:
    """The `column_names` of those rows of a grid, which are the index; text stays text."""
    table = {}
    for field, name in column_names(grid).items():
        values = grid.column(name)[rows]
        table[field] = short(values) if values.dtype == np.float64 else values.astype(object)
    return pd.DataFrame(table, index=rows)


def run_frame(grid: Grid, rows: IntArray, loss: FloatArray, called: Sequence[str]) -> pd.DataFrame:
    """`columns`, the loss and, where the runs have names, run."""
    frame = columns(grid, rows).assign(loss=short(loss[rows]))
    return frame.assign(run=[called[row] for row in rows]) if called else frame


def short(values: Iterable[float], digits: int = 6) -> FloatArray:
    """Rounded to ``digits`` significant digits: all a chart shows, and half the bytes of a page."""
    return np.array([float(f"{value:.{digits}g}") for value in values], dtype=np.float64)
