"""Loss along a run whose learning rate changes: a law of the rate's whole path.

Notation and shapes
    η(D)    learning rate over the largest of the group; knots k of a path (`trajectory.RatePath`)
    S       ∫ η dD from the start of the run, over the group's usual end
    L(D)    = L0 + A·S^(−α) − B·Σ_k (η_{k−1} − η_k)·(1 − (1 + C·η_k^(−γ)·(S − S_k))^(−β))
            a power law in what was learnt in all, less what each step down of the rate has released
            since then (the form of Luo et al. 2025, arXiv 2503.12811; the code is ours)
    theta   (7,) ln of L0, A, α, B, C, β, γ, with normal priors
    z       = (theta − mean)/sd

Before the first row of a curve the rate is taken to be that of the first row. Errors of log loss
along a run go together, so a curve counts as EFFECTIVE points, however many it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import least_squares

from lawsmith.arrays import FloatArray, robust_sd
from lawsmith.errors import LawsmithError
from lawsmith.trajectory import Curve, RatePath

# Medians, of the loss near the end for L0, A and B, and SDs of logs.
PRIOR = (
    *((0.8, 0.3), (0.15, 0.7), (0.5, 0.5), (0.05, 1.0)),
    *((50.0, 1.5), (0.5, 0.5), (0.5, 0.5)),
)
EFFECTIVE = 8.0
LEAST_SD, FIRST_SD = 0.001, 0.003
LEAST_RATE = 1e-3  # of the largest: a rate of 0 would stand still


@dataclass(frozen=True, eq=False)
class Units:
    """What rates and tokens of a group are divided by."""

    rate: float
    D: float

    @classmethod
    def of(cls, curves: Sequence[Curve]) -> Units:
        paths = [c.path for c in curves if c.path is not None]
        return cls(max(float(p.lr.max()) for p in paths), float(np.median([c.end for c in curves])))


@dataclass(frozen=True, eq=False)
class ScheduleLaw:
    """A fit to curves of one size; make it with `fit_law`.

    cov   of theta; sd of log loss about the law
    """

    units: Units
    theta: FloatArray
    cov: FloatArray
    sd: float

    def end(self, curve: Curve) -> tuple[float, float]:
        """Log loss at the end of a run that has a path, and variance of its error by theta."""
        if curve.path is None:
            raise LawsmithError(f"curve {curve.run}", got="no learning rate", want="its path")
        value, variance = self.log_loss(curve.path, np.array([curve.end]))
        return float(value[0]), float(variance[0])

    def log_loss(self, path: RatePath, D: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(q,) log loss at D along a path, and variance of its error by theta."""
        steps = Steps(path, self.units, D)
        value = steps.log_loss(self.theta)
        J = np.stack([(steps.log_loss(self.theta + h) - value) / 1e-5 for h in 1e-5 * np.eye(7)])
        return value, np.asarray(np.einsum("pq,pr,rq->q", J, self.cov, J))


@dataclass(frozen=True, eq=False)
class Steps:
    """A path and the points that are looked at along it."""

    path: RatePath
    units: Units
    D: FloatArray

    @cached_property
    def parts(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """S (q,) at the points; η (k,) after each step, its size (k,), and S since it (q, k)."""
        rate, span = self.units.rate, self.units.rate * self.units.D
        before = self.path.lr[0] * self.path.D[0]
        S_knots = (self.path.S + before) / span
        early = self.path.lr[0] * np.minimum(self.D - self.path.D[0], 0.0) / span
        S = np.interp(self.D, self.path.D, S_knots) + early
        eta = np.maximum(self.path.lr / rate, LEAST_RATE)
        since = np.maximum(S[:, None] - S_knots[1:], 0.0)
        return np.maximum(S, 1e-9), eta[1:], -np.diff(eta), since

    def log_loss(self, theta: FloatArray) -> FloatArray:
        L0, A, alpha, B, C, beta, gamma = np.exp(theta)
        S, eta, down, since = self.parts
        moved = np.flatnonzero(down != 0.0)
        released = 1.0 - (1.0 + C * eta[moved] ** -gamma * since[:, moved]) ** -beta
        loss = L0 + A * S**-alpha - B * (released @ down[moved])
        return np.asarray(np.log(np.maximum(loss, 1e-3 * L0)))


def fit_law(curves: Sequence[Curve], units: Units) -> ScheduleLaw:
    """The most probable law of curves of one size, each with a path; far rows count less."""
    level = float(np.median([c.loss[-1] for c in curves]))
    mean = np.log([m * (level if i in (0, 1, 3) else 1.0) for i, (m, _) in enumerate(PRIOR)])
    spread = np.array([sd for _, sd in PRIOR])
    steps = [Steps(c.path, units, c.D) for c in curves if c.path is not None]
    y = np.concatenate([np.log(c.loss) for c in curves])
    weight = np.concatenate([np.minimum(EFFECTIVE * c.D / c.D.sum(), 1.0) for c in curves])
    theta, sd = mean, FIRST_SD
    for _ in range(3):

        def residuals(z: FloatArray, sd: float = sd) -> FloatArray:
            off = np.concatenate([s.log_loss(mean + spread * z) for s in steps]) - y
            scaled = off * np.sqrt(weight) / sd
            # Student's t with 4 degrees of freedom, as squares.
            soft = np.sign(scaled) * np.sqrt(5.0 * np.log1p(scaled**2 / 4.0))
            return np.concatenate([soft, z])

        found = least_squares(residuals, (theta - mean) / spread, bounds=(-5.0, 5.0), max_nfev=60)
        theta = mean + spread * found.x
        off = np.concatenate([s.log_loss(theta) for s in steps]) - y
        sd = max(robust_sd(off), LEAST_SD)
    J = np.asarray(found.jac, dtype=np.float64)
    cov = np.asarray(np.linalg.inv(J.T @ J + 1e-9 * np.eye(7)) * np.outer(spread, spread), float)
    return ScheduleLaw(units, theta, cov, sd)
