"""The noise of single runs, and a smooth loss surface that separates it from real differences.

A frontier is a minimum over noisy runs. How optimistic it is depends on the noise of a run and on
how many runs nearly tie. Both follow from a regression of log loss on all inputs: an intercept per
(N, D) cell and a cubic bowl in the hyperparameters, whose centre drifts with scale. It is fitted to
the runs near the frontier, where a bowl describes the loss well.

Notation and shapes: m runs; y (m,) log loss; h (m, k) hyperparameters and s (m, l) scale inputs,
both in the unit cube; cells (m,) ids of equal scale inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from lawsmith.arrays import robust_sd, saturating
from lawsmith.grid import BoolArray, FloatArray, IntArray

# No number here was fitted to a study; they were chosen by coverage on drawn laws
# (docs/coverage.md). A run is near the frontier if its fitted loss is within this many noise SDs of
# it: of two runs so far apart, noise makes the worse one look better in 2 of 10,000 cases.
NEAR = 5.0
FIRST_NEAR = 0.8  # share of runs in the first pass: the worst runs often went wrong
MIN_NEAR = 6  # runs of a frontier cell that always count: twice the coefficients of a bowl
CROWDED = 5  # runs per cell: with fewer, intercepts would use over a fifth of the freedom
MIN_DOF = 8  # the noise is then known to a quarter: 1/√(2·8)
OUTLIER = 3.5  # SDs beyond which a run went wrong; one good run in two thousand is so far off
MOST_RUNS = 10_000  # an array of all inner redraws, 400 of each run, then has 32 MB
# Passes of fitting and choosing the near runs. In the last pass only few runs at the edge change:
# 5 of 909 of OELLM-English, for L(C).
PASSES = 6


Floor = Callable[[FloatArray], FloatArray]  # log losses (m,) → the frontier's level there (m,)


@dataclass(frozen=True)
class NoiseSurface:
    """A smooth estimate of log loss (m,), the runs it was fitted to, and the noise around it."""

    mean: FloatArray  # (m,) only reliable for near runs
    near: BoolArray  # (m,)
    noise_sd: float  # of log loss
    dof: int
    groups: FloatArray  # (n_near, g) 1 where a near run belongs to an intercept
    span: FloatArray  # (n_near, r) basis of its shapes, orthonormal and orthogonal to the groups

    def smooth(self, y: FloatArray) -> FloatArray:
        """The regression of other losses on the same near runs: (B, n_near) → (B, n_near)."""
        centre = _group_means(y, self.groups)
        return np.asarray(centre + (y @ self.span) @ self.span.T)


@saturating
def smooth_surface(
    y: FloatArray, h: FloatArray, s: FloatArray, cells: IntArray, *, floor: Floor
) -> NoiseSurface | None:
    """The surface near the frontier; None with too few runs to separate noise from shape.

    Also None with more than MOST_RUNS runs, whose redrawn frontiers would not fit in memory.
    ``floor(mean)`` is the level of the frontier at each run: the best of its cell, or the best of
    no more compute.
    """
    if len(y) > MOST_RUNS:
        return None
    excess = y - floor(y)
    near = excess <= np.quantile(excess, FIRST_NEAR)
    surface: NoiseSurface | None = None
    for _ in range(PASSES):
        surface = _best_regression(y, _shapes(h, s, cells, near), near, cells)
        if surface is None:
            return None
        near = _nearest(surface, cells, floor) & _plausible(surface, y)
        if not near.any():
            return None
    return surface


def _nearest(surface: NoiseSurface, cells: IntArray, floor: Floor) -> BoolArray:
    """The runs that noise could put on the frontier.

    They are chosen by *fitted* loss: choosing by observed loss would truncate the noise. A crowded
    cell with any such run also keeps its best few, which show the bowl.
    """
    level = floor(surface.mean)
    excess = np.where(np.isfinite(surface.mean), surface.mean, 1e9) - level
    near = excess <= NEAR * surface.noise_sd
    if not _crowded(cells):
        return np.asarray(near)
    order = np.lexsort((excess, cells))
    _, start, size = np.unique(cells[order], return_index=True, return_counts=True)
    rank = np.empty(len(cells), dtype=np.int64)
    rank[order] = np.arange(len(cells)) - np.repeat(start, size)
    return np.asarray(near | (np.isin(cells, cells[near]) & (rank < MIN_NEAR)))


def _plausible(surface: NoiseSurface, y: FloatArray) -> BoolArray:
    """Runs that are no outliers: a run that went wrong does not show the noise of good runs."""
    residual = y - surface.mean
    return np.asarray(np.abs(residual) <= OUTLIER * robust_sd(residual[surface.near]))


def _shapes(h: FloatArray, s: FloatArray, cells: IntArray, near: BoolArray) -> list[FloatArray]:
    """Nested sets of columns (m, b), centred on the near runs: flat, bowl, drifting, skewed."""
    u, v = h - h[near].mean(axis=0), s - s[near].mean(axis=0)
    shapes = [np.empty((len(u), 0)) if _crowded(cells) else _polynomial(v, 3)]
    if u.shape[1]:
        drift = (u[:, :, None] * v[:, None, :]).reshape(len(u), -1)
        for block in (_polynomial(u, 2), drift, u**3):
            shapes.append(np.concatenate([shapes[-1], block], axis=1))
    return shapes


def _groups(cells: IntArray) -> FloatArray:
    """(m, g) the intercept of each run: one per cell if cells are crowded, else one for all."""
    ids = cells if _crowded(cells) else np.zeros_like(cells)
    return np.asarray(ids[:, None] == np.unique(ids), dtype=float)


def _group_means(y: FloatArray, groups: FloatArray) -> FloatArray:
    """The mean of each run's group, for y (…, n) and groups (n, g)."""
    return np.asarray((y @ groups / np.maximum(groups.sum(axis=0), 1)) @ groups.T)


