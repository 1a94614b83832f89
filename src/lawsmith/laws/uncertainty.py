"""The uncertainty of a fitted law: intervals of parameters, predictions and functions of them.

The interval method was chosen by measured coverage (docs/coverage.md): least squares on log loss
with Student's t, whatever the objective of the point estimate; a case bootstrap if there are many
points with heavy-tailed residuals; and a correction for selection (:mod:`lawsmith.laws.selection`)
if the frontier was selected from more runs.

The centre of an interval is the value of the fitted law. If the estimator behind the interval puts
this value outside, the interval is stretched to hold it. So a law has one value of each quantity,
and it always lies inside its interval.

A parameter is *identified* if its interval excludes zero and its ends differ by at most a factor of
FACTOR. For a coefficient it is FACTOR_COEFFICIENT: a coefficient is the size of its term at N = 1,
some eight decades below the data, where ±0.17 in the exponent is a factor of 1000. A parameter
whose bounds include zero may have any interval. A parameter at the edge of its range is not
identified, and if it is an exponent no other parameter is, because their intervals assume this
edge. E is the limit of the powers, so it is identified only if all exponents are. A parameter that
is not identified has no interval.
Shapes as in :mod:`lawsmith.laws.law`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from lawsmith.arrays import robust_sd, saturating
from lawsmith.grid import BoolArray, FloatArray
from lawsmith.laws.fit import LawFit, fit_law, refit_weighted
from lawsmith.laws.law import Law, Param
from lawsmith.laws.objective import LEAST_SQUARES_LOG, Objective
from lawsmith.laws.optimise import Solution, leave_one_out

LAW_OF_RUNS = "the law of the mean loss at these inputs"
LAW_OF_FRONTIER = "the law of the noise-free frontier"

FACTOR, FACTOR_COEFFICIENT = 10.0, 1000.0  # of identified parameters; see above
MIN_DOF_BOOTSTRAP = 30  # the kurtosis of fewer normal residuals has an SD of 0.9 or more
HEAVY = 4.0  # tails are heavy if the kurtosis is so many SDs (of normal residuals) too large
N_BOOTSTRAP = 400  # the SD of so many draws has an error of 1/√800, 4 %
# Leaving out each of n points costs n² in all. With more points than MOST_REFITS all are
# linearised, and the most influential REFITTED are refitted: warnings name only the largest move.
MOST_REFITS, REFITTED = 400, 20


class Interval(NamedTuple):
    """A centre and its bounds; numbers, or arrays of one shape."""

    centre: Any
    low: Any
    high: Any


@dataclass(frozen=True)
class Uncertainty:
    """The uncertainty of phi by normal theory: centre, covariance, degrees of freedom.

    ``residual_sd`` is the scatter of log loss about the law, as a further point would have it.
    ``fitted`` (p,) is the fitted law, which every interval holds; ``phi`` itself if not given.
    ``lowest`` is the lowest loss that was fitted; E is at most that.
    """

    law: Law
    phi: FloatArray  # (p,)
    cov: FloatArray  # (p, p), 0 for fixed parameters
    dof: int
    residual_sd: float
    method: str
    estimand: str
    shift: float = 0.0  # optimism of the frontier that was corrected, in log loss (≤ 0)
    noise_sd: float = float("nan")  # of one run's log loss, if known
    misfit: float = float("nan")  # residual variance, divided by that of noise alone
    noise_dof: int = 0  # degrees of freedom of that noise
    at_bounds: tuple[str, ...] = ()  # parameters at the edge of their range: no interval of theirs
    fitted: FloatArray | None = None
    lowest: float = float("inf")

    @property
    def point(self) -> FloatArray:
        """(p,) the fitted law."""
        return self.phi if self.fitted is None else self.fitted

    def quantile(self, level: float) -> float:
        """The quantile of Student's t for a two-sided interval."""
        return float(stdtrit(self.dof, 0.5 + level / 2))

    @saturating
    def of(self, function: Callable[[FloatArray], FloatArray], level: float = 0.95) -> Interval:
        """The interval of a smooth function of phi, (B, p) → (B, k), by the delta method."""
        middle = function(self.phi[None])[0]
        steps = 1e-5 * np.eye(self.law.n_params)
        gradient = (function(self.phi + steps) - function(self.phi - steps)) / 2e-5  # (p, k)
        half = self.quantile(level) * self._sd(gradient)
        return _holding(function(self.point[None])[0], middle, half)

    @saturating
    def params(self, level: float = 0.95) -> dict[str, Interval]:
        """Natural parameters with their intervals, by name; NaN ends if it is not identified."""
        params = self.law.params
        by_name = {param.name: self._param(j, param, level) for j, param in enumerate(params)}
        if any(np.isnan(by_name[p.name].low) for p in params if not p.positive):
            for param in params:
                if param.additive and not self._is_fixed(param):
                    by_name[param.name] = Interval(by_name[param.name].centre, np.nan, np.nan)
        return by_name

    def _param(self, j: int, param: Param, level: float) -> Interval:
        half = self.quantile(level) * float(np.sqrt(self.cov[j, j]))
        ends = _holding(self.point[j], self.phi[j], half)
        centre, low, high = (float(param.to_natural(v)) for v in ends)
        if half > 0.0 and param.additive:
            low, high = min(low, self.lowest), min(high, self.lowest)
        is_known = not self._on_an_edge(param) and identified(param, low, high)
        if not is_known and not self._is_fixed(param):
            low = high = float("nan")
        return Interval(centre, low, high)

    def _is_fixed(self, param: Param) -> bool:
        j = self.law.position(param.name)
        return self.cov[j, j] == 0.0 and param.name not in self.at_bounds

    def _on_an_edge(self, param: Param) -> bool:
        """Whether it, or an exponent that its interval depends on, is at the edge of its range."""
        edges = [p for p in self.law.params if p.name in self.at_bounds]
        return any(p.name == param.name or not p.additive for p in edges)

    @saturating
    def loss(self, inputs: Mapping[str, Any], level: float = 0.95) -> Interval:
        """The law's loss at the named inputs, arrays (n,)."""
        return self._band(inputs, level, extra=0.0)

    @saturating
    def run(self, inputs: Mapping[str, Any], level: float = 0.95) -> Interval:
        """The loss of one further point (the best run there), which includes its scatter."""
        return self._band(inputs, level, extra=self.residual_sd**2)

    @saturating
    def standard_error(self, inputs: Mapping[str, Any]) -> FloatArray:
        """(n,) the standard error of the law's log loss at the named inputs."""
        _, jac = self.law.form.value_and_jac(self.phi[None], self.law.log_inputs(inputs))
        return self._sd(jac[0])

    def _sd(self, gradient: FloatArray) -> FloatArray:
        """(k,) the SD of quantities with the gradient (p, k) in phi."""
        return np.asarray(np.sqrt(np.einsum("pk,pq,qk->k", gradient, self.cov, gradient)))

    def _band(self, inputs: Mapping[str, Any], level: float, extra: float) -> Interval:
        x = self.law.log_inputs(inputs)
        f, jac = self.law.form.value_and_jac(self.phi[None], x)
        half = self.quantile(level) * np.sqrt(self._sd(jac[0]) ** 2 + extra)
        point = self.law.form.value(self.point[None], x)[0]
        return Interval(*(np.exp(v) for v in _holding(point, f[0], half)))


