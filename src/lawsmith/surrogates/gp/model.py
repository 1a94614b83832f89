"""The exact Gaussian process with a constant mean: the paper's surrogate, as BoTorch has it.

Hyperparameters are refitted at the counts of runs that `Refits` names; in between, one more run is
one more row of the factor. A state depends only on the history that it belongs to, so a fresh
process that retraces the history reaches the same state.

Notation and shapes
    m candidates, k observed; targets are (y − centre)/spread, both as at the last refit. The
    constant mean of the targets is the best one at every step, which costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from lawsmith.grid import FloatArray, Grid, IntArray
from lawsmith.runs import Runs
from lawsmith.surface.process import cholesky
from lawsmith.surrogates.base import Observations, Posterior, Refits, Sampler, observations
from lawsmith.surrogates.gp.factor import Factor
from lawsmith.surrogates.gp.hyperparameters import fit_hyperparameters
from lawsmith.surrogates.gp.kernel import Kernel, check_names, kernel_on
from lawsmith.threads import one_thread

# Up to 10 runs each refit starts from the priors' modes: the result of so few runs is no better a
# start. The rest was chosen on OELLM-English with ten seeds: at every run up to 50, then at each
# growth by 5 %, errs no more than at every run up to 200 and takes half the time
# (docs/benchmarks.md).
REFITS = Refits(first=10, every_until=50, growth=0.05)
FEW = 50  # runs; with more, a search from the last lengthscales does not lose them


@dataclass(eq=False)
class _Fitted:
    """A process as it was last fitted, updated with what was observed since.

    refitted_at   how many of the rows seen it was fitted to
    """

    grid: Grid
    seen: Observations
    refitted_at: int
    kernel: Kernel
    eta: FloatArray
    centre: float
    spread: float
    factor: Factor
    posterior: Posterior | None = None

    def standard(self, y: float) -> float:
        """A value as a target."""
        return (y - self.centre) / self.spread

    @property
    def noise(self) -> float:
        """Variance of a run, of the targets."""
        return self.kernel.noise(self.eta)


@dataclass(frozen=True)
class GP:
    """An exact Gaussian process with constant mean; see `gp.kernel` and `gp.priors` for names.

    It remembers the last state, so that one more run only extends the factorisation. A posterior
    does not depend on this memory: a fresh object retraces the same refits.
    """

    kernel: str = "matern"
    priors: str = "free"
    scale: str = "loss"
    refits: Refits = REFITS
    _memory: list[_Fitted] = field(default_factory=list, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_names(kernel=self.kernel, priors=self.priors, scale=self.scale)

    @property
    def name(self) -> str:
        return "gp"

    def fit(self, grid: Grid, runs: Runs) -> Posterior:
        """The posterior of the surface given the finished runs, and pending ones at their mean."""
        data = observations(grid, runs, self.scale)
        with one_thread():
            state = self._follow(grid, data)
            self._memory[:] = [state]
            return self._posterior(state, data.pending)

    def hyperparameters(self, grid: Grid, runs: Runs) -> FloatArray:
        """(h,) natural hyperparameters behind the posterior of this history, in eta's order."""
        self.fit(grid, runs)
        return np.exp(self._memory[0].eta)

    def _follow(self, grid: Grid, data: Observations) -> _Fitted:
        """The state after ``data``, from the remembered state if that is its beginning."""
        known = (s for s in self._memory if s.grid is grid and data.begins_with(s.seen))
        state, n = next(known, None), len(data.rows)
        for point in self.refits.points(n) or [n]:
            if state is None or point > state.refitted_at:
                state = self._refit(grid, data.first(point), state)
        assert state is not None  # there is a point for every history
        for i in range(len(state.seen.rows), n):
            y, noise = state.standard(float(data.y[i])), state.noise / int(data.n_runs[i])
            state.factor.extend(int(data.rows[i]), y, noise)
            state.posterior = None
        state.seen = data
        return state

    def _refit(self, grid: Grid, data: Observations, before: _Fitted | None) -> _Fitted:
        """The hyperparameters of ``data``, searched from those of the last refit."""
        kernel = kernel_on(grid, self.kernel, self.priors) if before is None else before.kernel
        centre, spread, n = float(np.mean(data.y)), _spread(data.y), len(data.rows)
        targets = replace(data, y=(data.y - centre) / spread)
        starts = []
        if before is not None and n > self.refits.first:
            starts.append(before.eta)
        # Without priors a few runs can send a lengthscale to where no gradient leads back. With few
        # runs the search therefore also starts cold.
        if not starts or n <= FEW:
            starts.append(kernel.start)
        eta = fit_hyperparameters(kernel, targets, starts)
        factor = factor_of(kernel, eta, targets)
        return _Fitted(grid, data, n, kernel, eta, centre, spread, factor)

    def _posterior(self, state: _Fitted, pending: IntArray) -> Posterior:
        """The posterior of a state; pending rows are observed at its mean."""
        if state.posterior is None:
            mean = state.centre + state.spread * state.factor.mean(state.factor.constant())
            best = float(state.seen.y.min())
            state.posterior = self._with_factor(state, state.factor, mean, best)
        plain = state.posterior
        if not len(pending):
            return plain
        factor = state.factor.copy()
        for row in pending.tolist():
            factor.extend(row, state.standard(float(plain.mean[row])), state.noise)
        return self._with_factor(state, factor, plain.mean, plain.best)

    def _with_factor(
        self, state: _Fitted, factor: Factor, mean: FloatArray, best: float
    ) -> Posterior:
        sd = state.spread * np.sqrt(factor.variance())
        noise = state.spread * float(np.sqrt(state.noise))
        return Posterior(mean, sd, self.scale, best, _sampler(state, factor, mean), noise)


def factor_of(kernel: Kernel, eta: FloatArray, targets: Observations) -> Factor:
    noise = kernel.noise(eta) / targets.n_runs
    cross = partial(kernel.cross, eta)
    return Factor(cross, kernel.variances(eta), targets.rows, targets.y, noise)


def _spread(y: FloatArray) -> float:
    """Standard deviation, or 1 where there is none: a single target, or equal ones."""
    spread = float(np.std(y, ddof=1)) if len(y) > 1 else 0.0
    return spread if spread > 1e-8 * max(1.0, float(np.abs(y).max())) else 1.0


def _sampler(state: _Fitted, factor: Factor, mean: FloatArray) -> Sampler:
    """Joint draws at some rows, by a factor of their posterior covariance.

    ``factor`` may have grown by the time of a draw, but its first rows, those of this posterior,
    do not change.
    """
    k = factor.k

    def sampler(n: int, rng: np.random.Generator, rows: IntArray) -> FloatArray:
        with one_thread():
            V = factor.V[:k, rows]
            prior = state.kernel.cross(state.eta, rows, rows)
            # Rounding can leave the covariance of observed rows slightly indefinite. A free
            # outputscale can be large beside the remaining variance, so noise bounds the jitter.
            jitter = np.minimum(1e-9 * np.diag(prior), 1e-3 * state.noise)
            covariance = prior - V.T @ V
            covariance[np.diag_indices_from(covariance)] += jitter
            root = cholesky(covariance)
            draws = root @ rng.standard_normal((len(rows), n))
            return np.asarray(mean[rows] + state.spread * draws.T)

    return sampler
