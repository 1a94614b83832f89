"""The four kernels of the paper on a grid's unit cube, their hyperparameters and gradients.

Notation and shapes
    X     (m, d) the unit cube of the grid; a kernel reads some of its columns
    eta   (h,) logs of the hyperparameters: lengthscales ℓ, then the outputscale s if any, then the
          linear variance v if any, then the noise variance σ²
    K     k(x, x') = s·k_5/2(r) + v·x·x',  r² = Σ_i (x_i − x'_i)² / ℓ_i²
          k_5/2(r) = (1 + √5 r + 5r²/3)·exp(−√5 r)

    matern         Matérn-5/2 with a lengthscale a column, on all columns
    linear         v·x·x' on all columns
    matern+linear  their sum
    grouped        linear on the columns of N and D, Matérn on those of λ
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np

from lawsmith.errors import LawsmithError, unknown
from lawsmith.grid import FloatArray, Grid, IntArray
from lawsmith.surface.process import matern, squares
from lawsmith.surrogates.base import SCALES
from lawsmith.surrogates.gp.priors import PRIORS, Density, Hyper


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
        """(h,) eta at which a cold search begins."""
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
        """(len(rows), len(others)) covariances; by default with all rows of the grid."""
        other = slice(None) if others is None else others
        K = np.zeros((len(rows), len(self.matern[other])))
        if self.n_lengthscales:
            scaled = self.matern / self.lengthscales(eta)
            K += self.outputscale(eta) * matern(squares(scaled[rows], scaled[other]))
        if self.linear.shape[1]:
            K += self.linear_variance(eta) * (self.linear[rows] @ self.linear[other].T)
        return K

    def variances(self, eta: FloatArray) -> FloatArray:
        """(m,) prior variance of every row."""
        stationary = self.outputscale(eta) if self.n_lengthscales else 0.0
        return np.asarray(stationary + self.linear_variance(eta) * (self.linear**2).sum(axis=1))

    def pairs(self, rows: IntArray) -> Pairs:
        """The parts of the covariances among ``rows`` that do not depend on eta."""
        k = len(rows)
        first, second = np.tril_indices(k, -1)
        X = self.linear[rows]
        products = X @ X.T
        return Pairs(
            kernel=self,
            first=first,
            second=second,
            flat=first + k * second,
            squares=((self.matern[rows][first] - self.matern[rows][second]) ** 2).T.copy(),
            products=products[first, second],
            diagonal=np.diag(products).copy(),
        )

    def log_prior(self, eta: FloatArray) -> tuple[float, FloatArray]:
        """Log density of the hyperpriors at eta, and its gradient (h,)."""
        values, slopes = np.empty(len(eta)), np.empty(len(eta))
        for prior, at in self._priors:
            values[at], slopes[at] = prior.log_density(eta[at]), prior.slope(eta[at])
        return sum(values.tolist()), slopes

    @cached_property
    def _priors(self) -> list[tuple[Density, slice]]:
        """Each prior with its part of eta; adjacent equal priors are grouped."""
        parts, start = [], 0
        for prior, same in groupby(hyper.prior for hyper in self.hypers):
            end = start + len(list(same))
            parts.append((prior, slice(start, end)))
            start = end
        return parts


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs among k rows, each once: P = k(k − 1)/2 of them, those below the diagonal.

    This halves the work of full matrices. The parts that do not depend on eta are computed once for
    a whole search.

    first, second   (P,) the rows of a pair, the first below the second in a matrix
    flat       (P,) where a pair is in a matrix that is kept by columns
    squares    (d, P) squared differences in each column of the Matérn
    products   (P,) x·x' in the columns of the linear part; diagonal (k,) those of a row with itself
    """

    kernel: Kernel
    first: IntArray
    second: IntArray
    flat: IntArray
    squares: FloatArray
    products: FloatArray
    diagonal: FloatArray

    def covariances(self, eta: FloatArray) -> Covariances:
        """K (k, k), filled on and below its diagonal, with what its gradient needs."""
        kernel, k = self.kernel, len(self.diagonal)
        s, v = kernel.outputscale(eta), kernel.linear_variance(eta)
        K = np.zeros((k, k), order="F")
        below, on = v * self.products, v * self.diagonal
        t = decay = correlation = np.empty(0)
        if kernel.n_lengthscales:
            t = np.sqrt(5.0 * (kernel.lengthscales(eta) ** -2.0 @ self.squares))
            decay = np.exp(-t)
            correlation = (1.0 + t * (1.0 + t / 3.0)) * decay
            below, on = below + s * correlation, on + s
        by_columns = K.reshape(-1, order="F")
        by_columns[self.flat] = below
        by_columns[:: k + 1] = on
        return Covariances(K, t, decay, correlation)

    def slopes(
        self, eta: FloatArray, at: Covariances, W: FloatArray, diagonal: FloatArray
    ) -> FloatArray:
        """(h − 1,) Σ_ij W_ij ∂K_ij/∂eta of all but the noise; W (P,) of the pairs, each once."""
        kernel, parts = self.kernel, []
        if kernel.n_lengthscales:
            s = kernel.outputscale(eta)
            G = W * at.decay * (1.0 + at.t)
            squares = (self.squares @ G) * kernel.lengthscales(eta) ** -2.0
            parts.append(10.0 / 3.0 * s * squares)
            if kernel.scaled:
                parts.append(np.atleast_1d(s * (2.0 * (W @ at.correlation) + diagonal.sum())))
        if kernel.linear.shape[1]:
            total = 2.0 * (W @ self.products) + diagonal @ self.diagonal
            parts.append(np.atleast_1d(kernel.linear_variance(eta) * total))
        return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class Covariances:
    """K (k, k) on and below its diagonal; of the Matérn's pairs (P,) √5 r, exp(−√5 r), k_5/2."""

    K: FloatArray
    t: FloatArray
    decay: FloatArray
    correlation: FloatArray


