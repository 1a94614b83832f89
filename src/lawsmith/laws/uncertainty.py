"""How uncertain a fitted law is: intervals on parameters, predictions and anything made of them.

The interval method was chosen by measured coverage (docs/coverage.md): least squares on log loss
with Student's t, whatever objective gave the point estimate; a case bootstrap where many
residuals are heavy-tailed; and with the selection of the minimum undone
(:mod:`lawsmith.laws.selection`) where a frontier was selected from more runs.
Shapes as in :mod:`lawsmith.laws.law`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from lawsmith.grid import FloatArray
from lawsmith.laws.bootstrap import case_bootstrap
from lawsmith.laws.fit import LawFit, fit_law
from lawsmith.laws.law import Law
from lawsmith.laws.objective import LEAST_SQUARES_LOG, Objective

LAW_OF_RUNS = "the law of the mean loss at these inputs"
LAW_OF_FRONTIER = "the law of the noise-free frontier"


MIN_DOF_BOOTSTRAP, N_BOOTSTRAP = 30, 400


class Interval(NamedTuple):
    """A centre and its bounds; numbers, or arrays of one shape."""

    centre: Any
    low: Any
    high: Any


@dataclass(frozen=True)
class Uncertainty:
    """A normal-theory summary of what is known of phi: centre, covariance, degrees of freedom.

    ``residual_sd`` is the scatter of log loss about the law, what a further point would show.
    """

    law: Law
    phi: FloatArray  # (p,)
    cov: FloatArray  # (p, p), 0 for fixed parameters
    dof: int
    residual_sd: float
    method: str
    estimand: str
    shift: float = 0.0  # optimism of the frontier that was corrected, in log loss (≤ 0)
    noise_sd: float = float("nan")  # of one run's log loss, where it could be told
    misfit: float = float("nan")  # residual variance over what that noise alone leaves
    at_bounds: tuple[str, ...] = ()  # parameters at the edge of their range: no interval of theirs

    def natural(self, name: str) -> float:
        """The centre of one parameter, in natural units."""
        j = self.law.position(name)
        return float(self.law.params[j].to_natural(self.phi[j]))

    def quantile(self, level: float) -> float:
        """Student's t for a two-sided interval."""
        return float(stdtrit(self.dof, 0.5 + level / 2))

    def of(self, function: Callable[[FloatArray], FloatArray], level: float = 0.95) -> Interval:
        """Interval of a smooth function of phi, (B, p) → (B, k), by the delta method."""
        centre = function(self.phi[None])[0]
        steps = 1e-5 * np.eye(self.law.n_params)
        gradient = (function(self.phi + steps) - function(self.phi - steps)) / 2e-5  # (p, k)
        sd = np.sqrt(np.einsum("pk,pq,qk->k", gradient, self.cov, gradient))
        half = self.quantile(level) * sd
        return Interval(centre, centre - half, centre + half)

    def params(self, level: float = 0.95) -> dict[str, Interval]:
        """Natural parameters with their intervals, by name; NaN ends for one at its bound."""
        out = {}
        for j, param in enumerate(self.law.params):
            half = self.quantile(level) * float(np.sqrt(self.cov[j, j]))
            half = float("nan") if param.name in self.at_bounds else half
            ends = (self.phi[j], self.phi[j] - half, self.phi[j] + half)
            out[param.name] = Interval(*(float(param.to_natural(v)) for v in ends))
        return out

    def loss(self, inputs: Mapping[str, Any], level: float = 0.95) -> Interval:
        """The law's loss at the named inputs, arrays (n,)."""
        x = self.law.log_inputs(inputs)
        f, jac = self.law.form.value_and_jac(self.phi[None], x)
        return self._band(f[0], jac[0], level, extra=0.0)

    def run(self, inputs: Mapping[str, Any], level: float = 0.95) -> Interval:
        """The loss of one further point (the best run there): the law's, and its own scatter."""
        x = self.law.log_inputs(inputs)
        f, jac = self.law.form.value_and_jac(self.phi[None], x)
        return self._band(f[0], jac[0], level, extra=self.residual_sd**2)

    def _band(self, f: FloatArray, jac: FloatArray, level: float, extra: float) -> Interval:
        variance = np.einsum("pn,pq,qn->n", jac, self.cov, jac) + extra
        half = self.quantile(level) * np.sqrt(variance)
        return Interval(np.exp(f), np.exp(f - half), np.exp(f + half))


