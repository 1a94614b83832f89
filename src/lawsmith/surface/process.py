"""The residual about a trend and the noise of runs: their covariances, and linear algebra.

Notation and shapes
    X    (k, m) coordinates, split into P (scales and categories) and U (numeric λ)
    e    (k,) how far the trend may be off about each row's height, in units of ρ (`misfit_of`).
         The height is how far the trend puts a row above the best run of its compute: what λ off
         the bottom of their bowls and D/N off its best add (`Trend.height`)
    eta  (l + 5,) logs of l lengthscales, then ln ρ, ln a, γ_a, ln σ, γ_σ
    a_i  = a·e^(−γ_a·c_i) SD of the residual, σ_i = σ·e^(−γ_σ·c_i) SD of the noise of one run,
         with c as in :mod:`lawsmith.surface.frame`: a and σ are those at the top of the data.
         Beyond the top both stay constant.
    w    (k,) weights of rows, E[precision]/σ⁻² under Student's t noise: small for outliers
    F    (k, p) J·sd of the trend: F Fᵀ is the prior covariance of the linearised trend
    K    = F Fᵀ + a_i a_j·k(P_i, P_j) + ρ² e_i e_j·k(X_i, X_j) + diag(σ_i²/(n_i w_i) + extra_i)
         (+ cov, where rows are inferred)

If rows share trunks, a share of the noise's variance is common to all rows of a trunk: the
diagonal has (1 − share)·σ_i², and rows of one trunk have the covariance share·σ_i σ_j/τ, where τ is
the weight of that trunk under Student's t. The noise of one run is σ_i, as without trunks.

k is Matérn-5/2. The residual has two parts: one of the scales alone, and one that grows with the
height of a row and vanishes at the best run of each compute. So a bowl that is no parabola, or runs
with far too few tokens, do not widen the interval of the best loss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, lapack, solve_triangular

from lawsmith.arrays import BoolArray, FloatArray, IntArray
from lawsmith.surface.data import Observed
from lawsmith.surface.frame import Frame, Points
from lawsmith.surface.prior import BROAD, Prior

ETA = ("bowl_misfit", "residual", "residual_slope", "noise", "noise_slope")  # in a prior
LEAST, MOST = 1e-5, 0.3  # of a and σ: from less than the digits of a table to 30 % of the loss
HIGHEST = 1.0  # log loss: a row that is e times the best one, or more, tells next to nothing
MAX_SLOPE = 0.6  # of both, for an e-fold of C: four times as large a decade of compute lower


def misfit_of(height: FloatArray) -> FloatArray:
    """(q,) e = √(0.1·height + (2·height)²).

    Near the best the shape of a bowl decides, so the error grows with the distance from it. Far
    above it the trend holds to a share of the height. Of the factors 0, 2, 3 and 5 of that share, 2
    makes held-out losses more likely than 0 on the tables of docs/truth.md and on others, 3 and 5
    on the others alone.
    """
    h = np.minimum(height, HIGHEST)
    return np.asarray(np.sqrt(0.1 * h + (2.0 * h) ** 2))


@dataclass(frozen=True, eq=False)
class Kernel:
    """Which lengthscale each coordinate has, which are of λ alone, and the normal prior of eta.

    group    (m,) lengthscale of each column of X; shared (m,) whether the column is in P too
    heights  whether the trend has heights: rows above the best run of their compute
    """

    group: IntArray
    shared: BoolArray
    heights: bool
    mean: FloatArray
    sd: FloatArray

    @property
    def n_lengths(self) -> int:
        return len(self.mean) - 5

    def amplitude(self, eta: FloatArray, c: FloatArray) -> FloatArray:
        return np.asarray(np.exp(eta[-4] - eta[-3] * np.minimum(c, 0.0)))

    def noise(self, eta: FloatArray, c: FloatArray) -> FloatArray:
        """(q,) SD of the noise of one run."""
        return np.asarray(np.exp(eta[-2] - eta[-1] * np.minimum(c, 0.0)))

    def cross(
        self, eta: FloatArray, A: Points, B: Points, e_a: FloatArray, e_b: FloatArray
    ) -> FloatArray:
        """(a, b) covariances of the residual; e_a (a,) and e_b (b,) as in the module's notation."""
        scale = np.exp(-eta[self.group])
        Z, Y = A.X * scale, B.X * scale
        near = squares(Z[:, self.shared], Y[:, self.shared])
        K = matern(near)
        K *= self.amplitude(eta, A.c)[:, None]
        K *= self.amplitude(eta, B.c)
        if self.heights:
            near += squares(Z[:, ~self.shared], Y[:, ~self.shared])
            bowls = matern(near)
            bowls *= (np.exp(2.0 * eta[-5]) * e_a)[:, None]
            bowls *= e_b
            K += bowls
        return K

    def variance(self, eta: FloatArray, at: Points, e: FloatArray) -> FloatArray:
        """(q,) variance of the residual: the diagonal of `cross` of points with themselves."""
        bowls = np.exp(2.0 * eta[-5]) * e**2 if self.heights else 0.0
        return np.asarray(self.amplitude(eta, at.c) ** 2 + bowls)

    def bounds(self) -> list[tuple[float, float]]:
        lengths = [(np.log(0.2), np.log(60.0))] * self.n_lengths
        size, slope = (np.log(LEAST), np.log(MOST)), (-0.1, MAX_SLOPE)
        return [*lengths, (np.log(1e-3), np.log(3.0)), size, slope, size, slope]


