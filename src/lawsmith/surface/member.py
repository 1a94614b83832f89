"""One member of the mixture: a trend of one form and its residual, fitted to a window of rows.

Notation as in :mod:`lawsmith.surface.process`. The trend is linearised at its most probable
parameters; there the surface is a Gaussian process with mean f + J(prior mean − theta) and
covariance F Fᵀ + residual. A fit alternates between theta, eta and the weights of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack, solve_triangular
from scipy.special import stdtrit

from lawsmith.arrays import BoolArray, FloatArray, IntArray
from lawsmith.surface.data import Observed, Points
from lawsmith.surface.prior import Prior
from lawsmith.surface.process import (
    TAIL_DF,
    Kernel,
    Linearised,
    cholesky,
    curvature,
    fit_eta,
    fit_theta,
    kernel_of,
    reweigh,
    row_noise,
    solve,
    trunk_cov,
    with_trunks,
)
from lawsmith.surface.trend import Trend, trend

ROUNDS = 3  # of theta, eta and weights in turn; the last one has all rows
FIRST_SD = 0.02  # of log loss about the trend, for the first fit; later ones find their own
# Share of the noise's variance that runs of one trunk have in common: one of these. The mean and SD
# of the log of its odds: a trunk is most of a run, and with few trunks the prior decides.
COMMON = (0.05, 0.25, 0.5, 0.75, *(1.0 - np.geomspace(0.1, 1e-5, 9)).tolist())
COMMON_ODDS, COMMON_ODDS_SD = 2.0, 4.0
STARTS = (0.5, 0.9999)
# SD of a normal whose 95 % interval is that of Student's t with TAIL_DF degrees of freedom.
TAIL = float(stdtrit(TAIL_DF, 0.975)) / 1.959964


@dataclass(frozen=True, eq=False)
class Member:
    """A finished fit: predicts log loss anywhere, jointly.

    anchor   theta that the misfit of bowls is measured from. It is not theta itself, for theta is
             then the most probable one exactly, and the linearised mean is the trend at theta
    """

    name: str
    trend: Trend
    kernel: Kernel
    data: Observed
    theta: FloatArray
    anchor: FloatArray
    eta: FloatArray
    w: FloatArray

    @cached_property
    def _about(self) -> Linearised:
        """The fitted rows about the linearised trend."""
        at = self.data.points
        offset, F = self.linearised(at)
        return Linearised(self.data, self.data.y - offset, F, self._misfit(at), self.w)

    @cached_property
    def noise(self) -> FloatArray:
        """(k,) variance of each row's y about the surface, compression included."""
        return row_noise(self.kernel, self.eta, self.data, self.w) + self.data.extra

    @cached_property
    def n_independent(self) -> float:
        """Rows that the member rests on, those of one trunk as far as they are independent.

        m rows with correlation r say as much of what they share as m/(1 + (m − 1)·r) others.
        """
        data, own = self.data, trunk_cov(self.kernel, self.eta, self.data)
        if data.trunk is None or data.cov is None or own is None:
            return float(len(data))
        common = np.diag(own)
        correlated = common / (common + np.diag(data.cov) + self.noise)
        m, r = (np.bincount(data.trunk + 1, weights=v) for v in (np.ones(len(data)), correlated))
        n = m / (1.0 + np.maximum(m - 1.0, 0.0) * r / np.maximum(m, 1.0))
        return float(m[0] + n[1:].sum())  # the first are of no trunk

    @cached_property
    def K(self) -> FloatArray:
        """(k, k) prior covariance of y."""
        F = self._about.F
        K = self._residual(self.data.points) + F @ F.T
        K = with_trunks(K, self.kernel, self.eta, self.data)
        K[np.diag_indices_from(K)] += self.noise
        return np.asarray(K)

    @cached_property
    def L(self) -> FloatArray:
        return cholesky(self.K)

    @cached_property
    def alpha(self) -> FloatArray:
        return solve(self.L, self._about.target)

    def _residual(self, at: Points, other: Points | None = None) -> FloatArray:
        """(q, ·) covariances of the residual; with the fitted rows if no others are given."""
        if other is None:
            other, e = self.data.points, self._about.e
        else:
            e = self._misfit(other)
        return self.kernel.cross(self.eta, at, other, self._misfit(at), e)

    def _misfit(self, at: Points) -> FloatArray:
        return bowl_misfit(self.trend, self.anchor, at)

    def linearised(self, at: Points) -> tuple[FloatArray, FloatArray]:
        """(q,) prior mean of the linearised trend, and F (q, p)."""
        value, J = self.trend.value_and_jac(self.theta, at)
        return value + J @ (self.trend.mean - self.theta), J * self.trend.sd

    def mean(self, at: Points) -> FloatArray:
        """(q,) posterior mean of log loss."""
        offset, F = self.linearised(at)
        return np.asarray(offset + (self._residual(at) + F @ self._about.F.T) @ self.alpha)

    def _given_rows(self, at: Points) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(q,) posterior mean, F (q, p), and V (k, q): VᵀV is what the rows take away."""
        offset, F = self.linearised(at)
        cross = self._residual(at) + F @ self._about.F.T
        V = solve_triangular(self.L, cross.T, lower=True, check_finite=False)
        return offset + cross @ self.alpha, F, V

    def mean_and_sd(self, at: Points) -> tuple[FloatArray, FloatArray]:
        """(q,) posterior mean and SD of log loss."""
        mean, F, V = self._given_rows(at)
        prior = self.kernel.variance(self.eta, at, self._misfit(at)) + (F**2).sum(axis=1)
        return mean, np.sqrt(np.maximum(prior - (V**2).sum(axis=0), 0.0))

    def mean_and_cov(self, at: Points) -> tuple[FloatArray, FloatArray]:
        """(q,) posterior mean and (q, q) covariance of log loss."""
        mean, F, V = self._given_rows(at)
        return mean, self._residual(at, at) + F @ F.T - V.T @ V

    def run_noise(self, at: Points) -> FloatArray:
        """(q,) SD of the noise of one further run.

        A known trunk's weight says how odd it is. A further one may be as odd as any, so what it
        has in common with its runs is as wide as Student's t.
        """
        noise = self.kernel.noise(self.eta, at.c)
        if self.data.tau is None:
            return noise
        return np.asarray(noise * np.sqrt(1.0 + (TAIL**2 - 1.0) * self.data.common))

    def theta_and_residual(self, at: Points) -> tuple[FloatArray, FloatArray]:
        """Posterior mean (p + q,) and covariance of (z, residual at points), jointly."""
        F = self._about.F
        cross = np.concatenate([F.T, self._residual(at)])
        prior = np.zeros((len(cross), len(cross)))
        p = self.trend.p
        prior[:p, :p] = np.eye(p)
        prior[p:, p:] = self._residual(at, at)
        V = solve_triangular(self.L, cross.T, lower=True, check_finite=False)
        return cross @ self.alpha, prior - V.T @ V

    @property
    def log_evidence(self) -> float:
        """ln p(y, eta) but for a constant: to compare priors of one form on the same rows."""
        z = (self.eta - self.kernel.mean) / self.kernel.sd
        value = -0.5 * float(self._about.target @ self.alpha + z @ z)
        return value - float(np.log(np.diag(self.L)).sum() + np.log(self.kernel.sd).sum())

    def theta_posterior(self) -> tuple[FloatArray, FloatArray]:
        """Mean (p,) and covariance (p, p) of z."""
        V = solve_triangular(self.L, self._about.F, lower=True, check_finite=False)
        z = (self.theta - self.trend.mean) / self.trend.sd
        return z, np.eye(len(z)) - V.T @ V

    def eta_posterior(self) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Of eta in units of its prior: mean (i,), precision (i, i), and which lie inside bounds.

        The precision is the curvature at the most probable eta.
        """
        mean, sd = self.kernel.mean, self.kernel.sd
        H = curvature(self.kernel, self._about, self.eta) * np.outer(sd, sd)
        low, high = np.array(self.kernel.bounds()).T
        kept = (self.eta > low + 1e-6) & (self.eta < high - 1e-6)
        if not self.trend.h:
            kept[-5] = False  # the misfit of bowls, where there is none
        return ((self.eta - mean) / sd)[kept], H[np.ix_(kept, kept)], kept

    def left_out(self) -> FloatArray:
        """(k,) how far each row's y lies from what the other rows say of it."""
        inverse, _ = lapack.dpotri(self.L, lower=1)
        return np.asarray(self.alpha / np.diag(inverse))

    def log_predictive(self, rows: IntArray, given: IntArray) -> float:
        """ln p(y of ``rows`` | y of ``given``), under the hyperparameters of the whole fit."""
        target = self._about.target
        L = cholesky(self.K[np.ix_(given, given)])
        cross = self.K[np.ix_(rows, given)]
        V = solve_triangular(L, cross.T, lower=True, check_finite=False)
        mean = cross @ solve(L, target[given])
        R = cholesky(self.K[np.ix_(rows, rows)] - V.T @ V)
        white = solve_triangular(R, target[rows] - mean, lower=True, check_finite=False)
        return -0.5 * float(white @ white) - float(np.log(np.diag(R)).sum())


