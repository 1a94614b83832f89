"""TrendGP: a law-shaped trend and a Matérn residual, of log losses with their tail compressed."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import chdtri

from lawsmith.grid import FloatArray, Grid, IntArray
from lawsmith.runs import Runs
from lawsmith.surrogates.base import Observations, Posterior, observations
from lawsmith.surrogates.gp.factor import Factor
from lawsmith.surrogates.gp.history import Refit, State, first_of, follow, posterior
from lawsmith.surrogates.gp.hyperparameters import Targets
from lawsmith.surrogates.gp.schedule import Schedule
from lawsmith.surrogates.trend.fit import (
    Scatter,
    TrendKernel,
    fit_residual,
    fit_trend,
    prior_eta,
)
from lawsmith.surrogates.trend.shape import Trend, scales_of, trend_on
from lawsmith.surrogates.trend.tail import compress
from lawsmith.threads import one_thread

WIDTH = 0.05  # of log loss above the best at no larger scale that is taken at face value
RARE = 0.01  # a row of replicates further apart than this share of rows counts as one at the edge
LEAST_ROWS = 5  # of replicates, to tell a typical one


@dataclass(frozen=True, eq=False)
class Start:
    """What a refit leaves to the next."""

    trend: Trend
    theta: FloatArray
    eta: FloatArray


@dataclass(frozen=True)
class TrendGP:
    """A Gaussian process that extrapolates as losses do.

    width   how far above the best loss at no larger scale a loss is taken at face value, in log
            loss; infinite to take every loss so
    """

    width: float = WIDTH
    schedule: Schedule = field(default_factory=Schedule)
    _memory: list[State] = field(default_factory=list, repr=False, compare=False)

    @property
    def name(self) -> str:
        return "trend"

    def fit(self, grid: Grid, runs: Runs) -> Posterior:
        """The posterior of log loss given the finished runs, pending ones as fantasies."""
        found = observations(grid, runs, "log")
        with one_thread():
            state = follow(self, self.schedule, self._memory, grid, found)
            self._memory[:] = [state]
            return posterior(state, found, "log")

    def refit(self, grid: Grid, found: Observations, start: Start | None) -> Refit:
        """Trend and residual in turn, twice: each is fitted given the other."""
        y, extra = self._targets(grid, found)
        X = _varying(grid)
        trend = start.trend if start else trend_on(grid, float(np.exp(np.median(y))))
        theta = start.theta if start else trend.mean
        eta = start.eta if start else prior_eta(X.shape[1])[0]
        plain = Targets(found.rows, y, found.n_runs, extra)
        scatter = scatter_of(found, extra)
        for _ in range(2):
            theta = fit_trend(trend, X, eta, plain, [theta, trend.mean] if start else [theta])
            value, J = trend.value_and_jac(theta)
            offset = value + J @ (trend.mean - theta)
            kernel = TrendKernel(X, J * trend.sd)
            targets = Targets(found.rows, y - offset[found.rows], found.n_runs, extra)
            eta = fit_residual(kernel, targets, eta, scatter)
        factor = Factor(kernel, eta, targets)
        left = Start(trend, theta, eta)
        return Refit(kernel, eta, offset, 1.0, factor, has_constant=False, start=left)

    def target(self, grid: Grid, found: Observations, i: int) -> tuple[float, float]:
        """Compressed, judged by the observations up to it."""
        y, extra = self._targets(grid, first_of(found, i + 1))
        return float(y[-1]), float(extra[-1])

    def _targets(self, grid: Grid, found: Observations) -> tuple[FloatArray, FloatArray]:
        """(k,) targets with their tail compressed, and the variance that is owed to it."""
        return compress(scales_of(grid)[:, found.rows], found.y, found.diverged, self.width)


def scatter_of(found: Observations, extra: FloatArray) -> Scatter:
    """What replicates say of the noise, pooled over the rows whose loss is taken at face value.

    Far above the best a run is as good as diverged, and scatters by more than the noise of a run.
    Runs alike to the last digit are one run listed twice.
    """
    plain = (extra == 0.0) & ~found.diverged & (found.squares > 0.0)
    dof = found.n_runs[plain] - 1
    return Scatter(float(_typical(found.squares[plain], dof).sum()), int(dof.sum()))


def _typical(squares: FloatArray, dof: IntArray) -> FloatArray:
    """(r,) squared deviations of rows, those that are too rare under normal noise cut back.

    The noise is not the same everywhere: runs that end while their loss falls fast lie far apart,
    and a few of them would speak for all. Its scale is that of the median row.
    """
    if len(squares) < LEAST_ROWS:
        return squares
    variance = np.median(squares / chdtri(dof, 0.5))
    return np.minimum(squares, variance * chdtri(dof, RARE))


def _varying(grid: Grid) -> FloatArray:
    """(m, d) the columns of the unit cube that tell rows apart."""
    X = grid.unit()
    return X[:, np.ptp(X, axis=0) > 0.0]
