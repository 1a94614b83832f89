"""Missing losses, inferred from another loss of the same runs.

A run with an unlucky seed, an unusual shape or a poor learning rate is off in all of its losses, so
one loss of a run predicts another one better than N and D do.

Notation and shapes
    n runs have both losses, r runs only the other one
    a, b  (n,) log of the known loss, and of the missing one
    X     (n, d) coordinates of a run: logs of scales, hyperparameters, 0/1 columns of categories
    F     (n, p) features: 1, a, a², X, products of scales, a·categories; each times the prior SD of
          its weight
    w     (p,) standard normal weights; b = b̄ + (a − ā) + F w + e, e ~ N(0, s²)

The surface takes b̄ + (a − ā) + F w of the r runs as their losses. That is the surface at those runs
plus the part of their noise that both losses share. The other part, e, is not in it, so only the
uncertainty of w is added to the variance of a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from lawsmith.arrays import BoolArray, FloatArray, IntArray, evenly_spaced
from lawsmith.grid import Grid
from lawsmith.runs import Runs, State
from lawsmith.surface import Inferred, Surface
from lawsmith.surface.fit import columns_of, frame_on
from lawsmith.surface.frame import Points

LEAST_SHARED = 12  # runs with both losses; with fewer, leaving runs out is a poor test of the curve
MOST_ROWS = 200  # that are inferred from one loss; of more, a part that is even over compute
# Prior SDs of the weights: of the intercept, of the slope about 1, of the curvature, of a scale or
# hyperparameter (log loss for a factor of e), of a product of two scales, of a category and of its
# slope. These, CLEARLY and DRIFT were chosen on the studies of docs/tasks.md.
LEVEL, SLOPE, CURVATURE, COORDINATE, BEND, CATEGORY = 1.0, 0.5, 0.3, 0.02, 0.004, 0.3
# A curve is used if its error on left-out runs is at most this share of the surface's. A smaller
# gain is not enough: the curve is less certain beyond the runs that have both losses.
CLEARLY = 0.5
# SD of the curve's error beyond the runs that have both losses, for a factor of e in compute.
DRIFT = 0.005
USUAL_SCATTER = 0.005  # s is expected within a factor of e² of it
SCATTERS = np.geomspace(2e-4, 0.2, 60)


@dataclass(frozen=True)
class Relation:
    """One loss as a function of another.

    name      name of the other loss
    n_shared  number of runs that have both
    n_rows    number of losses that were inferred
    scatter   SD of the log of a run's loss about the curve
    """

    name: str
    n_shared: int
    n_rows: int
    scatter: float


@dataclass(frozen=True, eq=False)
class OtherLosses:
    """What an answer used of other losses of its runs; ``n_without`` runs lack its own."""

    n_without: int
    relations: tuple[Relation, ...] = ()


@dataclass(frozen=True, eq=False)
class LossCurve:
    """The posterior of a relation; make it with `fit_curve`.

    centre      means (a, b) and of X (d,)
    mean, cov   of w
    left_out    (n,) b minus its prediction from the other runs
    top         ln C of the largest run that has both, on the scale of `Points.c`
    """

    centre: tuple[float, float, FloatArray]
    mean: FloatArray
    cov: FloatArray
    scatter: float
    left_out: FloatArray
    top: float

    def predict(self, a: FloatArray, at: Points) -> tuple[FloatArray, FloatArray]:
        """(r,) b without e, and its covariance (r, r)."""
        F = _features(a - self.centre[0], at, self.centre[2])
        beyond = DRIFT * np.maximum(at.c - self.top, 0.0)
        cov = F @ self.cov @ F.T + np.outer(beyond, beyond)
        return self.centre[1] + a - self.centre[0] + F @ self.mean, cov


def _features(a: FloatArray, at: Points, middle: FloatArray) -> FloatArray:
    """F of runs; ``a`` has its mean subtracted, ``middle`` (d,) is the mean of X."""
    X = at.X - middle
    g = at.G.shape[1]
    sd = np.full(X.shape[1], COORDINATE)
    sd[X.shape[1] - g :] = CATEGORY
    first = np.column_stack([np.full(len(a), LEVEL), SLOPE * a, CURVATURE * a**2])
    S = X[:, : at.S.shape[1]]
    i, j = np.triu_indices(S.shape[1])
    bends = BEND * S[:, i] * S[:, j]
    return np.column_stack([first, X * sd, bends, CATEGORY * a[:, None] * at.G])


def fit_curve(a: FloatArray, b: FloatArray, at: Points) -> LossCurve:
    """The relation of two losses, averaged over the values that the scatter may have."""
    centre = (float(a.mean()), float(b.mean()), at.X.mean(axis=0))
    F, t = _features(a - centre[0], at, centre[2]), b - centre[1] - (a - centre[0])
    n, p = F.shape
    gram, moment = F.T @ F, F.T @ t
    logs, means, covs = [], [], []
    for s in SCATTERS:
        precision = np.eye(p) + gram / s**2
        cov = np.linalg.inv(precision)
        mean = cov @ moment / s**2
        fit = -0.5 * float(t @ t - mean @ moment) / s**2 - n * np.log(s)
        volume = -0.5 * float(np.linalg.slogdet(precision)[1])
        logs.append(fit + volume - 0.5 * np.log(s / USUAL_SCATTER) ** 2)
        means.append(mean)
        covs.append(cov)
    chance = np.exp(np.array(logs) - max(logs))
    chance /= chance.sum()
    mean = chance @ np.array(means)
    off = np.array(means) - mean
    cov = np.tensordot(chance, np.array(covs), 1) + (off * chance[:, None]).T @ off
    scatter = float(np.sqrt(chance @ SCATTERS**2))
    hat = np.einsum("ij,jk,ik->i", F, np.linalg.inv(gram + scatter**2 * np.eye(p)), F)
    left_out = (t - F @ mean) / np.maximum(1.0 - hat, 1e-3)
    return LossCurve(centre, mean, cov, scatter, left_out, float(at.c.max()))


def relate(
    surface: Surface, grid: Grid, runs: Runs, others: Mapping[str, FloatArray]
) -> tuple[OtherLosses, Inferred | None]:
    """The relations that are used, and losses inferred for the pending runs, for the surface.

    surface   fitted to the runs that have their own loss
    others    (k,) each other loss of ``runs``, in their order; NaN if a run lacks it

    A loss is used if it predicts left-out runs clearly better than the surface does. Each run is
    inferred from the best such loss that it has.
    """
    done = runs.state == State.DONE.value
    lacking = runs.state == State.PENDING.value
    scales, hp, _ = columns_of(grid, runs.index)
    at = frame_on(grid, runs).points(scales, hp)
    logs = {name: np.log(np.where(v > 0.0, v, np.nan)) for name, v in others.items()}
    # Rows are placed by N and D; a study of C alone has none.
    curves = _curves(logs, np.log(runs.loss), done, at) if "D" in scales else {}
    bar = CLEARLY * _typical(surface.heaviest.left_out())
    relations, parts = [], []
    for name, curve in sorted(curves.items(), key=lambda one: _typical(one[1].left_out)):
        a = logs[name]
        # At larger losses than these, where runs failed, the curve is not needed.
        able = lacking & np.isfinite(a) & (a <= a[done & np.isfinite(a)].max())
        if _typical(curve.left_out) >= bar or not able.any():
            continue
        rows = np.flatnonzero(able)
        rows = rows[np.argsort(grid.C[runs.index][rows], kind="stable")]
        rows = rows[evenly_spaced(len(rows), MOST_ROWS)]
        n_shared = int((done & np.isfinite(a)).sum())
        relations.append(Relation(name, n_shared, int(able.sum()), curve.scatter))
        parts.append((rows, *curve.predict(a[rows], at.take(rows))))
        lacking = lacking & ~able
    used = OtherLosses(int((runs.state == State.PENDING.value).sum()), tuple(relations))
    return used, _rows(parts, grid, runs) if parts else None


def _curves(
    logs: Mapping[str, FloatArray], own: FloatArray, done: BoolArray, at: Points
) -> dict[str, LossCurve]:
    """The relation of ``own`` log losses to each other loss that enough runs share."""
    shared = {name: done & np.isfinite(a) for name, a in logs.items()}
    return {
        name: fit_curve(logs[name][both], own[both], at.take(both))
        for name, both in shared.items()
        if both.sum() >= LEAST_SHARED
    }


def _typical(left_out: FloatArray) -> float:
    return float(np.median(np.abs(left_out)))


def _rows(parts: list[tuple[IntArray, FloatArray, FloatArray]], grid: Grid, runs: Runs) -> Inferred:
    """Rows for the surface; the errors of different relations are independent."""
    rows, y, errors = zip(*parts, strict=True)
    of = runs.index[np.concatenate(rows)]
    scales, hp, _ = columns_of(grid, of)
    return Inferred(
        {name: values for name, values in scales.items() if name != "C"},
        hp,
        np.concatenate(y),
        block_diag(*errors),
        np.full(len(of), -1),
        np.full(len(runs), -1),
    )
