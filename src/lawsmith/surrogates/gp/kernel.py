"""The four kernels of the paper on a grid's unit cube, their hyperparameters and gradients.

Notation and shapes
    X     (m, d) the unit cube of the grid; a kernel reads some of its columns
    eta   (h,) logs of the hyperparameters: lengthscales ℓ, then outputscale s where there is one,
          then linear variance v where there is one, then the noise variance σ²
    K     k(x, x') = s·k_5/2(r) + v·x·x',  r² = Σ_i (x_i − x'_i)² / ℓ_i²
          k_5/2(r) = (1 + √5 r + 5r²/3)·exp(−√5 r)

    matern         Matérn-5/2 with a lengthscale a column, on all columns
    linear         v·x·x' on all columns
    matern+linear  their sum
    grouped        linear on the columns of N and D, Matérn on those of λ
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawsmith.grid import FloatArray, Grid, IntArray
from lawsmith.surrogates.gp.priors import Hyper, priors_named
from lawsmith.surrogates.inputs import kernel_columns

ROOT5 = np.sqrt(5.0)


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel on the rows of a grid.

    matern, linear   (m, ·) the columns each part reads; no columns, no part
    hypers           (h,) prior, start and least value of every hyperparameter, in eta's order
    scaled           whether the Matérn has an outputscale
    """

    matern: FloatArray
    linear: FloatArray
    hypers: tuple[Hyper, ...]
    scaled: bool

    @property
    def n_lengthscales(self) -> int:
        return int(self.matern.shape[1])

    @property
    def start(self) -> FloatArray:
        """(h,) eta at which a search without a better idea begins."""
        return np.log([hyper.start for hyper in self.hypers])

    @property
    def least(self) -> FloatArray:
        """(h,) lower bounds of eta."""
        return np.log([hyper.least for hyper in self.hypers])

    def lengthscales(self, eta: FloatArray) -> FloatArray:
        return np.exp(eta[: self.n_lengthscales])

    def outputscale(self, eta: FloatArray) -> float:
        return float(np.exp(eta[self.n_lengthscales])) if self.scaled else 1.0

    def linear_variance(self, eta: FloatArray) -> float:
        return float(np.exp(eta[-2])) if self.linear.shape[1] else 0.0

    @staticmethod
    def noise(eta: FloatArray) -> float:
        return float(np.exp(eta[-1]))

    def cross(self, eta: FloatArray, rows: IntArray, others: IntArray | None = None) -> FloatArray:
        """(len(rows), len(others)) covariances; with all rows of the grid when none are said."""
        other = slice(None) if others is None else others
        K = np.zeros((len(rows), len(self.matern[other])))
        if self.n_lengthscales:
            scaled = self.matern / self.lengthscales(eta)
            K += self.outputscale(eta) * matern(distances(scaled[rows], scaled[other]))
        if self.linear.shape[1]:
            K += self.linear_variance(eta) * (self.linear[rows] @ self.linear[other].T)
        return K

    def variances(self, eta: FloatArray) -> FloatArray:
        """(m,) prior variance of every row."""
        stationary = self.outputscale(eta) if self.n_lengthscales else 0.0
        return np.asarray(stationary + self.linear_variance(eta) * (self.linear**2).sum(axis=1))

    def among(self, eta: FloatArray, rows: IntArray) -> Among:
        """Covariances among ``rows``, with what their gradient needs."""
        X = self.linear[rows]
        K = self.linear_variance(eta) * (X @ X.T)
        Z = self.matern[rows] / self.lengthscales(eta)
        if not self.n_lengthscales:
            return Among(self, eta, K, X, Z, K, K)
        t = ROOT5 * distances(Z, Z)
        decay = np.exp(-t)
        correlation = (1.0 + t + t * t / 3.0) * decay
        return Among(self, eta, K + self.outputscale(eta) * correlation, X, Z, t, decay)

    def log_prior(self, eta: FloatArray) -> tuple[float, FloatArray]:
        """Log density of the hyperpriors at eta, and its gradient (h,)."""
        values = [float(h.prior.log_density(e)) for h, e in zip(self.hypers, eta, strict=True)]
        slopes = [float(h.prior.slope(e)) for h, e in zip(self.hypers, eta, strict=True)]
        return sum(values), np.array(slopes)


@dataclass(frozen=True, eq=False)
class Among:
    """Covariances K (k, k) among k rows, and the parts from which their gradient is made.

    X, Z   (k, ·) columns of the linear part; those of the Matérn over their lengthscales
    t, decay   (k, k) √5 r and exp(−√5 r)
    """

    kernel: Kernel
    eta: FloatArray
    K: FloatArray
    X: FloatArray
    Z: FloatArray
    t: FloatArray
    decay: FloatArray

    def slopes(self, W: FloatArray) -> FloatArray:
        """(h − 1,) Σ_ij W_ij ∂K_ij/∂eta of all but the noise; W (k, k) is symmetric."""
        kernel, eta, parts = self.kernel, self.eta, []
        if kernel.n_lengthscales:
            s, Z = kernel.outputscale(eta), self.Z
            decayed = W * self.decay
            G = (5.0 / 3.0 * s) * (decayed + decayed * self.t)
            # Σ_ij G_ij (z_i − z_j)² without a (k, k) array for each column.
            parts.append(2.0 * (G.sum(axis=1) @ Z**2 - ((G @ Z) * Z).sum(axis=0)))
            if kernel.scaled:
                t = self.t
                parts.append(np.atleast_1d(s * np.sum(decayed * (1.0 + t + t * t / 3.0))))
        if self.X.shape[1]:
            variance = kernel.linear_variance(eta)
            parts.append(np.atleast_1d(variance * np.sum((W @ self.X) * self.X)))
        return np.concatenate(parts)


def kernel_on(grid: Grid, name: str, priors: str) -> Kernel:
    """The kernel ``name`` on the rows of ``grid``, with the named hyperpriors."""
    X, columns = grid.unit(), kernel_columns(grid, name)
    matern_part, linear_part = X[:, list(columns.matern)], X[:, list(columns.linear)]
    d = matern_part.shape[1]
    chosen = priors_named(priors, d)
    hypers = [chosen.lengthscale] * d
    scaled = chosen.outputscale is not None and d > 0
    if chosen.outputscale is not None and scaled:
        hypers.append(chosen.outputscale)
    if linear_part.shape[1]:
        hypers.append(chosen.linear)
    return Kernel(matern_part, linear_part, (*hypers, chosen.noise), scaled)


def distances(A: FloatArray, B: FloatArray) -> FloatArray:
    """(a, b) Euclidean distances between rows of A and B, by one matrix product."""
    squared = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2.0 * (A @ B.T)
    # Rounding can take equal rows slightly below zero.
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))


def matern(r: FloatArray) -> FloatArray:
    """Matérn-5/2 correlation at scaled distances r."""
    t = ROOT5 * r
    return np.asarray((1.0 + t + t * t / 3.0) * np.exp(-t))