def _holding(point: Any, middle: Any, half: Any) -> Interval:
    """middle ± half, stretched to hold ``point``."""
    return Interval(point, np.minimum(middle - half, point), np.maximum(middle + half, point))


def identified(param: Param, low: float, high: float) -> bool:
    """Whether a parameter with this interval is identified, as the module defines it."""
    may_be_zero = param.lower < 0.0 < param.upper
    if low == high or may_be_zero:
        return True
    least, most = sorted((abs(low), abs(high)))
    is_coefficient = param.positive and not param.additive
    factor = FACTOR_COEFFICIENT if is_coefficient else FACTOR
    return bool(low * high > 0.0 and most <= factor * least)


@saturating
def law_uncertainty(fit: LawFit) -> Uncertainty | None:
    """Least squares on log loss with Student's t; None without degrees of freedom.

    It is centred on the least-squares fit. The covariance of a Huber fit needs the density of the
    residuals within δ, which a few points cannot give. With many points and heavy-tailed residuals
    least squares would follow the outliers, and there are enough points to resample: then the
    stated objective is bootstrapped.
    """
    dof = int((fit.weights > 0).sum()) - int(fit.free.sum())
    if dof < 1:
        return None
    squares = refit(fit, LEAST_SQUARES_LOG)
    variance = float((fit.weights * squares.residuals**2).sum() / dof)
    by_squares = Uncertainty(
        law=fit.law,
        phi=squares.phi,
        cov=covariance(squares, variance),
        dof=dof,
        residual_sd=float(np.sqrt(variance)),
        method="least squares on log loss, Student's t",
        estimand=LAW_OF_RUNS,
        at_bounds=squares.at_bounds,
        fitted=fit.phi,
        lowest=lowest_loss(fit),
    )
    if not (np.isfinite(fit.objective.delta) and _heavy_tailed(squares, dof)):
        return by_squares
    return replace(
        by_squares,
        phi=fit.phi,
        cov=np.cov(case_bootstrap(fit, N_BOOTSTRAP, np.random.default_rng(0)).phi.T),
        residual_sd=robust_sd(fit.residuals),
        method=f"{fit.objective.name}, case bootstrap (heavy-tailed residuals)",
        at_bounds=fit.at_bounds,
    )


