"""Runs with an accuracy: which are used, their losses, and their scales as coordinates.

Notation and shapes
    k       runs that have an accuracy
    y       (k,) accuracy;  log_loss (k,), NaN if missing
    logs    (k, q) logs of the scales; q = 2 for N and D, else 1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from lawsmith.answer import LEAST_RUNS, Target
from lawsmith.arrays import AnyArray, BoolArray, FloatArray, IntArray
from lawsmith.errors import LawsmithError
from lawsmith.grid import Grid
from lawsmith.runs import Runs, State

Way = Literal["two steps", "direct"]
RATIO_REACH = 2.5  # e-folds beyond the D/N of the runs in which the best D/N is searched


@dataclass(frozen=True)
class Scales:
    """The scales of a study: N and D, or one of them, or C.

    origin      (q,) logs near the largest runs
    multiplier  C = multiplier·N·D, or ·N, or ·D
    log_top     ln C of the largest run
    ratio       least and largest ln(D/N) of the runs
    """

    names: tuple[str, ...]
    origin: tuple[float, ...]
    multiplier: float
    log_top: float
    ratio: tuple[float, float]

    def coordinates(self, logs: FloatArray) -> FloatArray:
        """(…, q) coordinates of logs of scales, relative to the origin; x itself for one scale.

        x takes half of ln C, because N and D grow by half of it each.
        """
        away = np.asarray(logs - np.array(self.origin))
        return away if len(self.names) == 2 else away * (-0.5 if self.names == ("C",) else -1.0)

    def logs(self, target: Target) -> FloatArray:
        """(1, q) logs of the scales of a target that gives them."""
        return np.log([list(target.scales(self.names).values())])

    def decades(self, target: Target) -> float:
        """Decades of compute beyond the largest run."""
        log_C = np.log(target.C)
        if target.sized:
            log_C = np.log(self.multiplier) + float(self.logs(target).sum())
        return float((log_C - self.log_top) / np.log(10.0))


@dataclass(frozen=True, eq=False)
class AccuracyTable:
    """Runs with an accuracy; see the module's notation. ``row`` is a row of the study's grid."""

    scales: Scales
    row: IntArray
    C: FloatArray
    y: FloatArray
    log_loss: FloatArray
    logs: FloatArray

    def __len__(self) -> int:
        return len(self.y)

    def coordinates(self, way: Way) -> FloatArray:
        """(k, q) what accuracy depends on in a way: log losses, or scales."""
        return self.log_loss[:, None] if way == "two steps" else self.scales.coordinates(self.logs)

    def take(self, rows: IntArray | BoolArray) -> AccuracyTable:
        columns: tuple[AnyArray, ...] = (self.row, self.C, self.y, self.log_loss, self.logs)
        return AccuracyTable(self.scales, *(column[rows] for column in columns))


def accuracy_table(
    grid: Grid,
    runs: Runs,
    accuracy: FloatArray,
    *,
    with_loss: bool,
    least: int = LEAST_RUNS,
) -> AccuracyTable:
    """The runs that have an accuracy, and a loss where one is used; ``accuracy`` (n runs,)."""
    known = np.isfinite(accuracy) & (runs.state != State.PENDING.value)
    if with_loss:
        known &= runs.state == State.DONE.value
    if known.sum() < least:
        got = f"{int(known.sum())} runs with an accuracy"
        raise LawsmithError("answer", got=got, want=f"at least {least}")
    _check(accuracy[known])
    row = runs.index[known]
    loss = np.log(runs.loss[known]) if with_loss else np.full(len(row), np.nan)
    scales = _scales_of(grid, row)
    logs = np.log([grid.numbers(name)[row] for name in scales.names]).T
    return AccuracyTable(scales, row, grid.C[row], accuracy[known], loss, logs)


def _check(y: FloatArray) -> None:
    bad = y[(y < 0.0) | (y > 1.0)]
    if len(bad):
        hint = "divide percentages by 100" if y.max() <= 100.0 and y.min() >= 0.0 else None
        raise LawsmithError("accuracy", got=f"{bad[0]:g}", want="a fraction from 0 to 1", hint=hint)


def _scales_of(grid: Grid, row: IntArray) -> Scales:
    names = tuple(name for name in ("N", "D") if name in grid.names) or ("C",)
    logs = np.log([grid.numbers(name)[row] for name in names])
    log_C = np.log(grid.C[row])
    top = log_C >= np.quantile(log_C, 0.67)
    each = log_C[top] - (logs[:, top].sum(0) if names != ("C",) else log_C[top])
    ratio = (0.0, 0.0)
    if names == ("N", "D"):
        ratios = logs[1] - logs[0]
        ratio = float(ratios.min()), float(ratios.max())
    origin = tuple(np.median(logs[:, top], axis=1).tolist())
    return Scales(names, origin, float(np.exp(np.median(each))), float(log_C.max()), ratio)


def best_per_cell(data: AccuracyTable) -> IntArray:
    """Rows of the best run at each N and D, by loss, or by accuracy without a loss.

    Scale predicts the accuracy of a well-tuned run, not that of runs with other hyperparameters.
    """
    by = np.where(np.isfinite(data.log_loss), data.log_loss, -data.y)
    order = np.lexsort((by, *data.logs.T))
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = (np.diff(data.logs[order], axis=0) != 0.0).any(axis=1)
    return np.sort(order[first])
