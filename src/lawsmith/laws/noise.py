"""The noise of single runs, and a smooth loss surface to tell it from real differences.

A frontier is a minimum over noisy runs, so how optimistic it is depends on the noise of a run
and on how many runs nearly tie. Both are read off a regression of log loss on all inputs: an
intercept per (N, D) cell and a cubic bowl in the hyperparameters whose centre drifts with scale,
fitted to the runs near each cell's best, where a bowl is a fair description.

Notation and shapes: m runs; y (m,) log loss; h (m, k) hyperparameters and s (m, l) scale inputs,
both in the unit cube; cells (m,) ids of equal scale inputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from lawsmith.grid import BoolArray, FloatArray, IntArray

NEAR = 5.0  # a run is near its cell's best when its fitted loss is within this many noise SDs
MIN_NEAR = 6  # runs of a cell that always count as near, so that a bowl can be seen
MIN_DOF = 8
_PASSES = 6


@dataclass(frozen=True)
class Surface:
    """A smooth estimate of log loss (m,), the runs it was fitted to, and the noise around it."""

    mean: FloatArray  # (m,) only to be trusted where near
    near: BoolArray  # (m,)
    noise_sd: float  # of log loss
    dof: int
    span: FloatArray  # (n_near, rank) orthonormal: the surfaces the regression can reach

    def smooth(self, y: FloatArray) -> FloatArray:
        """The regression of other losses on the same near runs: (B, n_near) → (B, n_near)."""
        return np.asarray((y @ self.span) @ self.span.T)


def smooth_surface(y: FloatArray, h: FloatArray, s: FloatArray, cells: IntArray) -> Surface | None:
    """The surface, or None when there are too few runs to tell noise from shape."""
    best = _cell_least(y, cells)
    near = y - best[cells] <= np.quantile(y - best[cells], 0.8)
    surface: Surface | None = None
    for _ in range(_PASSES):
        surface = _best_regression(y, _bases(h, s, cells, near), near)
        if surface is None:
            return None
        near = _nearest(surface, cells) & _plausible(surface, y)
    return surface


def _cell_least(y: FloatArray, cells: IntArray) -> FloatArray:
    least = np.full(int(cells.max()) + 1, np.inf)
    np.minimum.at(least, cells, y)
    return least


def _nearest(surface: Surface, cells: IntArray) -> BoolArray:
    """The runs that noise could make a cell's best.

    Chosen by *fitted* loss: choosing by observed loss would truncate the noise.
    """
    excess = surface.mean - _cell_least(surface.mean, cells)[cells]
    order = np.lexsort((excess, cells))
    _, start, size = np.unique(cells[order], return_index=True, return_counts=True)
    rank = np.empty(len(cells), dtype=np.int64)
    rank[order] = np.arange(len(cells)) - np.repeat(start, size)
    return np.asarray((excess <= NEAR * surface.noise_sd) | (rank < MIN_NEAR))


def _plausible(surface: Surface, y: FloatArray) -> BoolArray:
    """Not an outlier: a run that went wrong says nothing about the noise of those that did not."""
    residual = y - surface.mean
    middle = float(np.median(np.abs(residual[surface.near])))
    return np.asarray(np.abs(residual) <= 3.5 * 1.4826 * middle)


def _bases(h: FloatArray, s: FloatArray, cells: IntArray, near: BoolArray) -> list[FloatArray]:
    """Nested sets of columns (m, b), centred on the near runs: flat, bowl, drifting, skewed."""
    u, v = h - h[near].mean(axis=0), s - s[near].mean(axis=0)
    flat = _indicators(cells) if _crowded(cells) else _polynomial(v, 3)
    bases = [flat]
    if u.shape[1]:
        drift = (u[:, :, None] * v[:, None, :]).reshape(len(u), -1)
        for block in (_polynomial(u, 2)[:, 1:], drift, u**3):
            bases.append(np.concatenate([bases[-1], block], axis=1))
    return bases


def _indicators(cells: IntArray) -> FloatArray:
    return np.asarray(cells[:, None] == np.unique(cells)[None, :], dtype=float)


def _best_regression(y: FloatArray, bases: list[FloatArray], near: BoolArray) -> Surface | None:
    """The regression of least BIC: a rougher surface than the data ask for hides near ties."""
    n = int(near.sum())
    found = [r for r in (_regress(y, basis, near) for basis in bases) if r is not None]
    if not found:
        return None

    def bic(r: Surface) -> float:
        rank = n - r.dof
        return n * float(np.log(max(r.noise_sd**2 * r.dof / n, 1e-300))) + rank * float(np.log(n))

    return min(found, key=bic)


def _crowded(cells: IntArray) -> bool:
    """Whether cells have runs enough for an intercept each."""
    return len(cells) >= 5 * len(np.unique(cells))


def _polynomial(u: FloatArray, degree: int) -> FloatArray:
    columns = [np.ones(len(u))]
    for d in range(1, degree + 1):
        for powers in combinations_with_replacement(range(u.shape[1]), d):
            columns.append(np.prod(u[:, powers], axis=1))
    return np.stack(columns, axis=1)


def _regress(y: FloatArray, basis: FloatArray, near: BoolArray) -> Surface | None:
    left, singular, right = np.linalg.svd(basis[near], full_matrices=False)
    rank = int((singular > 1e-9 * singular[0]).sum())
    dof = int(near.sum()) - rank
    if dof < MIN_DOF:
        return None
    span = left[:, :rank]
    coefficients = right[:rank].T @ ((span.T @ y[near]) / singular[:rank])
    mean = basis @ coefficients
    residual = y[near] - mean[near]
    return Surface(mean, near, float(np.sqrt((residual**2).sum() / dof)), dof, span)