KERNELS = ("matern", "linear", "matern+linear", "grouped")


def check_names(*, kernel: str = "matern", priors: str = "free", scale: str = "loss") -> None:
    """Refuse an unknown kernel, choice of priors or scale."""
    names = (("kernel", kernel, KERNELS), ("priors", priors, PRIORS), ("scale", scale, SCALES))
    for where, word, known in names:
        if word not in known:
            raise unknown(where, word, known)


class KernelColumns(NamedTuple):
    """Columns of the unit cube that the linear and the Matérn part act on; () is no such part."""

    linear: tuple[int, ...]
    matern: tuple[int, ...]


def kernel_columns(grid: Grid, kernel: str) -> KernelColumns:
    """The columns of each part of ``kernel``; the covariance is the sum of the parts.

    'grouped' is k_lin(N, D) + k_5/2(λ); a grid without λ, or without N and D, has one part. Columns
    that never vary are left out: a prior scaled by the number of dimensions would count them.
    """
    if not grid.axes:
        raise LawsmithError("surrogate", got="a grid without axes", want="at least one axis")
    varies = np.ptp(grid.unit(), axis=0) > 0.0
    if not varies.any():  # a single row: any column will do
        varies[:] = True
    every = tuple(int(c) for c in np.flatnonzero(varies))
    names = grid.unit_names
    sizes = tuple(c for c in every if names[c] in ("N", "D"))
    parts = {
        "matern": KernelColumns((), every),
        "linear": KernelColumns(every, ()),
        "matern+linear": KernelColumns(every, every),
        "grouped": KernelColumns(sizes, tuple(c for c in every if c not in sizes)),
    }
    return parts[kernel]


def kernel_on(grid: Grid, name: str, priors: str) -> Kernel:
    """The kernel ``name`` on the rows of ``grid``, with the named hyperpriors."""
    X, columns = grid.unit(), kernel_columns(grid, name)
    matern_part, linear_part = X[:, list(columns.matern)], X[:, list(columns.linear)]
    d = matern_part.shape[1]
    chosen = PRIORS[priors](d)
    hypers = [chosen.lengthscale] * d
    scaled = chosen.outputscale is not None and d > 0
    if chosen.outputscale is not None and scaled:
        hypers.append(chosen.outputscale)
    if linear_part.shape[1]:
        hypers.append(chosen.linear)
    return Kernel(matern_part, linear_part, (*hypers, chosen.noise), scaled)
