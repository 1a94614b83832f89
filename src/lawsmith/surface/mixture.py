"""The prediction of a surface at one target: a mixture of Student's t, one from each member.

Each member's log loss at a target is Student's t with DF degrees of freedom about its mean, and

    scale² = v + (DRIFT·slope·h)² + (SPREAD·a)²·h      (+ σ² for a further run)

v      variance of the member's posterior
h      e-folds of C beyond the runs, in compute or in N or D alone (`Frame.beyond`; 0 inside)
slope  how fast log loss falls on the way there from the runs, per e-fold of C, by that member's
       trend: slope·h is the predicted fall, so its error never shrinks with the distance
a, σ   SDs of that member's residual and of the noise of a run at the top of the data

DRIFT and SPREAD were learnt from hold-outs of the public studies in public.toml but parallel and
sparsity: `benchmarks/holdout.py`, `benchmarks/learning.py` and `benchmarks/calibrate_surface.py`.
Held out were frontier cells at Cmax/3, /8 and /30, predicted from all runs below, and at Cmax/3
from runs worth 1 % of their compute. Every study counted once, and was predicted with a prior that
was learnt without it.

v and σ² have no factors. Once they had, learnt from the 12 studies that the forms and windows of
`lawsmith.surface.fit` were chosen on: 0.62 (more for few rows) and 0.7. There 0.76 and 0.56 are now
the most likely, on 11 studies that came later 1.09 and 1.28, on all together 1.14 and 0.65. These
raise the log likelihood of all, 72, by 0.15 only, and 1 needs no number.
STEP is learnt from two studies whose hyperparameters follow scale in steps: Gadre's, and four
tables of xLSTM's isoFLOP runs (docs/truth.md). Of 0.12, 0.08, 0.05, 0.03 and 0.01 the last two make
their held-out losses most likely together.
DF was tried at 5, 8 and 12. On the 12 studies 8 and 12 were the most likely, on all 23 together it
is 5, by 0.2 of 72 and with the same coverage; 8 is kept. EFFECTIVE_ROWS was tried at 4, 10 and 25,
4 being a little better (before the prior was learnt).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import stdtr, stdtrit

from lawsmith.arrays import FloatArray

DRIFT = 0.03
SPREAD = 0.1
STEP = 0.03  # joins a² for each hyperparameter that changes with scale in steps; see above
DF = 8.0
EFFECTIVE_ROWS = 5.0  # how many independent rows the top of the data counts as, at most


def beyond2(slope: FloatArray, a: FloatArray, h: FloatArray) -> FloatArray:
    """What the distance beyond the data adds to scale²."""
    return np.asarray((DRIFT * slope * h) ** 2 + (SPREAD * a) ** 2 * h)


@dataclass(frozen=True, eq=False)
class Mixture:
    """Of log loss at one target; (m,) for m members.

    model   v: variance of the member's own posterior
    noise   σ²: variance of one further run
    slope, a, h   see the module
    """

    weight: FloatArray
    mean: FloatArray
    model: FloatArray
    noise: FloatArray
    slope: FloatArray
    a: FloatArray
    h: FloatArray

    @property
    def truth(self) -> FloatArray:
        """(m,) scale² of the truth."""
        return self.model + beyond2(self.slope, self.a, self.h)

    @property
    def run(self) -> FloatArray:
        """(m,) scale² of the loss of a further run."""
        return self.truth + self.noise

    def quantile(self, p: float, *, run: bool) -> float:
        """Of the truth, or of the loss of a further run, on the log scale."""
        sd = np.sqrt(self.run if run else self.truth)
        return t_mixture_quantile(p, self.weight, self.mean, sd)

    def sample_runs(self, n: int, rng: np.random.Generator) -> FloatArray:
        """(n,) log losses of a further run."""
        j = rng.choice(len(self.weight), size=n, p=self.weight)
        sd = np.sqrt(self.run)[j]
        return np.asarray(self.mean[j] + sd * rng.standard_t(DF, size=n))

    def interval(self, level: float) -> tuple[float, float, float, float, float]:
        """The loss: its centre, the ends of the truth's interval, and of a further run's."""
        tails = (0.5 * (1.0 - level), 1.0 - 0.5 * (1.0 - level))
        centre = self.quantile(0.5, run=False)
        low, high = (self.quantile(p, run=False) for p in tails)
        run_low, run_high = (self.quantile(p, run=True) for p in tails)
        low, high = min(low, centre), max(high, centre)
        ends = (centre, low, high, min(run_low, low), max(run_high, high))
        return tuple(np.exp(ends).tolist())


def t_mixture_quantile(p: float, weight: FloatArray, mean: FloatArray, sd: FloatArray) -> float:
    """The p quantile of a mixture of Student's t."""
    # The quantile of a mixture lies between those of its members.
    ends = mean + sd * stdtrit(DF, p)
    low, high = float(ends.min()), float(ends.max())
    if not high - low > 1e-10 or not np.isfinite(high - low):
        return float(weight @ ends)

    def excess(x: float) -> float:
        return float(weight @ stdtr(DF, (x - mean) / sd)) - p

    margin = 1e-6 * (high - low)
    return float(brentq(excess, low - margin, high + margin, xtol=1e-10))
