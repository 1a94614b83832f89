"""The factorisation that makes one more observation cheap: a Cholesky factor that grows by rows.

Notation and shapes
    m candidates, k observed; K (k, k) covariance of the targets with noise, k_X (k, m) covariance
    of targets and candidates
    L  (k, k) lower factor of K
    V  (k, m) L⁻¹ k_X, so posterior variance = prior variance − Σ_i V_i²
    u, o  (k,) L⁻¹ y and L⁻¹ 1, so the mean is c + Vᵀ(u − c·o) for any constant c

Every row that can be observed is a candidate. So column x of V is already L⁻¹ k(X, x), the new row
of L when x is observed, and an observation costs one product with V: O(k·m).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

import numpy as np

from lawsmith.grid import FloatArray, IntArray
from lawsmith.surface.process import cholesky, whiten

BLOCK, WIDTH = 2**18, 64  # covariances worked out at a time (2 MB), and candidates at least
# Covariances (len(rows), len(others)) of candidates; (len(rows), m) with all of them for None.
Cross = Callable[[IntArray, IntArray | None], FloatArray]


class Factor:
    """A growing factorisation at fixed hyperparameters; `extend` is the only thing that changes it.

    Rows beyond ``k`` of the arrays are room to grow.

    prior   (m,) prior variance of every candidate
    noise   (k,) variance of each target about the surface
    """

    def __init__(
        self, cross: Cross, prior: FloatArray, rows: IntArray, y: FloatArray, noise: FloatArray
    ) -> None:
        k = len(rows)
        self.cross, self.prior, self.k = cross, prior, k
        K = cross(rows, rows)
        K[np.diag_indices_from(K)] += noise
        L = cholesky(K)
        u, o = whiten(L, y), whiten(L, np.ones(k))
        self._store(rows, L, u, o)
        self.V = np.empty((len(self.u), len(prior)))
        self._whiten()
        V = self.V[:k]
        self.explained = np.einsum("ij,ij->j", V, V)  # (m,) variance removed so far
        self.Vu, self.Vo = u @ V, o @ V

    def _store(self, rows: IntArray, L: FloatArray, u: FloatArray, o: FloatArray) -> None:
        """Store the arrays that have a row for each observation, with room for a quarter more."""
        room = max(16, len(u) // 4)
        self.rows, self.L = np.pad(rows, (0, room)), np.pad(L, (0, room))
        self.u, self.o = np.pad(u, (0, room)), np.pad(o, (0, room))

    def _whiten(self) -> None:
        """Compute the first k rows of V, a few candidates at a time to fit into the cache."""
        k, m = self.k, self.V.shape[1]
        L, rows, width = self.L[:k, :k], self.rows[:k], max(WIDTH, BLOCK // self.k)
        for start in range(0, m, width):
            end = min(start + width, m)
            self.V[:k, start:end] = whiten(L, self.cross(rows, np.arange(start, end)))

    def _grow(self) -> None:
        """Room for a quarter more observations, in arrays of its own."""
        k, before = self.k, self.V
        self._store(self.rows[:k], self.L[:k, :k], self.u[:k], self.o[:k])
        self.V = np.empty((len(self.u), before.shape[1]))
        self.V[:k] = before[:k]

    def extend(self, row: int, y: float, noise: float) -> None:
        """One more observation, of ``row``, whose column of V becomes the new row of L."""
        if self.k == len(self.u):
            self._grow()
        k = self.k
        column = self.V[:k, row].copy()
        prior = self.cross(np.array([row]), None)[0]
        variance = prior[row] + noise - column @ column
        # Rounding can eat a variance no larger than the noise, so the noise bounds it from below.
        pivot = float(np.sqrt(max(variance, 1e-3 * noise)))
        self.L[k, :k], self.L[k, k] = column, pivot
        self.V[k] = (prior - column @ self.V[:k]) / pivot
        self.u[k] = (y - column @ self.u[:k]) / pivot
        self.o[k] = (1.0 - column @ self.o[:k]) / pivot
        self.rows[k] = row
        self.explained = self.explained + self.V[k] ** 2
        self.Vu = self.Vu + self.u[k] * self.V[k]
        self.Vo = self.Vo + self.o[k] * self.V[k]
        self.k = k + 1

    def whitened(self, M: FloatArray) -> FloatArray:
        """L⁻¹ M, for M (k, ·)."""
        return whiten(self.L[: self.k, : self.k], M)

    def constant(self) -> float:
        """c, the generalised least-squares mean of the targets."""
        u, o = self.u[: self.k], self.o[: self.k]
        return float(o @ u / (o @ o))

    def mean(self, c: float) -> FloatArray:
        """(m,) posterior mean, standardised."""
        return np.asarray(c + self.Vu - c * self.Vo)

    def variance(self) -> FloatArray:
        """(m,) posterior variance of the surface, standardised."""
        return np.asarray(np.maximum(self.prior - self.explained, 0.0))

    def frozen(self) -> Factor:
        """This factorisation as it is now, to read from while this one grows; shares its arrays."""
        return copy(self)

    def copy(self) -> Factor:
        """A factorisation that can be extended without touching this one."""
        twin = copy(self)
        twin._grow()
        return twin