class Plan(NamedTuple):
    """What is to be fitted: a form, the name of its window, and what is known before."""

    form: str
    window: str
    level: float
    prior: Prior


def shape_of(plan: Plan, data: Observed) -> Trend:
    """The trend of a plan for some rows."""
    return trend(
        plan.form,
        data.points,
        plan.level,
        compute_axis=data.frame.of_compute,
        prior=plan.prior,
        spans=[axis.span for axis in data.frame.numeric],
        further=tuple(axis.kind for axis in data.frame.further),
    )


def fit_member(
    plan: Plan, data: Observed, *, few: Observed, kernel: Kernel | None = None
) -> Member:
    """Fit one form to ``data``; ``few`` are the rows that the first rounds of eta use.

    kernel   the residual's and the noise's priors; by default those of a study
    """
    kernel = kernel or kernel_of(data.points, plan.prior)
    if data.tau is None:
        return _fitted(plan, data, few, kernel)
    # What trunks differ by can be explained as noise that they have in common, or as residual:
    # each is found from its own side only.
    starts = (replace(few, common=share) for share in STARTS)
    members = [_fitted(plan, data, start, kernel) for start in starts]
    return max(members, key=lambda m: m.log_evidence - 0.5 * _odds(m.data.common) ** 2)


def _odds(common: float) -> float:
    """The log of the odds of what trunks have in common, in units of its prior."""
    return float(np.log(common / (1.0 - common)) - COMMON_ODDS) / COMMON_ODDS_SD


