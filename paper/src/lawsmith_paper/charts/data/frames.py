"""The numbers of one frame of a replay told step by step: what was known, and where it went on.

Notation and shapes
    x      the law's own input, as in the law chart; compute for a law of N and D
    frame  what was known after n runs, and the run chosen next
    share  a value per cost as a share of the best candidate's, on a cell (N, D) the best of its
           hyperparameters'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lawsmith.charts.law import law_inputs
from lawsmith.charts.runs import rounded
from lawsmith.grid import FloatArray, IntArray
from lawsmith.policies.frontier import ValueName, Weighed
from lawsmith.replay import Task
from lawsmith.replay.steps import mixed_losses
from lawsmith_paper.charts.data.reasons import Reason
from lawsmith_paper.moments import Moment
from lawsmith_paper.outlook import band

N_LINE = 48
LINE = ("x", "fitted", "pool_low", "pool_high", "truth_low", "truth_high")
POINT = ("x", "loss", "low", "high")
CELLS = ("N", "D", "envelope", "answer", "asked")
VALUES: tuple[ValueName, ...] = ("envelope", "answer")


@dataclass(frozen=True)
class Frame:
    """After ``n_runs``; before the first, what the initial design will be.

    shown      how many runs are drawn: those made, or the whole design before the first
    spent      per cent of what the whole pool costs
    seen       POINT: points of the predicted frontier that were run; low and high are NaN
    predicted  POINT: those that were not, with the 95 % interval of the surface
    line       LINE: the law of both, and its two intervals
    cells      CELLS: shares of the best value by cell, NaN without a candidate; asked: how many
               of its runs were made
    chosen     N, D of the next run: one row or none
    next       POINT: the next run, expected loss with its 95 % interval; one row or none
    target     as ``line``: one row or none
    reason     for the next run; None at the end
    """

    n_runs: int
    shown: int
    spent: float
    seen: pd.DataFrame
    predicted: pd.DataFrame
    line: pd.DataFrame
    target: pd.DataFrame
    next: pd.DataFrame
    cells: pd.DataFrame
    chosen: pd.DataFrame
    reason: Reason | None


@dataclass(frozen=True, eq=False)
class Picture:
    """What every frame of a task is drawn on."""

    task: Task
    x: str
    target: float

    @property
    def cells(self) -> IntArray:
        """(c,) the first row of each cell (N, D); none where they do not vary."""
        grid = self.task.pool
        if not {"N", "D"} <= set(grid.names) or np.ptp(grid.N) == 0.0 or np.ptp(grid.D) == 0.0:
            return np.empty(0, dtype=np.int64)
        return np.unique(grid.cells(("N", "D")), return_index=True)[1].astype(np.int64)

    @property
    def along(self) -> FloatArray:
        """(N_LINE,) of the horizontal variable, from the least of the pool to the target."""
        values = self.task.pool.numbers(self.x)
        end = self.target if self.x == "C" else 10 * float(values.max())
        return np.geomspace(values.min(), max(end, float(values.max())), N_LINE)

    @property
    def answer(self) -> float:
        """What the law of the whole pool says at the target; NaN without one horizontal target."""
        if self.x != "C":
            return float("nan")
        fit = self.task.reference.validation
        at = law_inputs(self.task.law, fit.phi, np.array([self.target]))
        return float(fit.predict(at)[0])

    def reference(self) -> pd.DataFrame:
        fit = self.task.reference.validation
        along = self.along
        loss = fit.predict(law_inputs(self.task.law, fit.phi, along))
        return pd.DataFrame({"x": rounded(along), "loss": rounded(loss)})

    def frame(self, moment: Moment, reason: Reason | None, made: IntArray) -> Frame:
        """The frame of a moment; ``made``: rows of the runs that are drawn."""
        seen, predicted = self._frontier(moment)
        target = self._line(moment, np.array([self.target])) if self.x == "C" else _none(LINE)
        return Frame(
            n_runs=len(moment.runs),
            shown=len(made),
            spent=100 * moment.cost_fraction,
            seen=seen,
            predicted=predicted,
            line=self._line(moment, self.along),
            target=target if moment.outlook and moment.outlook.predictions else _none(LINE),
            next=self._next(moment, reason),
            cells=self._cells(moment, made),
            chosen=self._chosen(moment),
            reason=reason,
        )

    def _frontier(self, moment: Moment) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Points of the mixed grid's frontier: those run, and those expected."""
        outlook, posterior = moment.outlook, moment.posterior
        if outlook is None or posterior is None:
            return _none(POINT), _none(POINT)
        rows, run = outlook.rows, outlook.observed
        grid = self.task.pool
        mixed = mixed_losses(len(grid), moment.runs, posterior)
        reach = 1.96 * posterior.sd[rows]
        low, high = posterior.mean[rows] - reach, posterior.mean[rows] + reach
        if posterior.scale == "log":
            low, high = np.exp(low), np.exp(high)
        values = (grid.numbers(self.x)[rows], mixed[rows], low, high)
        frame = pd.DataFrame({n: rounded(v) for n, v in zip(POINT, values, strict=True)})
        return frame[run].assign(low=np.nan, high=np.nan), frame[~run]

    def _line(self, moment: Moment, along: FloatArray) -> pd.DataFrame:
        found = moment.outlook
        if found is None:
            return _none(LINE)
        law, phi = found.law, found.fit.phi
        fitted, *pool = band(law, phi, found.pool_phi, along, found.level)
        _, *truth = band(law, phi, found.truth_phi, along, found.level)
        values = (along, fitted, *pool, *truth)
        return pd.DataFrame({n: rounded(v) for n, v in zip(LINE, values, strict=True)})

    def _next(self, moment: Moment, reason: Reason | None) -> pd.DataFrame:
        if moment.step is None or reason is None or reason.expected is None:
            return _none(POINT)
        at = self.task.pool.numbers(self.x)[moment.step.candidate]
        return pd.DataFrame([rounded([at, *reason.expected])], columns=list(POINT))

    def _chosen(self, moment: Moment) -> pd.DataFrame:
        if moment.step is None or moment.weighed is None or not len(self.cells):
            return _none(("N", "D"))
        row, grid = moment.step.candidate, self.task.pool
        return pd.DataFrame([rounded([grid.N[row], grid.D[row]])], columns=["N", "D"])

    def _cells(self, moment: Moment, made: IntArray) -> pd.DataFrame:
        """Shares by cell where a run was weighed."""
        firsts, grid = self.cells, self.task.pool
        if not len(firsts):
            return _none(CELLS)
        cell = grid.cells(("N", "D"))
        asked = np.bincount(cell[made], minlength=int(cell.max()) + 1)
        frame = pd.DataFrame({"N": rounded(grid.N[firsts]), "D": rounded(grid.D[firsts])})
        for name in VALUES:
            best = cell_shares(moment.weighed, name, cell)
            frame[name] = rounded(best[cell[firsts]], 3)
        return frame.assign(asked=asked[cell[firsts]])


def cell_shares(weighed: Weighed | None, value: ValueName, cell: IntArray) -> FloatArray:
    """(c,) the best score of each cell's candidates as a share of the best of all.

    NaN for a cell without a candidate, and everywhere where that value was not to be had.
    """
    best = np.full(int(cell.max()) + 1, -np.inf)
    if weighed is None or value not in weighed.scores:
        return np.full(len(best), np.nan)
    scores = weighed.scores[value]
    there = np.zeros(len(best), dtype=np.bool_)
    there[cell[weighed.rows]] = True
    np.maximum.at(best, cell[weighed.rows], scores)
    top = float(scores.max())
    return np.where(there, np.exp(best - top), np.nan)


def _none(names: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame({name: np.empty(0) for name in names})
