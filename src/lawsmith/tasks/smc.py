"""Draws from a posterior under a standard normal prior, by tempering (sequential Monte Carlo).

Notation and shapes
    u      (b, d) draws
    f      (b, d) → (b,) log likelihood
    power  of the likelihood, from 0 (the prior) to 1 (the posterior)

Each step raises the power until the effective sample size is half of the draws. Then it resamples,
and moves every draw by a few Metropolis steps with the covariance of the draws. Several modes are
kept if draws reach them. All draws move at once, so a fit takes a tenth of a second. See Del Moral,
Doucet and Jasra, Sequential Monte Carlo samplers, 2006.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from lawsmith.arrays import FloatArray

KEPT = 0.5  # effective share of draws after each step
N_MOVES = 6  # with a quarter accepted, 0.75⁶ = 18 % of the draws do not move
ACCEPTED = 0.25  # target share of accepted moves, by which their length is adapted


def sample(
    f: Callable[[FloatArray], FloatArray], d: int, *, n: int, rng: np.random.Generator
) -> FloatArray:
    """(n, d) draws from exp(f(u))·exp(−|u|²/2)."""
    u = rng.standard_normal((n, d))
    value, power, length = f(u), 0.0, 0.6
    while power < 1.0:
        step = _power_step(value, 1.0 - power)
        weight = np.exp(step * (value - value.max()))
        where = (np.arange(n) + rng.random()) / n
        rows = np.searchsorted(np.cumsum(weight) / weight.sum(), where)
        rows = np.minimum(rows, n - 1)
        u, value, power = u[rows], value[rows], power + step
        if power > 1.0 - 1e-9:
            power = 1.0
        root = np.linalg.cholesky(np.cov(u.T).reshape(d, d) + 1e-9 * np.eye(d))
        for _ in range(N_MOVES):
            proposed = u + length * rng.standard_normal((n, d)) @ root.T
            new_value = f(proposed)
            gain = power * (new_value - value) - 0.5 * ((proposed**2).sum(1) - (u**2).sum(1))
            accepted = np.log(rng.random(n)) < gain
            u[accepted], value[accepted] = proposed[accepted], new_value[accepted]
            length *= np.exp(1.5 * (float(accepted.mean()) - ACCEPTED))
    return u


def _power_step(value: FloatArray, left: float) -> float:
    """How much the power may rise: until the effective sample size falls to KEPT."""
    off = value - value.max()

    def excess(step: float) -> float:
        weight = np.exp(step * off)
        return float(weight.sum() ** 2 / (weight**2).sum()) / len(value) - KEPT

    return left if excess(left) >= 0.0 else float(brentq(excess, 0.0, left, xtol=1e-12))