def lowest_loss(fit: LawFit) -> float:
    """The lowest loss of the points with a weight above 0."""
    return float(fit.loss[fit.weights > 0].min())


def refit(fit: LawFit, objective: Objective) -> LawFit:
    """The fit of the same points with another objective."""
    return fit_law(
        fit.law,
        {name: np.exp(fit.x[i]) for i, name in enumerate(fit.law.inputs)},
        fit.loss,
        weights=fit.weights,
        objective=objective,
        fixed=fit.fixed,
        start=fit.phi,
    )


def _heavy_tailed(squares: LawFit, dof: int) -> bool:
    """Whether there are many residuals with a kurtosis that normal ones do not have (z > HEAVY)."""
    if dof < MIN_DOF_BOOTSTRAP:
        return False
    r = (squares.residuals * np.sqrt(squares.weights))[squares.weights > 0]
    excess = float((r**4).mean() / (r**2).mean() ** 2 - 3)
    return bool(excess > HEAVY * np.sqrt(24 / r.size))


@saturating
def case_bootstrap(fit: LawFit, n_draws: int, rng: np.random.Generator) -> Solution:
    """Refit to points drawn with replacement, as weights, so that all draws share the points."""
    n = fit.n_points
    counts = rng.multinomial(n, np.full(n, 1 / n), size=n_draws).astype(float)
    return refit_weighted(fit, counts * fit.weights, tolerance=1e-4)


def covariance(fit: LawFit, variance: float) -> FloatArray:
    """(p, p) covariance of phi for a residual variance; 0 for parameters fixed or at a bound."""
    free = fit.free & ~np.isin(fit.law.names, fit.at_bounds)
    return scatter_covariance(fit.jac * np.sqrt(fit.weights), variance, free)


def scatter_covariance(jac: FloatArray, variance: float, free: BoolArray) -> FloatArray:
    """(p, p) covariance of a law's free parameters for scatter of that variance about the law.

    This is the only place where noise and misfit become uncertainty of parameters.
    jac (p, n) of the log loss; free (p,).
    """
    rows = np.flatnonzero(free)
    information = jac @ jac.T / max(variance, 1e-300)
    block = information[np.ix_(rows, rows)]
    # Scaled to a unit diagonal before inverting: log coefficients and exponents differ in size.
    scale = 1 / np.sqrt(np.maximum(np.diag(block), 1e-300))
    inverse = np.linalg.pinv(block * scale[:, None] * scale, hermitian=True, rcond=1e-15)
    cov = np.zeros_like(information)
    cov[np.ix_(rows, rows)] = inverse * scale[:, None] * scale
    return np.asarray(cov)


@dataclass(frozen=True)
class Influence:
    """The change of the log loss predicted at the target without each point, (n,).

    n_refitted   points that were left out by a refit; for the others the change is linearised
    """

    shift: FloatArray
    standard_error: float
    n_refitted: int

    @property
    def largest(self) -> int:
        return int(np.argmax(np.abs(self.shift)))


@saturating
def influence(fit: LawFit, target: Mapping[str, float], uncertainty: Uncertainty) -> Influence:
    """How the prediction at the target changes without each point, and its standard error."""
    x = fit.law.log_inputs(target)
    rows = np.arange(fit.n_points)
    phi = np.repeat(fit.phi[None], fit.n_points, axis=0)
    if fit.n_points > MOST_REFITS:
        phi = leave_one_out(fit.problem, fit.phi)
        move = np.abs(_shift(fit, phi, x))
        rows = np.argsort(-move, kind="stable")[:REFITTED]
    left_out = np.arange(fit.n_points) == rows[:, None]
    phi[rows] = refit_weighted(fit, np.where(left_out, 0.0, fit.weights)).phi
    error = float(uncertainty.standard_error(target)[0])
    return Influence(_shift(fit, phi, x), error, len(rows))


def _shift(fit: LawFit, phi: FloatArray, x: FloatArray) -> FloatArray:
    """(B,) log loss of laws phi (B, p) at x (q, 1, 1), minus that of the fit."""
    form = fit.law.form
    return np.asarray((form.value(phi, x) - form.value(fit.phi[None], x))[:, 0])