def kernel_of(frame: Frame, prior: Prior = BROAD) -> Kernel:
    """One lengthscale for each scale axis and numeric hyperparameter, one for all categories."""
    s, h, g = frame.s + len(frame.further), len(frame.numeric), frame.n_levels
    group = np.array([*range(s + h), *[s + h] * g], dtype=np.int64)
    shared = np.array([True] * s + [False] * h + [True] * g, dtype=np.bool_)
    lengths = ["scale_length"] * s + ["hp_length"] * (h + (g > 0))
    mean, sd = np.array([prior[name].pair() for name in (*lengths, *ETA)]).T
    return Kernel(group, shared, frame.s == 2 or h > 0, mean, sd)


def row_noise(kernel: Kernel, eta: FloatArray, data: Observed, w: FloatArray) -> FloatArray:
    """(k,) variance of each row's mean, without compression and without what trunks share."""
    noise = kernel.noise(eta, data.points.c) ** 2 / (data.n_runs * w)
    return noise if data.trunks is None else np.asarray(noise * (1.0 - data.trunks.shares))


def trunk_cov(kernel: Kernel, eta: FloatArray, data: Observed) -> FloatArray | None:
    """(k, k) covariance of the noise that rows of one trunk share; None without trunks."""
    trunks = data.trunks
    if trunks is None:
        return None
    sd = kernel.noise(eta, data.points.c) * np.sqrt(trunks.shares / trunks.tau)
    return np.where(trunks.of_row[:, None] == trunks.of_row, np.outer(sd, sd), 0.0)


def with_trunks(K: FloatArray, kernel: Kernel, eta: FloatArray, data: Observed) -> FloatArray:
    """(k, k) K, plus the noise that rows of one trunk share, plus the errors of inferred rows."""
    shared = trunk_cov(kernel, eta, data)
    K = K if shared is None else K + shared
    return K if data.cov is None else np.asarray(K + data.cov)


def squares(A: FloatArray, B: FloatArray) -> FloatArray:
    """(a, b) squared Euclidean distances."""
    total = (-2.0 * A) @ B.T
    total += (A**2).sum(axis=1)[:, None]
    total += (B**2).sum(axis=1)
    return np.maximum(total, 0.0, out=total)  # rounding can take equal rows slightly below zero


def matern(squared: FloatArray) -> FloatArray:
    """Matérn-5/2 of squared scaled distances."""
    t = 5.0 * squared
    np.sqrt(t, out=t)
    k = t / 3.0
    k += 1.0
    k *= t
    k += 1.0
    k *= np.exp(np.negative(t, out=t), out=t)
    return np.asarray(k)


def cholesky(K: FloatArray) -> FloatArray:
    """Lower factor; the diagonal is raised until there is one."""
    jitter, diagonal = 0.0, np.diag(K).copy()
    while True:
        L, failed = lapack.dpotrf(K, lower=1, clean=1)
        if not failed:
            return np.asarray(L)
        jitter = max(1e-10 * float(diagonal.mean()), 10.0 * jitter)
        K = K.copy()
        K[np.diag_indices_from(K)] = diagonal + jitter


def solve(L: FloatArray, M: FloatArray) -> FloatArray:
    """K⁻¹ M, from the lower factor of K."""
    return np.asarray(cho_solve((L, True), M, check_finite=False))


def whiten(L: FloatArray, M: FloatArray) -> FloatArray:
    """L⁻¹ M, for the lower factor of the covariance of the rows of M."""
    return np.asarray(solve_triangular(L, M, lower=True, check_finite=False))


def inverse(L: FloatArray, *, overwrite: bool = False) -> FloatArray:
    """(k, k) K⁻¹, from the lower factor of K, whose memory may be used."""
    lower, _ = lapack.dpotri(L, lower=1, overwrite_c=overwrite)
    both = lower + lower.T
    both[np.diag_indices_from(both)] *= 0.5
    return np.asarray(both)
