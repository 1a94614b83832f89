"""Runs as rows of a chart: the part of each run in the fit, with large studies thinned.

Hyperparameters are in columns h0, h1, …, because a study may call its axes anything and Vega parses
dots and brackets in field names; ``RunRows.names`` maps them back.
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
    """The chart cannot be made; ``reason`` says why, in one clause."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True)
class RunRows:
    """Configurations with a loss.

    frame    one row each, by its row of the study's grid: the columns of `run_frame`, and kind
    names    `tooltip_names`
    n_known  number of configurations with a loss; ``frame`` has fewer if they were thinned
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
    """The configurations of an analysis, see `select_runs`."""
    study = analysis.study
    kinds, run_names = run_kinds(analysis), config_run_names(study)
    return select_runs(study.grid, analysis.loss, kinds, run_names, top=top, max_runs=max_runs)


def select_runs(
    grid: Grid,
    loss: FloatArray,
    kinds: np.ndarray,
    run_names: Sequence[str],
    *,
    top: float = np.inf,
    max_runs: int = MAX_RUNS,
) -> RunRows:
    """All configurations with a loss of at most ``top``, thinned to ``max_runs``.

    Only those of kind NOT_RUN are thinned; if there are none, those of kind RUN.
    """
    known = np.flatnonzero(np.isfinite(loss) & (loss <= top))
    background = NOT_RUN if NOT_RUN in kinds[known] else RUN
    kept = thin_others(known, keep=kinds[known] != background, by=grid.C[known], n=max_runs)
    frame = run_frame(grid, kept, loss, run_names).assign(kind=kinds[kept])
    return RunRows(frame, tooltip_names(grid), len(known))


def run_kinds(analysis: Analysis) -> np.ndarray:
    """(m,) RUN, FITTED (on the frontier that the law is fitted to) or HELD_OUT (on its own)."""
    kinds = np.full(len(analysis.loss), RUN, dtype=object)
    kinds[analysis.frontier] = FITTED
    if analysis.score is not None:
        kinds[analysis.score.rows] = HELD_OUT
    return kinds


def thin_others(rows: IntArray, *, keep: np.ndarray, by: FloatArray, n: int) -> IntArray:
    """At most ``n`` rows, ascending: those marked ``keep``, then others evenly along ``by``.

    If more than ``n`` are marked, they are thinned in the same way.
    """
    kept = thin(rows[keep], by[keep], n)
    others = thin(rows[~keep], by[~keep], n - len(kept))
    return np.sort(np.concatenate([kept, others]))


def thin(rows: IntArray, by: FloatArray, n: int) -> IntArray:
    """At most ``n`` of ``rows``, evenly spaced in their order along ``by``, with both ends."""
    if len(rows) <= n:
        return rows
    order = np.argsort(by, kind="stable")
    return rows[order[np.linspace(0, len(rows) - 1, n).round().astype(np.int64)]]


def column_names(grid: Grid) -> dict[str, str]:
    """Column of a chart's frame → its name in the study: N, D and C, then the hyperparameters."""
    scale = {name: name for name in ("N", "D") if name in grid.names}
    return scale | {"C": "C"} | {f"h{k}": name for k, name in enumerate(grid.hp)}


def tooltip_names(grid: Grid) -> dict[str, str]:
    """Columns of a run's tooltip and their names: the run, `column_names`, the loss."""
    return {"run": "run", **column_names(grid), "loss": "loss"}


def config_run_names(study: Study) -> Sequence[str]:
    """(m,) the names of the runs of each configuration; empty if the runs have no names."""
    return study.config_names() if study.run_names else ()


def config_frame(grid: Grid, rows: IntArray) -> pd.DataFrame:
    """The `column_names` of some rows of a grid, indexed by row; text stays text."""
    table = {}
    for field, name in column_names(grid).items():
        values = grid.column(name)[rows]
        table[field] = rounded(values) if values.dtype == np.float64 else values.astype(object)
    return pd.DataFrame(table, index=rows)


def run_frame(
    grid: Grid, rows: IntArray, loss: FloatArray, run_names: Sequence[str]
) -> pd.DataFrame:
    """`config_frame` with the loss and, if the runs have names, run."""
    frame = config_frame(grid, rows).assign(loss=rounded(loss[rows]))
    return frame.assign(run=[run_names[row] for row in rows]) if run_names else frame


def rounded(values: Iterable[float], digits: int = 6) -> FloatArray:
    """Values with ``digits`` significant digits: enough for a chart, and half the bytes."""
    return np.array([float(f"{value:.{digits}g}") for value in values], dtype=np.float64)
