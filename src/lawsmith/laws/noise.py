"""The noise of single runs, and a smooth loss surface to tell it from real differences.

A frontier is a minimum over noisy runs, so how optimistic it is depends on the noise of a run
and on how many runs nearly tie. Both are read off a regression of log loss on all inputs: an
intercept per (N, D) cell and a cubic bowl in the hyperparameters whose centre drifts with scale,
fitted to the runs near the frontier, where a bowl is a fair description.

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

# No number here was fitted to a study: coverage on drawn laws judged them (docs/coverage.md).
# A run is near the frontier when its fitted loss is within this many noise SDs of it: of two runs
# so far apart, noise makes the worse one look better in 2 of 10,000 cases.
NEAR = 5.0
FIRST_NEAR = 0.8  # share of runs that the first pass takes: the worst are those gone wrong
MIN_NEAR = 6  # runs of a cell on the frontier that always count: twice the coefficients of a bowl
CROWDED = 5  # runs a cell: with fewer, an intercept each would take over a fifth of the freedom
MIN_DOF = 8  # the noise is then known to a quarter: 1/√(2·8)
OUTLIER = 3.5  # SDs beyond which a run went wrong: one good run in two thousand is
MOST_RUNS = 10_000  # an array of all inner redraws, 400 of each run, then has 32 MB
# Passes of fitting and choosing the near runs. Only runs at the edge still come and go in the last:
# 5 of 909 of OELLM-English, for L(C).
PASSES = 6


Floor = Callable[[FloatArray], FloatArray]  # log losses (m,) → the frontier's level there (m,)


@dataclass(frozen=True)
class NoiseSurface:
    """A smooth estimate of log loss (m,), the runs it was fitted to, and the noise around it."""

    mean: FloatArray  # (m,) only to be trusted where near
    near: BoolArray  # (m,)
    noise_sd: float  # of log loss
    dof: int
    groups: FloatArray  # (n_near, g) 1 where a near run belongs to an intercept
    span: FloatArray  # (n_near, r) orthonormal and orthogonal to the groups: shapes it can take

    def smooth(self, y: FloatArray) -> FloatArray:
        """The regression of other losses on the same near runs: (B, n_near) → (B, n_near)."""
        centre = _group_means(y, self.groups)
        return np.asarray(centre + (y @ self.span) @ self.span.T)


@saturating
def smooth_surface(
    y: FloatArray, h: FloatArray, s: FloatArray, cells: IntArray, *, floor: Floor
) -> NoiseSurface | None:
    """The surface near the frontier, or None when there are too few runs to tell noise from shape.

    None as well of more than MOST_RUNS runs: their redrawn frontiers would not fit in memory.
    ``floor(mean)`` is the frontier's own level at each run: the best of its cell, or the best at
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

    Chosen by *fitted* loss: choosing by observed loss would truncate the noise. A crowded cell
    with any such run keeps its best few, so that a bowl can be seen.
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
    """Not an outlier: a run that went wrong says nothing about the noise of those that did not."""
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
    """(m, g) which intercept each run has: its cell's where cells are crowded, else one for all."""
    ids = cells if _crowded(cells) else np.zeros_like(cells)
    return np.asarray(ids[:, None] == np.unique(ids), dtype=float)


def _group_means(y: FloatArray, groups: FloatArray) -> FloatArray:
    """The mean of each run's group, for y (…, n) and groups (n, g)."""
    return np.asarray((y @ groups / np.maximum(groups.sum(axis=0), 1)) @ groups.T)


def _best_regression(
    y: FloatArray, shapes: list[FloatArray], near: BoolArray, cells: IntArray
) -> NoiseSurface | None:
    """The regression of least BIC: a rougher surface than the data ask for hides near ties."""
    n = int(near.sum())
    fits = (_regress(y, shape, near, cells) for shape in shapes)
    found = [fit for fit in fits if fit is not None]
    if not found:
        return None

    def bic(r: NoiseSurface) -> float:
        rank = n - r.dof
        return n * float(np.log(max(r.noise_sd**2 * r.dof / n, 1e-300))) + rank * float(np.log(n))

    return min(found, key=bic)


def _crowded(cells: IntArray) -> bool:
    """Whether cells have runs enough for an intercept each."""
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
    """Least squares on intercepts and ``shape`` (m, b), the intercepts swept out first."""
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
    mean = np.where(_occupied(every, near), mean, np.inf)
    residual = y[near] - mean[near]
    noise_sd = float(np.sqrt((residual**2).sum() / dof))
    return NoiseSurface(mean, near, noise_sd, dof, groups, span)


def _occupied(groups: FloatArray, near: BoolArray) -> BoolArray:
    """Runs whose intercept was fitted: some near run shares it."""
    return np.asarray(groups @ groups[near].any(axis=0) > 0)
