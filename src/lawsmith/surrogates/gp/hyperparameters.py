"""Fitting hyperparameters: the marginal likelihood with its gradient, maximised with the priors.

Notation and shapes
    rows  (k,) observed rows, y (k,) standardised targets, n_runs (k,) runs each is the mean of
    K     (k, k) covariance of the targets: kernel plus σ²/n_runs on the diagonal
    c     the constant mean at its best value given K: 1ᵀK⁻¹y / 1ᵀK⁻¹1

    ln p(y | eta) = −½ (y − c)ᵀK⁻¹(y − c) − ½ ln|K| − ½ k ln 2π      (Rasmussen & Williams 2.30)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack
from scipy.optimize import minimize

from lawsmith.grid import FloatArray, IntArray
from lawsmith.surrogates.gp.kernel import Kernel

UPPER = np.log(1e5)  # of every hyperparameter: far beyond where any prior leaves a trace


@dataclass(frozen=True, eq=False)
class Targets:
    """Standardised observations; ``extra`` (k,) or 0: variance beyond the noise of a run."""

    rows: IntArray
    y: FloatArray
    n_runs: IntArray
    extra: FloatArray | float = 0.0


def cholesky(K: FloatArray) -> FloatArray:
    """Lower factor of K, which is overwritten; jitter is added only where rounding needs it."""
    diagonal, jitter = np.diag(K).copy(), 0.0
    while True:
        L, failed = lapack.dpotrf(K, lower=1, clean=1, overwrite_a=0)
        if not failed:
            return np.asarray(L)
        jitter = max(1e-10 * diagonal.mean(), 10.0 * jitter)
        K[np.diag_indices_from(K)] = diagonal + jitter


def log_likelihood(
    kernel: Kernel, eta: FloatArray, targets: Targets
) -> tuple[float, FloatArray, float]:
    """ln p(y | eta) with the best constant mean, its gradient (h,), and that mean c."""
    among = kernel.among(eta, targets.rows)
    K = among.K.copy()
    K[np.diag_indices_from(K)] += kernel.noise(eta) / targets.n_runs + targets.extra
    L = cholesky(K)
    inverse, _ = lapack.dpotri(L, lower=1)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    ones = inverse.sum(axis=1)
    c = float(ones @ targets.y / ones.sum())
    residual = targets.y - c
    alpha = inverse @ residual
    k = len(residual)
    value = -0.5 * (residual @ alpha) - np.log(np.diag(L)).sum() - 0.5 * k * np.log(2.0 * np.pi)
    W = 0.5 * (np.outer(alpha, alpha) - inverse)
    noise_slope = kernel.noise(eta) * float(np.sum(np.diag(W) / targets.n_runs))
    return float(value), np.append(among.slopes(W), noise_slope), c


def log_posterior(kernel: Kernel, eta: FloatArray, targets: Targets) -> tuple[float, FloatArray]:
    """ln p(y | eta) + ln prior(eta), what BoTorch maximises, and its gradient (h,)."""
    likelihood, slopes, _ = log_likelihood(kernel, eta, targets)
    prior, prior_slopes = kernel.log_prior(eta)
    return likelihood + prior, slopes + prior_slopes


def fit_hyperparameters(kernel: Kernel, targets: Targets, start: FloatArray) -> FloatArray:
    """(h,) eta of a local maximum of the posterior density, searched from ``start``."""

    def negative(eta: FloatArray) -> tuple[float, FloatArray]:
        value, slopes = log_posterior(kernel, eta, targets)
        # Per target, so that the tolerance means the same at 10 and at 1,000 targets.
        return -value / len(targets.y), -slopes / len(targets.y)

    bounds = [(low, UPPER) for low in kernel.least]
    begin = np.clip(start, kernel.least, UPPER)
    found = minimize(negative, begin, jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(found.x, dtype=np.float64)
