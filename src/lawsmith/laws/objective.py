"""Objectives, which fits minimise: a *sum* over points, because a mean stops optimisers early.

Notation: r residual, (B, n); ρ(r) its penalty; ψ = ρ′; ρ″ the curvature used by Newton steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from lawsmith.errors import unknown
from lawsmith.grid import FloatArray


@dataclass(frozen=True)
class Objective:
    """Σ ρ(r), with r the residual of log loss (``on="log"``) or of loss (``on="loss"``).

    ρ is Huber's: r²/2 up to δ, linear beyond. δ = ∞ is least squares (half the sum of squares).
    With δ below any residual of interest it is in effect the sum of absolute errors: ``mae`` uses
    δ = 1e-7 to stay differentiable, and reports Σ|r| (its ``scale`` is 1/δ).
    A run above the law (r = law − run is below 0) has the weight ``above`` of one below it: if some
    sizes were tuned less than others, runs are often too high and rarely too low.
    """

    name: str
    on: Literal["log", "loss"]
    delta: float
    scale: float = 1.0
    above: float = 1.0

    def _share(self, r: FloatArray) -> FloatArray | float:
        if self.above == 1.0:
            return self.scale
        return np.where(r < 0.0, self.scale * self.above, self.scale)

    def rho(self, r: FloatArray) -> FloatArray:
        a = np.abs(r)
        small = np.minimum(a, self.delta)
        # ½·small² + δ·(a − small): one expression for both branches, and no ∞·0 at δ = ∞
        with np.errstate(invalid="ignore"):
            linear = np.where(a > self.delta, self.delta * (a - small), 0.0)
        return np.asarray(self._share(r) * (0.5 * small * small + linear))

    def psi(self, r: FloatArray) -> FloatArray:
        return np.asarray(self._share(r) * np.clip(r, -self.delta, self.delta))

    def rho2(self, r: FloatArray) -> FloatArray:
        return np.asarray(self._share(r) * (np.abs(r) <= self.delta))


def huber(delta: float = 1e-3) -> Objective:
    """Huber on log loss, the default (Hoffmann et al. use δ = 1e-3)."""
    return Objective("huber", "log", delta)


HUBER = huber()
LEAST_SQUARES_LOG = Objective("least-squares-log", "log", np.inf)
LEAST_SQUARES_LOSS = Objective("least-squares", "loss", np.inf)
MAE = Objective("mae", "log", 1e-7, 1e7)  # δ below any residual, but above rounding
# A tenth: with nine of ten runs above a law both sides balance, so it follows the lower tenth.
ONE_SIDED = Objective("one-sided", "log", 1e-3, above=0.1)

OBJECTIVES = {o.name: o for o in (HUBER, LEAST_SQUARES_LOG, LEAST_SQUARES_LOSS, MAE, ONE_SIDED)}


def get_objective(name: str) -> Objective:
    """The objective of that name."""
    if name not in OBJECTIVES:
        raise unknown("objective", name, OBJECTIVES)
    return OBJECTIVES[name]
