"""Fitting the trend and its residual: parameters by Gauss–Newton, hyperparameters by L-BFGS.

Notation and shapes
    rows (k,) observed, y (k,) targets (log loss); theta (p,) trend, eta (d + 2,) residual: logs of
    d lengthscales, of the residual's variance, of the noise variance
    F    (m, p) J times the prior SD of theta, so that F Fᵀ is the trend's prior covariance

The trend is linearised at its most probable parameters; there the surface is a Gaussian process
with mean f + J(prior mean − theta) and covariance F Fᵀ + s·k_5/2, which is exact where the trend is
linear in what is still uncertain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, solve_triangular
from scipy.optimize import minimize

from lawsmith.grid import FloatArray, IntArray
from lawsmith.surrogates.gp.hyperparameters import Targets, cholesky
from lawsmith.surrogates.gp.kernel import ROOT5, distances, matern
from lawsmith.surrogates.trend.shape import Trend

LENGTHSCALE, RESIDUAL, NOISE = 1.0, 0.02, 0.003  # prior medians; the last two SDs of log loss
SPREADS = (1.0, 0.75, 0.6)  # prior SDs of their logs
LEAST = (0.05, 1e-4, 1e-4)
MOST = (20.0, 1.0, 0.05)


@dataclass(frozen=True)
class Scatter:
    """Of replicates about their own means: squared deviations summed, degrees of freedom."""

    squares: float
    dof: int

    def negative(self, log_variance: float) -> tuple[float, float]:
        """−ln of its likelihood, but for a constant, and the slope: squares/σ² is χ² with dof.

        Beside the means it is all that the single runs say, where their noise is normal.
        """
        scaled = self.squares * np.exp(-log_variance)
        return float(0.5 * (self.dof * log_variance + scaled)), float(0.5 * (self.dof - scaled))


NO_SCATTER = Scatter(0.0, 0)


@dataclass(frozen=True, eq=False)
class TrendKernel:
    """Covariance of a linearised trend plus a Matérn-5/2 residual, on the rows of a grid."""

    X: FloatArray  # (m, d) columns of the unit cube that vary
    F: FloatArray  # (m, p)

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    def cross(self, eta: FloatArray, rows: IntArray, others: IntArray | None = None) -> FloatArray:
        """(len(rows), len(others)) covariances; with all rows of the grid when none are said."""
        other = slice(None) if others is None else others
        return residual(eta, self.X[rows], self.X[other]) + self.F[rows] @ self.F[other].T

    def variances(self, eta: FloatArray) -> FloatArray:
        """(m,) prior variance of every row."""
        return np.asarray(np.exp(eta[self.d]) + (self.F**2).sum(axis=1))

    def noise(self, eta: FloatArray) -> float:
        return float(np.exp(eta[-1]))


def residual(eta: FloatArray, A: FloatArray, B: FloatArray) -> FloatArray:
    """Covariances of the residual between rows of A (a, d) and B (b, d)."""
    d = A.shape[1]
    scaled = np.exp(-eta[:d])
    return np.asarray(np.exp(eta[d]) * matern(distances(A * scaled, B * scaled)))


def prior_eta(d: int) -> tuple[FloatArray, FloatArray]:
    """Mean and SD of the normal prior of eta."""
    mean = [np.log(LENGTHSCALE)] * d + [2 * np.log(RESIDUAL), 2 * np.log(NOISE)]
    sd = [SPREADS[0]] * d + [2 * SPREADS[1], 2 * SPREADS[2]]
    return np.array(mean), np.array(sd)


def _bounds(d: int) -> list[tuple[float, float]]:
    least = [np.log(LEAST[0])] * d + [2 * np.log(LEAST[1]), 2 * np.log(LEAST[2])]
    most = [np.log(MOST[0])] * d + [2 * np.log(MOST[1]), 2 * np.log(MOST[2])]
    return list(zip(least, most, strict=True))


def fit_trend(
    trend: Trend, X: FloatArray, eta: FloatArray, targets: Targets, starts: list[FloatArray]
) -> FloatArray:
    """(p,) the most probable theta given the residual's hyperparameters, from the best start."""
    K = residual(eta, X[targets.rows], X[targets.rows])
    K[np.diag_indices_from(K)] += np.exp(eta[-1]) / targets.n_runs + targets.extra
    L = cholesky(K)
    found = [_gauss_newton(trend, L, targets, start) for start in starts]
    return min(found, key=lambda pair: pair[0])[1]


