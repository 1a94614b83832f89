"""Members: ways from a target to an accuracy, each a posterior of curves.

Notation and shapes as in `lawsmith.tasks.curve` and `lawsmith.tasks.data`.

    two steps   x is the log of a loss, which the surface of that loss gives at a target
    direct      x is minus a log scale: of N and D joined, or of the one scale there is

Each way is fitted to all runs and to the upper ones: small models may follow another curve. Beyond
the best x that was run, x errs by DRIFT of the distance, for no curve is known to hold there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from lawsmith.arrays import FloatArray, IntArray
from lawsmith.tasks import priors
from lawsmith.tasks.curve import (
    N_PARAMS,
    Shape,
    Task,
    log_density,
    mean_and_scale,
    shape_of,
)
from lawsmith.tasks.data import RATIO_REACH, Scales, Scored, best_of_cells
from lawsmith.tasks.smc import sample

Way = Literal["two steps", "direct"]
N_DRAWS = 1000  # means of so many err by 3 % of an SD
MOST_RUNS = 200  # that a curve is fitted to


@dataclass(frozen=True, eq=False)
class Member:
    """A posterior of curves.

    u          (b, d) draws; a direct way of N and D has two parameters more
    reference  what the middle's prior is relative to
    best       (b,) the best x of the runs it was fitted to
    """

    way: Way
    window: str
    task: Task
    scales: Scales
    u: FloatArray
    reference: float
    best: FloatArray

    @property
    def shape(self) -> Shape:
        return shape_of(self.u, self.task, self._prior, self.reference)

    @property
    def _prior(self) -> priors.Prior:
        return priors.LOSS if self.way == "two steps" else priors.SCALE

    def take(self, rows: IntArray) -> Member:
        """With those draws, some perhaps more than once."""
        return replace(self, u=self.u[rows], best=self.best[rows])

    def x_at(self, Z: FloatArray, rng: np.random.Generator) -> FloatArray:
        """(b, k) x of places, with its error beyond the data.

        Z   log losses (b, k) for two steps; scales (k, q), or (b, k, q) where each draw has its
            own, for a direct way
        """
        x = Z if self.way == "two steps" else joined(self.u, Z)
        beyond = np.maximum(self.best[:, None] - x, 0.0)
        return np.asarray(x + priors.DRIFT * beyond * rng.standard_normal((len(self.u), 1)))

    def best_scales(self, log_C: float) -> FloatArray:
        """(b, 1, q) coordinates of the best scales at a compute, at D/N near those run."""
        scales = self.scales
        if len(scales.names) == 1:
            at = scales.one_scale(log_C)
            return np.full((len(self.u), 1, 1), at)
        left = log_C - np.log(scales.multiplier) - float(np.sum(scales.origin))
        offset = scales.origin[1] - scales.origin[0]
        low, high = (end - offset for end in scales.ratio)
        ratio = 2.0 * _join(self.u)[1]  # ln(D/N), from that of the origin
        apart = np.clip(ratio, low - RATIO_REACH, high + RATIO_REACH)
        return 0.5 * np.concatenate([left - apart, left + apart], axis=1)[:, None, :]

    def accuracy(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and scale (b, k) of a measured accuracy."""
        return mean_and_scale(self.shape, x, self.task.questions)

    def log_predictive(self, y: FloatArray, x: FloatArray) -> float:
        """Of accuracies measured at x (b, k), each for itself, summed."""
        each = log_density(y, *self.accuracy(x))
        top = each.max(axis=0)
        return float((top + np.log(np.exp(each - top).mean(axis=0))).sum())


def joined(u: FloatArray, Z: FloatArray) -> FloatArray:
    """(b, k) minus the log scale of places, Z (k, q) or (b, k, q)."""
    if Z.shape[-1] == 1:
        return np.asarray(np.zeros((len(u), 1)) - Z[..., 0])
    a, r = _join(u)
    n, d = Z[..., 0] + r, Z[..., 1] - r
    return np.asarray((np.logaddexp(-a * n, -a * d) - np.log(2.0)) / a)


def _join(u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(b, 1) exponent and log ratio by which N and D join."""
    exponent = priors.EXPONENT[0] * np.exp(priors.EXPONENT[1] * u[:, N_PARAMS, None])
    return exponent, priors.RATIO * u[:, N_PARAMS + 1, None]


def fit_members(data: Scored, task: Task, ways: tuple[Way, ...], seed: int) -> list[Member]:
    """Every way, fitted to all runs and, where there are enough, to the upper ones."""
    found = []
    for way in ways:
        rows = data if way == "two steps" else data.take(best_of_cells(data))
        rows = _fewer(rows, way)
        windows = {"all": rows}
        upper = np.argsort(_rank(rows, way), kind="stable")[: round(priors.UPPER * len(rows))]
        if len(upper) >= priors.LEAST_UPPER:
            windows["upper"] = rows.take(np.sort(upper))
        found += [fit_member(way, name, part, task, seed) for name, part in windows.items()]
    return found


def fit_member(way: Way, window: str, data: Scored, task: Task, seed: int) -> Member:
    """The posterior of one way's curve."""
    two = way == "two steps"
    prior = priors.LOSS if two else priors.SCALE
    reference = float(np.quantile(data.log_loss, 0.1)) if two else 0.0
    d = N_PARAMS + (2 if not two and data.Z.shape[1] == 2 else 0)

    def x(u: FloatArray) -> FloatArray:
        return data.log_loss[None, :] if two else joined(u, data.Z)

    def log_likelihood(u: FloatArray) -> FloatArray:
        shape = shape_of(u, task, prior, reference)
        mean, scale = mean_and_scale(shape, x(u), task.questions)
        return np.asarray(log_density(data.y, mean, scale).sum(axis=1))

    u = sample(log_likelihood, d, n=N_DRAWS, rng=np.random.default_rng(seed))
    best = np.broadcast_to(x(u).min(axis=1), (N_DRAWS,))
    return Member(way, window, task, data.scales, u, reference, np.asarray(best))


def _rank(data: Scored, way: Way) -> FloatArray:
    """What orders runs from the upper ones down."""
    return data.log_loss if way == "two steps" else -np.log(data.C)


def _fewer(data: Scored, way: Way) -> Scored:
    """Of many runs the best half, and of the others as many, evenly."""
    if len(data) <= MOST_RUNS:
        return data
    order = np.argsort(_rank(data, way), kind="stable")
    half = MOST_RUNS // 2
    rest = order[half:][np.linspace(0, len(order) - half - 1, MOST_RUNS - half).astype(int)]
    return data.take(np.sort(np.concatenate([order[:half], rest])))
