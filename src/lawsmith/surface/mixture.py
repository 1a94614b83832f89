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

    @property
    def run(self) -> FloatArray:
        """(m,) scale² of the loss of a further run."""
        return self.truth + priors.RUN_NOISE * self.noise

    def quantile(self, p: float, *, run: bool) -> float:
        """Of the truth, or of the loss of a further run, on the log scale."""
        sd = np.sqrt(self.run if run else self.truth)
        return t_mixture_quantile(p, self.weight, self.mean, sd)

    def sample_runs(self, n: int, rng: np.random.Generator) -> FloatArray:
        """(n,) log losses of a further run."""
        j = rng.choice(len(self.weight), size=n, p=self.weight)
        sd = np.sqrt(self.run)[j]
        return np.asarray(self.mean[j] + sd * rng.standard_t(priors.DF, size=n))

    def interval(self, level: float) -> tuple[float, float, float, float, float]:
        """The loss: its centre, the ends of the truth's interval, and of a further run's."""
        tail = 0.5 * (1.0 - level)
        centre = self.quantile(0.5, run=False)
        low, high = (self.quantile(p, run=False) for p in (tail, 1.0 - tail))
        run_low, run_high = (self.quantile(p, run=True) for p in (tail, 1.0 - tail))
        lows = (min(low, centre), max(high, centre))
        ends = (*lows, min(run_low, low, centre), max(run_high, high, centre))
        return tuple(np.exp([centre, *ends]).tolist())


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
