"""Acquisition: how much a candidate promises, from a surrogate's mean and deviation there.

Notation and shapes
    mean, sd  (n,) posterior of the loss of n candidates on the surrogate's scale, sd ≥ 0
    best      least value observed, on that scale; the loss is minimised
    gap       (n,) best − mean: the improvement expected if the mean were certain
    z         (n,) gap / sd; φ and Φ are the standard normal density and distribution
    score     (n,) returned; the higher the better

    EI  = E[max(best − f, 0)] = sd·h(z),  h(z) = φ(z) + z·Φ(z)     (Jones et al. 1998, eq. 15)
    PI  = P(f < best) = Φ(z)
    LCB = mean − κ·sd, the lower the better, so its score is the negative

EI and PI are returned as logs. Far below the best they underflow, and a search would choose
among zeros; their logs keep the order of the candidates. A certain candidate (sd = 0) has the
limits: EI = max(gap, 0), and PI is 1 if it is below the best, else 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from lawsmith.arrays import FloatArray
from lawsmith.errors import LawsmithError, unknown

Score = Callable[[FloatArray, FloatArray, float], FloatArray]

KAPPA = 2.0  # of LCB: a bound that a normal posterior stays above with 98 %
LOG_SQRT_2PI = 0.5 * np.log(2.0 * np.pi)
FAR = 30.0  # from |z| = 30 on, the series of `_log_h_far` is exact to rounding
# 1 − t·R(t) = (1 + Σ_k TAIL_k·t^(−2k)) / t², R(t) = Φ(−t)/φ(t) Mills' ratio; TAIL_k = ±(2k + 1)!!.
TAIL = (0.0, -3.0, 15.0, -105.0, 945.0, -10395.0, 135135.0)


@dataclass(frozen=True)
class Acquisition:
    """A score with its name: ``acquisition(mean, sd, best)`` is (n,), the higher the better."""

    name: str
    score: Score

    def __call__(self, mean: FloatArray, sd: FloatArray, best: float) -> FloatArray:
        return self.score(mean, sd, best)


def log_expected_improvement(mean: FloatArray, sd: FloatArray, best: float) -> FloatArray:
    """(n,) log EI; −∞ for a certain candidate that is no improvement."""
    gap, z = _improvement(mean, sd, best)
    score = np.full(z.shape, -np.inf)
    # EI = gap + sd·h(−z), and from z = 30 on the second term is far below the last digit of the
    # first. Taking the gap itself also serves sd = 0 and a z that overflowed.
    sure = z > FAR
    score[sure] = np.log(gap[sure])
    rest = ~sure & (sd != 0.0)
    score[rest] = np.log(sd[rest]) + _log_h(z[rest])
    return score


def log_probability_of_improvement(mean: FloatArray, sd: FloatArray, best: float) -> FloatArray:
    """(n,) log PI; −∞ for a certain candidate that is no improvement."""
    _, z = _improvement(mean, sd, best)
    return np.asarray(log_ndtr(z), dtype=np.float64)


def lower_confidence_bound(
    mean: FloatArray, sd: FloatArray, best: float, *, kappa: float = KAPPA
) -> FloatArray:
    """(n,) −(mean − κ·sd), whatever the best; κ is √β of a UCB written with β."""
    return kappa * sd - mean


def _improvement(mean: FloatArray, sd: FloatArray, best: float) -> tuple[FloatArray, FloatArray]:
    """(gap, z), (n,) each; z = +∞ or −∞ where sd = 0. A certain tie is no improvement."""
    gap = best - mean
    certain = sd == 0.0
    with np.errstate(over="ignore"):  # a z beyond the largest float is ±∞, the limit meant
        z = gap / np.where(certain, 1.0, sd)
    return gap, np.where(certain, np.where(gap > 0.0, np.inf, -np.inf), z)


def _log_h(z: FloatArray) -> FloatArray:
    """(n,) log(φ(z) + z·Φ(z)); NaN where z is."""
    out = np.full(z.shape, np.nan)
    near, far = z > -1.0, z < -FAR
    middle = (z <= -1.0) & ~far
    out[near] = _log_h_near(z[near])
    out[middle] = _log_h_middle(z[middle])
    out[far] = _log_h_far(z[far])
    return out


def _log_h_near(z: FloatArray) -> FloatArray:
    """z > −1: as written. At −1 the two terms cancel to a third of the first, and no further."""
    density = np.exp(-0.5 * z**2 - LOG_SQRT_2PI)
    return np.asarray(np.log(density + z * ndtr(z)), dtype=np.float64)


def _log_h_middle(z: FloatArray) -> FloatArray:
    """−30 ≤ z ≤ −1: h = φ·(1 − t·R(t)) with t = −z, whose factor φ leaves as −z²/2.

    R(t) = √(π/2)·erfcx(t/√2) does not underflow. The difference is near 1/t², so it loses a
    factor t² of precision: 2e-13 at t = 30, but all of it at t = 1e8.
    """
    t = -z
    difference = 1.0 - t * np.sqrt(0.5 * np.pi) * erfcx(t * np.sqrt(0.5))
    return np.asarray(np.log(difference) - 0.5 * z**2 - LOG_SQRT_2PI, dtype=np.float64)


def _log_h_far(z: FloatArray) -> FloatArray:
    """z < −30: the difference of `_log_h_middle` by its asymptotic series, without cancelling.

    The first term left out is 4e-15 of the sum at t = 30 and less beyond.
    """
    t = -z
    series = np.polynomial.polynomial.polyval(t**-2.0, TAIL)
    with np.errstate(over="ignore"):  # t² beyond the largest float: log EI is −∞ to that precision
        return np.asarray(
            np.log1p(series) - 2.0 * np.log(t) - 0.5 * t**2 - LOG_SQRT_2PI, dtype=np.float64
        )


ACQUISITIONS: dict[str, Acquisition] = {
    "ei": Acquisition("ei", log_expected_improvement),
    "pi": Acquisition("pi", log_probability_of_improvement),
    "lcb": Acquisition("lcb", lower_confidence_bound),
}


def get_acquisition(name: str, *, kappa: float = KAPPA) -> Acquisition:
    """The acquisition of that name; κ is LCB's weight of the standard deviation."""
    if name not in ACQUISITIONS:
        raise unknown("acquisition", name, ACQUISITIONS)
    if not 0.0 <= kappa < np.inf:
        raise LawsmithError("kappa", got=f"{kappa:g}", want="a finite number of at least 0")
    if name == "lcb":
        return Acquisition(name, partial(lower_confidence_bound, kappa=kappa))
    return ACQUISITIONS[name]
