"""Fitting hyperparameters: the marginal likelihood with its gradient, maximised with the priors.

Notation and shapes
    rows  (k,) observed rows, y (k,) standardised targets, n_runs (k,) runs each is the mean of
    K     (k, k) covariance of the targets: kernel plus σ²/n_runs on the diagonal
    c     the constant mean at its best value given K: 1ᵀK⁻¹y / 1ᵀK⁻¹1

    ln p(y | eta) = −½ (y − c)ᵀK⁻¹(y − c) − ½ ln|K| − ½ k ln 2π      (Rasmussen & Williams 2.30)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import lapack
from scipy.optimize import minimize

from lawsmith.grid import FloatArray
from lawsmith.surface.process import cholesky
from lawsmith.surrogates.base import Observations
from lawsmith.surrogates.gp.kernel import Kernel, Pairs

UPPER = np.log(1e5)  # of every hyperparameter: far beyond where any prior leaves a trace


def log_likelihood(
    pairs: Pairs, eta: FloatArray, targets: Observations
) -> tuple[float, FloatArray, float]:
    """ln p(y | eta) with the best constant mean, its gradient (h,), and that mean c."""
    kernel, k = pairs.kernel, len(targets.y)
    at = pairs.covariances(eta)
    at.K.reshape(-1, order="F")[:: k + 1] += kernel.noise(eta) / targets.n_runs
    L = cholesky(at.K)
    both, _ = lapack.dpotrs(L, np.column_stack([targets.y, np.ones(k)]), lower=1)
    c = float(both[:, 0].sum() / both[:, 1].sum())
    alpha = both[:, 0] - c * both[:, 1]
    fit = float((targets.y - c) @ alpha)
    value = -0.5 * fit - np.log(np.diag(L)).sum() - 0.5 * k * np.log(2.0 * np.pi)
    inverse, _ = lapack.dpotri(L, lower=1)
    W = alpha.take(pairs.first) * alpha.take(pairs.second)
    W -= inverse.reshape(-1, order="F").take(pairs.flat)
    W *= 0.5
    diagonal = 0.5 * (alpha**2 - np.diag(inverse))
    noise_slope = kernel.noise(eta) * float(np.sum(diagonal / targets.n_runs))
    return float(value), np.append(pairs.slopes(eta, at, W, diagonal), noise_slope), c


def log_posterior(pairs: Pairs, eta: FloatArray, targets: Observations) -> tuple[float, FloatArray]:
    """ln p(y | eta) + ln prior(eta), what BoTorch maximises, and its gradient (h,)."""
    likelihood, slopes, _ = log_likelihood(pairs, eta, targets)
    prior, prior_slopes = pairs.kernel.log_prior(eta)
    return likelihood + prior, slopes + prior_slopes


def fit_hyperparameters(
    kernel: Kernel, targets: Observations, starts: Sequence[FloatArray]
) -> FloatArray:
    """(h,) eta of the highest maximum of the posterior density found from ``starts``."""
    pairs = kernel.pairs(targets.rows)
    maxima = [_climb(pairs, targets, start) for start in starts]
    return min(maxima, key=lambda pair: pair[0])[1]


def _climb(pairs: Pairs, targets: Observations, start: FloatArray) -> tuple[float, FloatArray]:
    """Minus the log density a target at a local maximum, and its eta (h,), from ``start``."""

    def negative(eta: FloatArray) -> tuple[float, FloatArray]:
        value, slopes = log_posterior(pairs, eta, targets)
        # Per target, so that the tolerance means the same at 10 and at 1,000 targets.
        return -value / len(targets.y), -slopes / len(targets.y)

    bounds = [(low, UPPER) for low in pairs.kernel.least]
    begin = np.clip(start, pairs.kernel.least, UPPER)
    result = minimize(negative, begin, jac=True, method="L-BFGS-B", bounds=bounds)
    return float(result.fun), np.asarray(result.x, dtype=np.float64)
