"""Following a history: refits on a schedule, extensions in between, and the posterior at its end.

What a Gaussian process is (its kernel, its mean, how it treats its targets) is a `Recipe`; when it
is refitted and how one more run is taken in is here. Everything a state holds is determined by the
beginning of the history it belongs to, so a fresh process that retraces it ends at the same.

Notation and shapes
    m candidates, k observed; targets are (y − offset)/spread, offset (m,) known before any run
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lawsmith.grid import FloatArray, Grid, IntArray
from lawsmith.surrogates.base import Observations, Posterior, Sampler, Scale
from lawsmith.surrogates.gp.factor import Covariance, Factor
from lawsmith.surrogates.gp.hyperparameters import cholesky
from lawsmith.threads import one_thread


@dataclass(frozen=True)
class Schedule:
    """Refit at every count up to ``every_until``, then whenever the count has grown by ``growth``.

    growth 0 refits at every count. Up to ``cold_until`` each refit starts from the priors' modes;
    with so few observations the last answer is no better a start.
    """

    growth: float = 0.05
    every_until: int = 50
    cold_until: int = 10

    def points(self, n: int) -> list[int]:
        """Counts at which a history of ``n`` rows was refitted, ascending; the first is cold."""
        if n <= self.cold_until:
            return [n]
        points = [self.cold_until]
        while (following := self._after(points[-1])) <= n:
            points.append(following)
        return points

    def _after(self, point: int) -> int:
        if point < self.every_until:
            return point + 1
        return max(point + 1, int(point * (1.0 + self.growth)))


@dataclass(frozen=True, eq=False)
class Refit:
    """A model at a refit.

    offset        (m,) prior mean of the surface, before the constant
    has_constant  whether a constant mean is estimated on top
    start         whatever the next refit begins from
    """

    kernel: Covariance
    eta: FloatArray
    offset: FloatArray
    spread: float
    factor: Factor
    has_constant: bool
    start: Any


class Recipe(Protocol):
    """What is particular to one kind of process."""

    def refit(self, grid: Grid, found: Observations, start: Any) -> Refit:
        """The model of ``found``; ``start`` is the last refit's, None for a cold one."""
        ...

    def target(self, grid: Grid, found: Observations, i: int) -> tuple[float, float]:
        """The i-th observation as it is modelled, judged by those up to it, and the variance it
        has beyond a run's noise."""
        ...


@dataclass(eq=False)
class FittedState:
    """Where a history left off."""

    grid: Grid
    seen: Observations
    refitted_at: int  # how many of the rows seen
    model: Refit
    posterior: Posterior | None = None


def follow(
    recipe: Recipe,
    schedule: Schedule,
    memory: Sequence[FittedState],
    grid: Grid,
    found: Observations,
) -> FittedState:
    """The state after ``found``, from the remembered one where that is its beginning."""
    for state in memory:
        if state.grid is grid and _begins_with(found, state.seen):
            return _advance(recipe, schedule, state, found)
    first = schedule.points(len(found.rows))[0]
    beginning = first_of(found, first)
    state = FittedState(grid, beginning, first, recipe.refit(grid, beginning, None))
    return _advance(recipe, schedule, state, found)


def _advance(
    recipe: Recipe, schedule: Schedule, state: FittedState, found: Observations
) -> FittedState:
    """``state`` brought up to ``found``, run by run, with the refits that are due."""
    n, grid = len(found.rows), state.grid
    for point in schedule.points(n):
        if point > state.refitted_at:
            start = None if point <= schedule.cold_until else state.model.start
            beginning = first_of(found, point)
            state = FittedState(grid, beginning, point, recipe.refit(grid, beginning, start))
    model = state.model
    for i in range(len(state.seen.rows), n):
        row = int(found.rows[i])
        value, extra = recipe.target(grid, found, i)
        y = (value - model.offset[row]) / model.spread
        model.factor.extend(row, float(y), int(found.n_runs[i]), extra / model.spread**2)
        state.posterior = None
    state.seen = found
    return state


def _begins_with(found: Observations, seen: Observations) -> bool:
    k = len(seen.rows)
    return (
        k <= len(found.rows)
        and np.array_equal(found.rows[:k], seen.rows)
        and np.array_equal(found.y[:k], seen.y)
        and np.array_equal(found.n_runs[:k], seen.n_runs)
        and np.array_equal(found.diverged[:k], seen.diverged)
        and np.array_equal(found.squares[:k], seen.squares)
    )


def first_of(found: Observations, n: int) -> Observations:
    """The first n observations, without pending rows."""
    return Observations(
        rows=found.rows[:n],
        y=found.y[:n],
        n_runs=found.n_runs[:n],
        pending=found.pending[:0],
        diverged=found.diverged[:n],
        squares=found.squares[:n],
    )


def posterior(state: FittedState, found: Observations, scale: Scale) -> Posterior:
    """The posterior of a state; pending rows of ``found`` are observed at its mean."""
    if state.posterior is None:
        model = state.model
        c = model.factor.constant() if model.has_constant else 0.0
        mean = model.offset + model.spread * model.factor.mean(c)
        state.posterior = _posterior(state, model.factor, mean, scale, float(state.seen.y.min()))
    plain = state.posterior
    if not len(found.pending):
        return plain
    model = state.model
    factor = model.factor.copy()
    for row in found.pending.tolist():
        y = (plain.mean[row] - model.offset[row]) / model.spread
        factor.extend(row, float(y), n_runs=1)
    return _posterior(state, factor, plain.mean, scale, plain.best)


def _posterior(
    state: FittedState, factor: Factor, mean: FloatArray, scale: Scale, best: float
) -> Posterior:
    sd = state.model.spread * np.sqrt(factor.variance())
    noise = state.model.spread * float(np.sqrt(state.model.kernel.noise(state.model.eta)))
    return Posterior(mean, sd, scale, best, _sampler(state, factor, mean), noise)


def _sampler(state: FittedState, factor: Factor, mean: FloatArray) -> Sampler:
    """Joint draws at some rows, by a factor of their posterior covariance.

    ``factor`` may have grown by the time of a draw: its first rows, those of this posterior, stay
    what they are.
    """
    k, model = factor.k, state.model

    def sampler(n: int, rng: np.random.Generator, rows: IntArray) -> FloatArray:
        with one_thread():
            V = factor.V[:k, rows]
            prior = model.kernel.cross(model.eta, rows, rows)
            # Rounding leaves observed rows slightly indefinite. A free outputscale can be large
            # beside what is still uncertain, so the noise of a run bounds what is added.
            jitter = np.minimum(1e-9 * np.diag(prior), 1e-3 * model.kernel.noise(model.eta))
            covariance = prior - V.T @ V
            covariance[np.diag_indices_from(covariance)] += jitter
            root = cholesky(covariance)
            draws = root @ rng.standard_normal((len(rows), n))
            return np.asarray(mean[rows] + model.spread * draws.T)

    return sampler