def _fitted(plan: Plan, data: Observed, few: Observed, kernel: Kernel) -> Member:
    """A fit from one start."""
    shape = shape_of(plan, data)
    theta = first_theta(shape, data)
    eta, w = kernel.mean, np.ones(len(data))
    rows, w_rows = few, np.ones(len(few))
    for i in range(ROUNDS):
        last = i == ROUNDS - 1
        if last:
            rows, w_rows = _as_found(data, rows), w
        anchor = theta
        steps = 12 if last else 20
        theta, eta, rows, w_rows = _round(shape, kernel, rows, anchor, eta, w_rows, steps)
    return Member(f"{plan.form}/{plan.window}", shape, kernel, rows, theta, anchor, eta, w_rows)


def _as_found(data: Observed, few: Observed) -> Observed:
    """All rows, with what some of them said of trunks: odd ones would count in full again."""
    if data.trunk is None or few.trunk is None or few.tau is None:
        return data
    known = dict(zip(few.trunk.tolist(), few.tau.tolist(), strict=True))
    tau = np.array([known.get(i, 1.0) for i in data.trunk.tolist()])
    return replace(data, common=few.common, tau=tau)


def _round(
    shape: Trend,
    kernel: Kernel,
    rows: Observed,
    theta: FloatArray,
    eta: FloatArray,
    w: FloatArray,
    steps: int,
) -> tuple[FloatArray, FloatArray, Observed, FloatArray]:
    """eta given theta, weights given both, theta given all."""
    value, J = shape.value_and_jac(theta, rows.points)
    target = rows.y - value - J @ (shape.mean - theta)
    e = bowl_misfit(shape, theta, rows.points)
    about = Linearised(rows, target, J * shape.sd, e, w)
    eta = fit_eta(kernel, about, eta, steps)
    noise = row_noise(kernel, eta, rows, w)
    bare = kernel.cross(eta, rows.points, rows.points, e, e)
    if rows.tau is not None:
        rows, eta = _with_common(rows, kernel, eta, about, bare + about.F @ about.F.T)
        noise = row_noise(kernel, eta, rows, w)
    residual = with_trunks(bare, kernel, eta, rows)
    L = cholesky(residual + about.F @ about.F.T + np.diag(noise + rows.extra))
    w = reweigh(noise, rows.extra, w, L, solve(L, target))
    noise = row_noise(kernel, eta, rows, w)
    theta = fit_theta(shape, residual + np.diag(noise + rows.extra), rows, theta, 40)[1]
    return theta, eta, rows, w