def law_uncertainty(fit: LawFit, rng: np.random.Generator | None = None) -> Uncertainty | None:
    """Least squares on log loss with Student's t; None with no degrees of freedom left.

    Centred on the least-squares fit: a Huber fit's own covariance needs the density of the
    residuals within δ, which a handful of points cannot give. With many points whose residuals
    are heavy-tailed least squares would follow the outliers, and resampling has enough to draw
    from: then the stated objective is bootstrapped (``rng`` draws, seed 0 if none is given).
    """
    dof = int((fit.weights > 0).sum()) - int(fit.free.sum())
    if dof < 1:
        return None
    squares = refit(fit, LEAST_SQUARES_LOG)
    variance = float((fit.weights * squares.residuals**2).sum() / dof)
    if np.isfinite(fit.objective.delta) and _heavy_tailed(squares, dof):
        return _resampled(fit, dof, rng or np.random.default_rng(0))
    return Uncertainty(
        law=fit.law,
        phi=squares.phi,
        cov=covariance(squares, variance),
        dof=dof,
        residual_sd=float(np.sqrt(variance)),
        method="least squares on log loss, Student's t",
        estimand=LAW_OF_RUNS,
        at_bounds=squares.at_bounds,
    )


def refit(fit: LawFit, objective: Objective) -> LawFit:
    """The same points, weights, pins and priors under another objective."""
    return fit_law(
        fit.law,
        {name: np.exp(fit.x[i]) for i, name in enumerate(fit.law.inputs)},
        fit.loss,
        weights=fit.weights,
        objective=objective,
        fixed=fit.fixed,
        priors=fit.priors,
        start=fit.phi,
    )


def _heavy_tailed(squares: LawFit, dof: int) -> bool:
    """Whether many residuals have a kurtosis no normal sample would show (z > 4)."""
    if dof < MIN_DOF_BOOTSTRAP:
        return False
    r = (squares.residuals * np.sqrt(squares.weights))[squares.weights > 0]
    excess = float((r**4).mean() / (r**2).mean() ** 2 - 3)
    return bool(excess > 4 * np.sqrt(24 / r.size))


def _resampled(fit: LawFit, dof: int, rng: np.random.Generator) -> Uncertainty:
    """The stated objective's fit with the covariance of its case bootstrap."""
    draws = case_bootstrap(fit, N_BOOTSTRAP, rng)
    return Uncertainty(
        law=fit.law,
        phi=fit.phi,
        cov=np.cov(draws.phi.T),
        dof=dof,
        residual_sd=1.4826 * float(np.median(np.abs(fit.residuals))),
        method=f"{fit.objective.name}, case bootstrap (heavy-tailed residuals)",
        estimand=LAW_OF_RUNS,
        at_bounds=fit.at_bounds,
    )


def covariance(fit: LawFit, variance: float) -> FloatArray:
    """(p, p) covariance of phi for a residual variance; zero for parameters fixed or at a bound."""
    _, jac = fit.law.form.value_and_jac(fit.phi[None], fit.x[:, None, :])
    information = (jac[0] * fit.weights) @ jac[0].T / max(variance, 1e-300)
    for name, prior in fit.priors.items():
        j = fit.law.position(name)
        information[j, j] += 1 / prior.sd**2
    free = np.flatnonzero(fit.free & ~np.isin(fit.law.names, fit.at_bounds))
    block = information[np.ix_(free, free)]
    # Scaled to a unit diagonal before inverting: log coefficients and exponents differ in size.
    scale = 1 / np.sqrt(np.maximum(np.diag(block), 1e-300))
    inverse = np.linalg.pinv(block * scale[:, None] * scale, hermitian=True, rcond=1e-15)
    cov = np.zeros_like(information)
    cov[np.ix_(free, free)] = inverse * scale[:, None] * scale
    return np.asarray(cov)
