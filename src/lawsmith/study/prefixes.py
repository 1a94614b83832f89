"""The ends of runs under way, predicted from finished runs at the same share of their way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lawsmith.arrays import evenly_spaced
from lawsmith.curves.prefix import DF, LEAST_RUNS, MOST_RUNS, Prefixes, smoothed
from lawsmith.curves.trunks import as_normal
from lawsmith.grid import Grid, IntArray
from lawsmith.journal import Ledger, Stage, Trial
from lawsmith.plausible import LOSS, SCALE
from lawsmith.study.live import LiveStudy
from lawsmith.surface.frame import Points
from lawsmith.surrogates.base import Hints

STOPPED = "stopped"  # the reason on record of what lawsmith stopped


@dataclass(frozen=True)
class PredictedEnd:
    """Log loss at the end of a run: Student's t with DF degrees of freedom.

    row     of the study's grid; ``at`` is its point
    model   finished runs at the same share of their way
    """

    row: int
    at: Points
    mean: float
    scale: float
    model: Prefixes

    @property
    def trusted(self) -> bool:
        """Whether the model has proven itself on finished runs with hyperparameters about these."""
        return bool(self.model.covers(self.at)[0]) and self.model.proven

    @property
    def variance(self) -> float:
        """Of a normal distribution whose 95 % interval is as wide."""
        return float((self.scale * as_normal(np.array([DF]))[0]) ** 2)


class Finished(NamedTuple):
    """A finished run: its row, its log loss at some share of its way, and at its end."""

    row: int
    prefix: float
    end: float


def predict_end(study: LiveStudy, ledger: Ledger, trial: Trial) -> PredictedEnd | None:
    """The end of a run from its losses so far; None with too few finished runs."""
    row = study.candidates.row_of(trial.config)
    if row is None or trial.report is None or not trial.D > 0.0:
        return None
    known = _finished(study, ledger, trial.report[0] / trial.D)
    if len(known) < LEAST_RUNS:
        return None
    known = [known[i] for i in evenly_spaced(len(known), MOST_RUNS).tolist()]
    at = points_of(study.grid, np.array([row, *(one.row for one in known)]))
    a, b = (np.array([getattr(one, name) for one in known]) for name in ("prefix", "end"))
    model = Prefixes(at.take(np.arange(1, len(at))), a, b)
    own = at.take(np.arange(1))
    mean, scale = model.predict(own, np.array([smoothed(trial.reports, trial.report[0])]))
    return PredictedEnd(row, own, float(mean[0]), float(scale[0]), model)


def _finished(study: LiveStudy, ledger: Ledger, share: float) -> list[Finished]:
    """Finished runs that have losses about this share of their way."""
    found = []
    for trial in ledger.trials.values():
        if trial.kind != "run" or trial.stage is not Stage.FINISHED or trial.loss is None:
            continue
        row = study.candidates.row_of(trial.config)
        reports = [
            (D, loss) for D, loss in trial.reports if SCALE.contains(D) and LOSS.contains(loss)
        ]
        if row is None or not reports or not LOSS.contains(trial.loss):
            continue
        prefix = smoothed(reports, share * trial.D)
        if np.isfinite(prefix):
            found.append(Finished(row, prefix, float(np.log(trial.loss))))
    return found


def points_of(grid: Grid, rows: IntArray) -> Points:
    """Coordinates of rows of a grid: logs of scales, numeric hyperparameters, categories as 0/1."""
    numeric, categories = [], []
    for axis in grid.axes:
        column = grid.columns[axis.name]
        if axis.name in ("N", "D"):
            continue
        if axis.kind == "categorical":
            categories += [np.equal(column[rows], level) for level in np.unique(column)]
        elif axis.kind == "log":
            numeric.append(np.log(column[rows]))
        elif column.std() > 0.0:
            numeric.append(column[rows] / column.std())
    empty = np.empty((len(rows), 0))
    return Points(
        np.log(np.stack([grid.N[rows], grid.D[rows]], axis=1)),
        np.stack(numeric, axis=1) if numeric else empty,
        np.stack(categories, axis=1).astype(np.float64) if categories else empty,
        np.log(grid.C[rows]),
    )


def stopped_ends(study: LiveStudy, ledger: Ledger, rows: IntArray) -> Hints:
    """The ends that stopped runs would have had, by their place in ``rows`` of the study's grid."""
    stopped = [t for t in ledger.trials.values() if t.kind == "run" and t.reason == STOPPED]
    found = [predict_end(study, ledger, trial) for trial in stopped]
    ends = [end for end in found if end is not None and end.row in rows]
    places = np.searchsorted(rows, np.array([end.row for end in ends], dtype=np.int64))
    mean, variance = (np.array([getattr(e, name) for e in ends]) for name in ("mean", "variance"))
    return Hints(places, mean, variance, np.ones(len(ends)))
