"""The exact Gaussian process with a constant mean: the paper's surrogate, as BoTorch has it.

Targets are standardised by the mean and deviation at the last refit. The constant mean is the
best one at every step, which costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lawsmith.grid import FloatArray, Grid
from lawsmith.runs import Runs
from lawsmith.surrogates.base import Observations, Posterior, Scale, observations
from lawsmith.surrogates.gp.factor import Factor
from lawsmith.surrogates.gp.history import FittedState, Refit, Schedule, follow, posterior
from lawsmith.surrogates.gp.hyperparameters import Targets, fit_hyperparameters
from lawsmith.surrogates.gp.kernel import Kernel, kernel_on
from lawsmith.threads import one_thread

FEW = 50  # runs; a lengthscale that this many agree on is not lost again


@dataclass(frozen=True)
class GP:
    """An exact Gaussian process with constant mean; see `gp.kernel` and `gp.priors` for names.

    It remembers the last history, so that one more run extends the factorisation. A posterior
    does not depend on what is remembered: a fresh object retraces the same refits.
    """

    kernel: str = "matern"
    priors: str = "free"
    scale: Scale = "loss"
    schedule: Schedule = field(default_factory=Schedule)
    _memory: list[FittedState] = field(default_factory=list, repr=False, compare=False)

    @property
    def name(self) -> str:
        return "gp"

    def fit(self, grid: Grid, runs: Runs) -> Posterior:
        """The posterior of the surface given the finished runs, pending ones as fantasies."""
        found = observations(grid, runs, self.scale)
        with one_thread():
            state = follow(self, self.schedule, self._memory, grid, found)
            self._memory[:] = [state]
            return posterior(state, found, self.scale)

    def hyperparameters(self, grid: Grid, runs: Runs) -> FloatArray:
        """(h,) natural hyperparameters behind the posterior of this history, in eta's order."""
        self.fit(grid, runs)
        return np.exp(self._memory[0].model.eta)

    def refit(self, grid: Grid, found: Observations, start: FloatArray | None) -> Refit:
        """The hyperparameters of ``found``, searched from those of the last refit."""
        kernel = self._kernel_on(grid)
        centre, spread = float(np.mean(found.y)), _spread(found.y)
        targets = Targets(found.rows, (found.y - centre) / spread, found.n_runs)
        # Without priors a few runs can send a lengthscale where no gradient leads back from: as
        # long as they are few, the search also starts cold.
        cold = start is None or len(found.rows) <= FEW
        starts = [eta for eta in (start, kernel.start if cold else None) if eta is not None]
        eta = fit_hyperparameters(kernel, targets, starts)
        offset = np.full(len(grid), centre)
        factor = Factor(kernel, eta, targets)
        return Refit(kernel, eta, offset, spread, factor, has_constant=True, start=eta)

    def target(self, grid: Grid, found: Observations, i: int) -> tuple[float, float]:
        """As it was observed."""
        return float(found.y[i]), 0.0

    def _kernel_on(self, grid: Grid) -> Kernel:
        """The kernel of the remembered history where it is of this grid."""
        for state in self._memory:
            if state.grid is grid and isinstance(state.model.kernel, Kernel):
                return state.model.kernel
        return kernel_on(grid, self.kernel, self.priors)


def _spread(y: FloatArray) -> float:
    """Standard deviation, or 1 where there is none: a single target, or equal ones."""
    spread = float(np.std(y, ddof=1)) if len(y) > 1 else 0.0
    return spread if spread > 1e-8 * max(1.0, float(np.abs(y).max())) else 1.0