def _gauss_newton(
    trend: Trend, L: FloatArray, targets: Targets, start: FloatArray
) -> tuple[float, FloatArray]:
    """Levenberg–Marquardt on the whitened residuals and the prior: (objective, theta)."""

    def evaluate(z: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        value, J = trend.value_and_jac(trend.mean + trend.sd * z, targets.rows)
        both = np.column_stack([targets.y - value, J * trend.sd])
        white = solve_triangular(L, both, lower=True, check_finite=False)
        return 0.5 * float(white[:, 0] @ white[:, 0] + z @ z), white[:, 0], white[:, 1:]

    z, damping = (start - trend.mean) / trend.sd, 1e-2
    value, r, W = evaluate(z)
    for _ in range(30):
        H = W.T @ W + np.eye(len(z))
        step = np.linalg.solve(H + damping * np.diag(np.diag(H)), W.T @ r - z)
        trial = z + np.clip(step, -3.0, 3.0)  # an exponential overflows before a prior forbids it
        after, r_after, W_after = evaluate(trial)
        if not after < value:
            damping *= 5.0
            if damping > 1e8:
                break
            continue
        settled = value - after < 1e-6 * (1.0 + abs(value))
        z, value, r, W, damping = trial, after, r_after, W_after, max(damping / 5.0, 1e-9)
        if settled:
            break
    return value, trend.mean + trend.sd * z


def fit_residual(
    kernel: TrendKernel, targets: Targets, start: FloatArray, scatter: Scatter = NO_SCATTER
) -> FloatArray:
    """(d + 2,) the most probable eta, the linearised trend integrated out."""
    d, rows = kernel.d, targets.rows
    X, FF = kernel.X[rows], kernel.F[rows] @ kernel.F[rows].T
    mean, sd = prior_eta(d)

    def negative(eta: FloatArray) -> tuple[float, FloatArray]:
        Z = X * np.exp(-eta[:d])
        t = ROOT5 * distances(Z, Z)
        s, decay = np.exp(eta[d]), np.exp(-t)
        M = s * (1.0 + t + t * t / 3.0) * decay
        K = M + FF
        noise = np.exp(eta[-1]) / targets.n_runs
        K[np.diag_indices_from(K)] += noise + targets.extra
        L = cholesky(K)
        inverse, _ = lapack.dpotri(L, lower=1)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        alpha = inverse @ targets.y
        W = 0.5 * (np.outer(alpha, alpha) - inverse)
        G = (5.0 / 3.0 * s) * (W * decay) * (1.0 + t)
        by_length = 2.0 * (G.sum(axis=1) @ Z**2 - ((G @ Z) * Z).sum(axis=0))
        slopes = np.concatenate([by_length, [np.sum(W * M)], [np.sum(np.diag(W) * noise)]])
        z = (eta - mean) / sd
        value = 0.5 * float(targets.y @ alpha) + np.log(np.diag(L)).sum() + 0.5 * float(z @ z)
        n = len(rows)
        slope = z / sd - slopes
        if scatter.dof:
            more, by_noise = scatter.negative(eta[-1])
            value, slope[-1] = value + more, slope[-1] + by_noise
        return value / n, slope / n

    bounds = _bounds(d)
    begin = np.clip(start, *np.array(bounds).T)
    found = minimize(
        negative, begin, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 50}
    )
    return np.asarray(found.x, dtype=np.float64)