def _best_regression(
    y: FloatArray, shapes: list[FloatArray], near: BoolArray, cells: IntArray
) -> NoiseSurface | None:
    """The regression of least BIC: a surface that is too rough would hide near ties."""
    n = int(near.sum())
    fits = (_regress(y, shape, near, cells) for shape in shapes)
    possible = [fit for fit in fits if fit is not None]
    if not possible:
        return None

    def bic(r: NoiseSurface) -> float:
        rank = n - r.dof
        return n * float(np.log(max(r.noise_sd**2 * r.dof / n, 1e-300))) + rank * float(np.log(n))

    return min(possible, key=bic)


def _crowded(cells: IntArray) -> bool:
    """Whether cells have enough runs for an intercept each."""
    return len(cells) >= CROWDED * len(np.unique(cells))


def _polynomial(u: FloatArray, degree: int) -> FloatArray:
    """Monomials of degree 1 to ``degree``, (m, b)."""
    columns = []
    for d in range(1, degree + 1):
        for powers in combinations_with_replacement(range(u.shape[1]), d):
            columns += [np.prod(u[:, powers], axis=1)]
    return np.stack(columns, axis=1)


def _regress(
    y: FloatArray, shape: FloatArray, near: BoolArray, cells: IntArray
) -> NoiseSurface | None:
    """Least squares on intercepts and ``shape`` (m, b); the intercepts are removed first."""
    every = _groups(cells)
    groups = every[near][:, every[near].any(axis=0)]
    inside = shape[near]
    centred = inside - _group_means(inside.T, groups).T
    span, singular, right = np.linalg.svd(centred, full_matrices=False)
    rank = int((singular > 1e-9 * max(singular.max(initial=0.0), 1e-12)).sum())
    dof = int(near.sum()) - groups.shape[1] - rank
    if dof < MIN_DOF:
        return None
    span = span[:, :rank]
    slope = right[:rank].T @ ((span.T @ y[near]) / singular[:rank])
    level = (y[near] - inside @ slope) @ every[near] / np.maximum(every[near].sum(axis=0), 1)
    mean = shape @ slope + every @ level
    fitted = every @ every[near].any(axis=0) > 0  # runs that share their intercept with a near run
    mean = np.where(fitted, mean, np.inf)
    residual = y[near] - mean[near]
    noise_sd = float(np.sqrt((residual**2).sum() / dof))
    return NoiseSurface(mean, near, noise_sd, dof, groups, span)
