"""The exact Gaussian process on a grid as a surrogate: refits on a schedule, extends in between.

Targets are standardised by the mean and deviation at the last refit. The constant mean is the
best one at every step, which costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import solve_triangular

from lawsmith.grid import FloatArray, Grid
from lawsmith.runs import Runs
from lawsmith.surrogates.base import Observations, Posterior, Sampler, Scale, observations
from lawsmith.surrogates.gp.factor import Factor
from lawsmith.surrogates.gp.hyperparameters import Targets, cholesky, fit_hyperparameters
from lawsmith.surrogates.gp.kernel import Kernel, kernel_on
from lawsmith.surrogates.gp.schedule import Schedule
from lawsmith.threads import one_thread


@dataclass(eq=False)
class _State:
    """Where the last history left off: its observations, hyperparameters and factorisation."""

    grid: Grid
    kernel: Kernel
    seen: Observations
    refitted_at: int  # of seen.rows
    eta: FloatArray
    centre: float  # of the targets at the last refit
    spread: float
    factor: Factor
    posterior: Posterior | None = None
    root: FloatArray | None = (
        None  # (m, m) factor of the prior covariance, made when draws are asked
    )


@dataclass(frozen=True)
class GP:
    """An exact Gaussian process with constant mean; see `gp.kernel` and `gp.priors` for names.

    It remembers the last history, so that one more run extends the factorisation. A posterior
    does not depend on what is remembered: a fresh object retraces the same refits.
    """

    kernel: str = "matern"
    priors: str = "lognormal"
    scale: Scale = "loss"
    schedule: Schedule = field(default_factory=Schedule)
    _memory: list[_State] = field(default_factory=list, repr=False, compare=False)

    @property
    def name(self) -> str:
        return "gp"

    def fit(self, grid: Grid, runs: Runs) -> Posterior:
        """The posterior of the surface given the finished runs, pending ones as fantasies."""
        found = observations(grid, runs, self.scale)
        with one_thread():
            state = self._continue(grid, found) or self._restart(grid, found)
            self._memory[:] = [state]
            if state.posterior is None:
                state.posterior = _posterior(state, self.scale)
            plain = state.posterior
            return _with_pending(plain, state, found) if len(found.pending) else plain

    def hyperparameters(self, grid: Grid, runs: Runs) -> FloatArray:
        """(h,) natural hyperparameters behind the posterior of this history, in eta's order."""
        self.fit(grid, runs)
        return np.exp(self._memory[0].eta)

    def _continue(self, grid: Grid, found: Observations) -> _State | None:
        """The remembered state, brought up to ``found``; None where it is not its beginning."""
        if not self._memory or self._memory[0].grid is not grid:
            return None
        state = self._memory[0]
        known = len(state.seen.rows)
        if known > len(found.rows) or not _begins_with(found, state.seen):
            return None
        if known == len(found.rows):
            return state
        return self._advance(state, found)

    def _restart(self, grid: Grid, found: Observations) -> _State:
        """The state of ``found`` from nothing, by way of every refit of the schedule."""
        kernel = kernel_on(grid, self.kernel, self.priors)
        first = self.schedule.points(len(found.rows))[0]
        state = _refit(grid, kernel, _first(found, first), kernel.start)
        return self._advance(state, found)

    def _advance(self, state: _State, found: Observations) -> _State:
        """``state`` brought up to ``found``, row by row, with the refits that are due."""
        n = len(found.rows)
        due = [p for p in self.schedule.points(n) if p > state.refitted_at]
        for point in due:
            start = state.kernel.start if point <= self.schedule.cold_until else state.eta
            state = _refit(state.grid, state.kernel, _first(found, point), start)
        for i in range(len(state.seen.rows), n):
            _extend(state, found, i)
        state.seen = found
        return state


def _begins_with(found: Observations, seen: Observations) -> bool:
    k = len(seen.rows)
    return (
        np.array_equal(found.rows[:k], seen.rows)
        and np.array_equal(found.y[:k], seen.y)
        and np.array_equal(found.n_runs[:k], seen.n_runs)
    )


def _first(found: Observations, n: int) -> Observations:
    """The first n observations, without pending rows."""
    return Observations(found.rows[:n], found.y[:n], found.n_runs[:n], found.pending[:0])


def _refit(grid: Grid, kernel: Kernel, found: Observations, start: FloatArray) -> _State:
    centre, spread = float(np.mean(found.y)), _spread(found.y)
    targets = Targets(found.rows, (found.y - centre) / spread, found.n_runs)
    eta = fit_hyperparameters(kernel, targets, start)
    factor = Factor(kernel, eta, targets)
    return _State(grid, kernel, found, len(found.rows), eta, centre, spread, factor)


def _spread(y: FloatArray) -> float:
    """Standard deviation, or 1 where there is none: a single target, or equal ones."""
    spread = float(np.std(y, ddof=1)) if len(y) > 1 else 0.0
    return spread if spread > 1e-8 * max(1.0, float(np.abs(y).max())) else 1.0


def _extend(state: _State, found: Observations, i: int) -> None:
    y = (found.y[i] - state.centre) / state.spread
    state.factor.extend(int(found.rows[i]), float(y), int(found.n_runs[i]))
    state.posterior = None


def _posterior(state: _State, scale: Scale) -> Posterior:
    factor, spread = state.factor, state.spread
    mean = state.centre + spread * factor.mean(factor.constant())
    sd = spread * np.sqrt(factor.variance())
    best = float(state.seen.y.min())
    return Posterior(mean, sd, scale, best, _sampler(state, factor, mean))


def _with_pending(plain: Posterior, state: _State, found: Observations) -> Posterior:
    """The posterior with pending rows observed at the mean: the mean stays, deviations shrink."""
    factor = state.factor.copy()
    for row in found.pending.tolist():
        factor.extend(row, float((plain.mean[row] - state.centre) / state.spread), n_runs=1)
    sd = state.spread * np.sqrt(factor.variance())
    return Posterior(plain.mean, sd, plain.scale, plain.best, _sampler(state, factor, plain.mean))


def _sampler(state: _State, factor: Factor, mean: FloatArray) -> Sampler:
    """Joint draws by Matheron's rule: a draw of the prior, corrected by what was observed.

    One factorisation of the prior serves every draw until the next refit. ``factor`` may have
    grown by the time of a draw: its first rows, those of this posterior, stay what they are.
    """
    k = factor.k

    def sampler(n: int, rng: np.random.Generator) -> FloatArray:
        with one_thread():
            return draw(n, rng)

    def draw(n: int, rng: np.random.Generator) -> FloatArray:
        if state.root is None:
            rows = np.arange(len(state.grid))
            state.root = cholesky(state.kernel.cross(state.eta, rows))
        prior = state.root @ rng.standard_normal((len(state.grid), n))
        noise = np.sqrt(factor.noise[:k])[:, None] * rng.standard_normal((k, n))
        gap = solve_triangular(factor.L[:k, :k], prior[factor.rows[:k]] + noise, lower=True)
        return np.asarray(mean + state.spread * (prior - factor.V[:k].T @ gap).T)

    return sampler
