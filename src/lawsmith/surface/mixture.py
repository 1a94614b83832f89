"""What members say of one target together: a mixture of Student's t, on the log scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import stdtr, stdtrit

from lawsmith.arrays import FloatArray
from lawsmith.surface import priors


@dataclass(frozen=True, eq=False)
class Mixture:
    """Of log loss at one target; (m,) for m members.

    model   variance of the member's own posterior
    noise   variance of one further run
    slope, a, h, n   as `priors.scale2` takes them
    """

    weight: FloatArray
    mean: FloatArray
    model: FloatArray
    noise: FloatArray
    slope: FloatArray
    a: FloatArray
    h: FloatArray
    n: FloatArray

    @property
    def truth(self) -> FloatArray:
        """(m,) scale² of the truth."""
        return priors.scale2(self.model, self.slope, self.a, self.h, self.n)

    def quantile(self, p: float, *, run: bool) -> float:
        """Of the truth, or of the loss of a further run, on the log scale."""
        sd = np.sqrt(self.truth + (priors.RUN_NOISE * self.noise if run else 0.0))
        return t_mixture_quantile(p, self.weight, self.mean, sd)


def t_mixture_quantile(p: float, weight: FloatArray, mean: FloatArray, sd: FloatArray) -> float:
    """The p quantile of a mixture of Student's t."""
    # The quantile of a mixture lies between those of its members.
    ends = mean + sd * stdtrit(priors.DF, p)
    low, high = float(ends.min()), float(ends.max())
    if not high - low > 1e-10 or not np.isfinite(high - low):
        return float(weight @ ends)

    def excess(x: float) -> float:
        return float(weight @ stdtr(priors.DF, (x - mean) / sd)) - p

    margin = 1e-6 * (high - low)
    return float(brentq(excess, low - margin, high + margin, xtol=1e-10))
