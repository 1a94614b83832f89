"""The loss surfaces of synthetic studies: a law, bowls and levels of λ, noise, a diverging corner.

    ln L(N, D, λ) = ln(E + T(N, D)) + Σ_λ k·(ln λ − ln λ*(N, D))² + Σ_λ e(λ) + noise
    T(N, D)       = ((A·N^-α)^(1/j) + (B·D^-β)^(1/j))^j, for j = 1 Chinchilla's A·N^-α + B·D^-β
    λ*(N, D)      = centre · (N/1e9)^drift_N · (D/1e10)^drift_D

A bowl may be skewed: steeper on one side than on the other. An axis has either a bowl (numbers on a
log scale) or an effect e per level (text, or numbers with few values). Shapes: m rows, every column
(m,).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from lawsmith.errors import unknown
from lawsmith.grid import AnyArray, BoolArray, FloatArray

Columns = Mapping[str, AnyArray]
Effects = Mapping[str, float] | Mapping[float, float]  # level of an axis → e, 0 for the best


@dataclass(frozen=True)
class Bowl:
    """One hyperparameter: where it is best, how much it matters, from where it diverges.

    curvature    k, per squared e-fold away from λ*
    skew         above λ* the bowl is up to 1 + skew as steep, below up to 1 − skew
    diverges_at  a run diverges when λ is more than this factor above λ*
    """

    centre: float
    drift_N: float = 0.0
    drift_D: float = 0.0
    curvature: float = 0.01
    diverges_at: float = np.inf
    skew: float = 0.0

    def offset(self, value: AnyArray, N: AnyArray, D: AnyArray) -> FloatArray:
        """(m,) ln λ − ln λ*(N, D)."""
        drift = self.drift_N * np.log(N / 1e9) + self.drift_D * np.log(D / 1e10)
        return np.asarray(np.log(value / self.centre) - drift, dtype=np.float64)

    def excess(self, value: AnyArray, N: AnyArray, D: AnyArray) -> FloatArray:
        """(m,) log loss above that at λ*."""
        off = self.offset(value, N, D)
        steepness = self.curvature * (1.0 + self.skew * np.tanh(off))
        return np.asarray(steepness * off**2, dtype=np.float64)


@dataclass(frozen=True)
class SyntheticSurface:
    """The mean of log loss and how runs scatter about it.

    levels           e by level, for the axes without a bowl; the best level's is 0
    noise            SD of log loss between seeds (the scale, where tails are heavy)
    joint            j, how the terms of N and D join: 1 adds them, towards 0 the larger rules
    tail_df          degrees of freedom of Student noise; infinite is Gaussian
    diverged_loss    the least loss a diverged run reports: NaN, or a huge loss
    diverged_spread  mean of the exponential excess of its log over that
    """

    E: float = 1.69
    A: float = 406.4
    alpha: float = 0.34
    B: float = 410.7
    beta: float = 0.28
    bowls: Mapping[str, Bowl] = field(default_factory=dict)
    levels: Mapping[str, Effects] = field(default_factory=dict)
    noise: float = 0.002
    tail_df: float = np.inf
    diverged_loss: float = np.nan
    diverged_spread: float = 0.0
    joint: float = 1.0

    @property
    def law(self) -> dict[str, float]:
        """Natural parameters of L(N, D), exact where the terms are added (``joint`` = 1)."""
        return {name: getattr(self, name) for name in ("E", "A", "alpha", "B", "beta")}

    @property
    def compute_law(self) -> dict[str, float]:
        """Natural parameters of L(C) = E + A·C^α at the best N, D and λ (Hoffmann et al. §3.3).

        T^(1/j) is a sum of two powers, and least where T is: its exponents are α/j and β/j.
        """
        j, total = self.joint, self.alpha + self.beta
        A, B = self.A ** (1.0 / j), self.B ** (1.0 / j)
        G = (self.alpha * A / (self.beta * B)) ** (j / total)
        exponent = -self.alpha * self.beta / total
        best = (A * G ** (-self.alpha / j) + B * G ** (self.beta / j)) ** j
        return {"E": self.E, "A": best * 6.0**-exponent, "alpha": exponent}

    def mean_log_loss(self, columns: Columns) -> FloatArray:
        """(m,) noise-free log loss of every row, also where it would diverge."""
        N, D = columns["N"], columns["D"]
        law = np.log(self.best_loss(N, D))
        excess = [bowl.excess(columns[name], N, D) for name, bowl in self.bowls.items()]
        excess += [_effect(name, columns[name], e) for name, e in self.levels.items()]
        return np.asarray(law + sum(excess), dtype=np.float64)

    def best_loss(self, N: AnyArray, D: AnyArray) -> FloatArray:
        """(m,) E + T: the noise-free loss at the best λ of every (N, D)."""
        of_N, of_D = self.A * N**-self.alpha, self.B * D**-self.beta
        if self.joint == 1.0:
            return np.asarray(self.E + of_N + of_D, dtype=np.float64)
        power = 1.0 / self.joint
        T = (of_N**power + of_D**power) ** self.joint
        return np.asarray(self.E + T, dtype=np.float64)

    def diverges(self, columns: Columns) -> BoolArray:
        """(m,) rows too far above the centre of some bowl."""
        corner = np.zeros(len(columns["N"]), dtype=np.bool_)
        for name, bowl in self.bowls.items():
            offset = bowl.offset(columns[name], columns["N"], columns["D"])
            corner |= offset > np.log(bowl.diverges_at)
        return corner

    def sample(self, columns: Columns, rng: np.random.Generator) -> FloatArray:
        """(m,) losses of one run per row."""
        m = len(columns["N"])
        gaussian = np.isinf(self.tail_df)
        noise = rng.standard_normal(m) if gaussian else rng.standard_t(self.tail_df, m)
        loss = np.exp(self.mean_log_loss(columns) + self.noise * noise)
        lost = self.diverged_loss * np.exp(self.diverged_spread * rng.standard_exponential(m))
        return np.where(self.diverges(columns), lost, loss)


def _effect(name: str, values: AnyArray, effects: Effects) -> FloatArray:
    """(m,) e of each row's level."""
    found, place = np.unique(values, return_inverse=True)
    by_level: dict[str | float, float] = dict(effects.items())
    for level in found.tolist():
        if level not in by_level:
            raise unknown(f"level of {name}", str(level), map(str, by_level))
    return np.array([by_level[level] for level in found.tolist()])[place]