def _with_common(
    rows: Observed, kernel: Kernel, eta: FloatArray, about: Linearised, K: FloatArray
) -> tuple[Observed, FloatArray]:
    """How much of the noise trunks have in common, and how odd each is; eta with the noise then.

    Either the noise of a run stays, or that part of it which is not common. The first alone would
    not leave a place where what is common is small because all noise is.

    K   (k, k) prior covariance of y without noise
    """

    def factor(rows: Observed, eta: FloatArray) -> FloatArray:
        noise = row_noise(kernel, eta, rows, about.w) + rows.extra
        return cholesky(with_trunks(K, kernel, eta, rows) + np.diag(noise))

    def density(case: tuple[Observed, FloatArray]) -> float:
        rows, eta = case
        L = factor(rows, eta)
        white = solve_triangular(L, about.target, lower=True, check_finite=False)
        z = _odds(rows.common)
        z_noise = (eta[-2] - kernel.mean[-2]) / kernel.sd[-2]
        squares = float(white @ white + z * z + z_noise * z_noise)
        return -0.5 * squares - float(np.log(np.diag(L)).sum())

    cases = []
    for share in COMMON:
        more = eta.copy()
        more[-2] += 0.5 * np.log((1.0 - rows.common) / (1.0 - share))
        more[-2] = np.clip(more[-2], *kernel.bounds()[-2])
        cases += [(replace(rows, common=share), eta) for eta in (eta, more)]
    rows, eta = max(cases, key=density)
    assert rows.trunk is not None
    assert rows.tau is not None
    L, tau = factor(rows, eta), rows.tau.copy()
    alpha, inverse = solve(L, about.target), lapack.dpotri(L, lower=1)[0]
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    own = kernel.noise(eta, rows.points.c) * np.sqrt(rows.common)
    for i in np.unique(rows.trunk[rows.trunk >= 0]).tolist():
        mine = np.flatnonzero(rows.trunk == i)
        old, u = tau[mine[0]], own[mine]
        # The mean square of what is common, in units of its prior; E[u]² and its variance.
        square = (u @ alpha[mine]) ** 2 - u @ inverse[np.ix_(mine, mine)] @ u
        tau[mine] = (TAIL_DF + 1.0) / (TAIL_DF + square / old**2 + 1.0 / old)
    return replace(rows, tau=tau), eta


def bowl_misfit(shape: Trend, theta: FloatArray, at: Points) -> FloatArray:
    """(q,) e of :mod:`lawsmith.surface.process`: how far a row lies up its bowls."""
    return np.sqrt(0.1 * np.minimum(shape.height(theta, at), 0.5))


def first_theta(shape: Trend, data: Observed) -> FloatArray:
    """The most probable theta if rows scatter independently about the trend, robust to outliers."""
    variance = FIRST_SD**2 + data.extra
    if data.cov is not None:
        variance = variance + np.diag(data.cov)
    theta = fit_theta(shape, variance, data, shape.mean)[1]
    for _ in range(2):
        off = data.y - shape.value_and_jac(theta, data.points)[0]
        sd = 1.4826 * float(np.median(np.abs(off))) + 1e-4
        weight = 5.0 / (4.0 + off**2 / (sd**2 + data.extra))
        theta = fit_theta(shape, (sd**2 + data.extra) / weight, data, theta)[1]
    return theta
