"""One member of the mixture: a trend of one form and its residual, given a window of rows.

Notation as in :mod:`lawsmith.surface.process`. The trend is linearised at its most probable
parameters. There the surface is a Gaussian process with mean f + J(prior mean − theta) and
covariance F Fᵀ + residual. :mod:`lawsmith.surface.fit_member` fits it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import stdtrit

from lawsmith.arrays import BoolArray, FloatArray, IntArray
from lawsmith.surface.data import Observed
from lawsmith.surface.frame import Points
from lawsmith.surface.process import (
    Kernel,
    cholesky,
    inverse,
    misfit_of,
    row_noise,
    solve,
    whiten,
    with_trunks,
)
from lawsmith.surface.trend import Trend

TAIL_DF = 4.0  # of the noise of a run, by judgement: heavy tails, with a finite variance
# SD of a normal whose 95 % interval is that of Student's t with TAIL_DF degrees of freedom.
TAIL = float(stdtrit(TAIL_DF, 0.975)) / 1.959964


@dataclass(frozen=True, eq=False)
class Linearised:
    """Points, and what a member expects there before it sees its rows.

    value    (q,) the trend at theta
    shift    (q,) J(prior mean − theta)
    F        (q, p) as in `lawsmith.surface.process`
    height   (q,) `Trend.height`
    """

    at: Points
    value: FloatArray
    shift: FloatArray
    F: FloatArray
    height: FloatArray

    @cached_property
    def e(self) -> FloatArray:
        """(q,) as in `lawsmith.surface.process`."""
        return misfit_of(self.height)

    @property
    def mean(self) -> FloatArray:
        """(q,) prior mean of the linearised trend."""
        return self.value + self.shift

    def take(self, rows: IntArray | BoolArray) -> Linearised:
        parts = (self.value, self.shift, self.F, self.height)
        return Linearised(self.at.take(rows), *(part[rows] for part in parts))


@dataclass(frozen=True, eq=False)
class Member:
    """A finished fit: predicts log loss anywhere, jointly.

    anchor   theta that the misfit of bowls is measured from. It is not theta itself: theta is then
             the most probable one exactly, and the linearised mean is the trend at theta
    """

    name: str
    trend: Trend
    kernel: Kernel
    data: Observed
    theta: FloatArray
    anchor: FloatArray
    eta: FloatArray
    w: FloatArray

    def linearised(self, at: Points, *, as_best: bool = False) -> Linearised:
        """The trend at points; ``as_best`` takes each for the best of its compute, without e.

        Where the best lies is found so. The error of heights is about runs that lie above the
        best: it must not move the best to where there are no runs.
        """
        value, J = self.trend.value_and_jac(self.theta, at)
        shift = J @ (self.trend.mean - self.theta)
        height = np.zeros(len(at)) if as_best else self.trend.height(self.anchor, at)
        return Linearised(at, value, shift, J * self.trend.sd, height)

    def with_same_theta(self, **changes: Any) -> Member:
        """This member with another eta or other trunks; its rows need not be linearised again."""
        member = replace(self, **changes)
        member.__dict__["rows"] = self.rows
        return member

    def residual_cov(self, a: Linearised, b: Linearised) -> FloatArray:
        """(a, b) prior covariances of the residual."""
        return self.kernel.cross(self.eta, a.at, b.at, a.e, b.e)

    def prior_cov(self, a: Linearised, b: Linearised) -> FloatArray:
        """(a, b) prior covariances of log loss."""
        return np.asarray(self.residual_cov(a, b) + a.F @ b.F.T)

    def prior_variance(self, at: Linearised) -> FloatArray:
        """(q,) the diagonal of `prior_cov` of points with themselves."""
        residual = self.kernel.variance(self.eta, at.at, at.e)
        return np.asarray(residual + (at.F**2).sum(axis=1))

    @cached_property
    def rows(self) -> Linearised:
        """The fitted rows."""
        return self.linearised(self.data.points)

    @cached_property
    def target(self) -> FloatArray:
        """(k,) y less its prior mean."""
        return np.asarray(self.data.y - self.rows.mean)

    @cached_property
    def noise(self) -> FloatArray:
        """(k,) variance of each row's y about the surface, compression included."""
        return row_noise(self.kernel, self.eta, self.data, self.w) + self.data.extra

    @cached_property
    def fixed_cov(self) -> FloatArray:
        """(k, k) the part of K that eta does not change: of the trend and of inferred rows."""
        of_trend = self.rows.F @ self.rows.F.T
        return of_trend if self.data.cov is None else np.asarray(of_trend + self.data.cov)

    @cached_property
    def about_trend(self) -> FloatArray:
        """(k, k) covariance of y about the trend at a known theta, without noise of its own."""
        residual = self.residual_cov(self.rows, self.rows)
        return with_trunks(residual, self.kernel, self.eta, self.data)

    @cached_property
    def K(self) -> FloatArray:
        """(k, k) prior covariance of y."""
        K = self.about_trend + self.rows.F @ self.rows.F.T
        K[np.diag_indices_from(K)] += self.noise
        return np.asarray(K)

    @cached_property
    def L(self) -> FloatArray:
        return cholesky(self.K)

    @cached_property
    def alpha(self) -> FloatArray:
        return solve(self.L, self.target)

    def mean(self, at: Points) -> FloatArray:
        """(q,) posterior mean of log loss."""
        new = self.linearised(at)
        return np.asarray(new.mean + self.prior_cov(new, self.rows) @ self.alpha)

    def mean_and_sd(self, at: Points) -> tuple[FloatArray, FloatArray]:
        """(q,) posterior mean and SD of log loss."""
        new = self.linearised(at)
        cross = self.prior_cov(new, self.rows)
        variance = self.prior_variance(new) - (whiten(self.L, cross.T) ** 2).sum(axis=0)
        return new.mean + cross @ self.alpha, np.sqrt(np.maximum(variance, 0.0))

    def mean_and_cov(self, at: Points, *, as_best: bool = False) -> tuple[FloatArray, FloatArray]:
        """(q,) posterior mean and (q, q) covariance of log loss; ``as_best`` as in `linearised`."""
        new = self.linearised(at, as_best=as_best)
        cross = self.prior_cov(new, self.rows)
        V = whiten(self.L, cross.T)
        return new.mean + cross @ self.alpha, self.prior_cov(new, new) - V.T @ V

    def run_noise(self, at: Points) -> FloatArray:
        """(q,) SD of the noise of one further run.

        The weight of a known trunk says how odd it is. A further trunk may be as odd as any, so the
        noise that its runs share is as wide as Student's t.
        """
        noise = self.kernel.noise(self.eta, at.c)
        if self.data.trunks is None:
            return noise
        return np.asarray(noise * np.sqrt(1.0 + (TAIL**2 - 1.0) * self.data.trunks.common))

    def theta_and_residual(self, at: Points) -> tuple[FloatArray, FloatArray]:
        """Posterior mean (p + q,) and covariance of (z, residual at points), jointly.

        The residual is that of points that are the best of their compute.
        """
        new, p = self.linearised(at, as_best=True), self.trend.p
        cross = np.concatenate([self.rows.F.T, self.residual_cov(new, self.rows)])
        prior = np.zeros((len(cross), len(cross)))
        prior[:p, :p] = np.eye(p)
        prior[p:, p:] = self.residual_cov(new, new)
        V = whiten(self.L, cross.T)
        return cross @ self.alpha, prior - V.T @ V

    @property
    def log_evidence(self) -> float:
        """ln p(y, eta) but for a constant: to compare priors of one form on the same rows."""
        z = (self.eta - self.kernel.mean) / self.kernel.sd
        value = -0.5 * float(self.target @ self.alpha + z @ z)
        return value - float(np.log(np.diag(self.L)).sum() + np.log(self.kernel.sd).sum())

    def theta_posterior(self) -> tuple[FloatArray, FloatArray]:
        """Mean (p,) and covariance (p, p) of z."""
        V = whiten(self.L, self.rows.F)
        z = (self.theta - self.trend.mean) / self.trend.sd
        return z, np.eye(len(z)) - V.T @ V

    def left_out(self) -> FloatArray:
        """(k,) y of each row minus the prediction of the other rows."""
        return np.asarray(self.alpha / np.diag(inverse(self.L)))

    def log_predictive(self, rows: IntArray, given: IntArray) -> float:
        """ln p(y of ``rows`` | y of ``given``), under the hyperparameters of the whole fit."""
        L, cross = cholesky(self.K[np.ix_(given, given)]), self.K[np.ix_(rows, given)]
        V = whiten(L, cross.T)
        mean = cross @ solve(L, self.target[given])
        R = cholesky(self.K[np.ix_(rows, rows)] - V.T @ V)
        white = whiten(R, self.target[rows] - mean)
        return -0.5 * float(white @ white) - float(np.log(np.diag(R)).sum())
