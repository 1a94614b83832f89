"""Fitting one member: theta, eta and the weights of rows, by turns.

Notation as in :mod:`lawsmith.surface.process`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from lawsmith.arrays import FloatArray, robust_sd
from lawsmith.surface.data import Observed, RowTrunks
from lawsmith.surface.member import TAIL_DF, Member
from lawsmith.surface.process import (
    Kernel,
    cholesky,
    inverse,
    row_noise,
    solve,
    squares,
    trunk_cov,
    whiten,
    with_trunks,
)
from lawsmith.surface.trend import Trend

FEW_ROUNDS = 2  # of theta, eta and weights on few rows; one on all rows follows
FEW_STEPS, STEPS = 20, 12  # of the search for eta, in a round on few rows and on all
FIRST_SD = 0.02  # of log loss about the trend, for the first fit; later ones find their own
# Share of the noise's variance that runs of one trunk have in common: one of these. The mean and SD
# of the log of its odds: a trunk is most of a run, and with few trunks the prior decides.
COMMON = (0.05, 0.25, 0.5, 0.75, *(1.0 - np.geomspace(0.1, 1e-5, 9)).tolist())
COMMON_ODDS, COMMON_ODDS_SD = 2.0, 4.0
STARTS = (0.5, 0.9999)


def fit_member(name: str, trend: Trend, kernel: Kernel, data: Observed, few: Observed) -> Member:
    """Fit a trend and its residual to ``data``; the first rounds use the rows ``few`` only."""
    if few.trunks is None:
        return _fit_from(name, trend, kernel, data, few)
    # Differences between trunks can be explained as noise that each has in common, or as residual.
    # A search finds the explanation that it starts near, so there are two.
    starts = [replace(few, trunks=replace(few.trunks, common=share)) for share in STARTS]
    members = [_fit_from(name, trend, kernel, data, start) for start in starts]

    def density(member: Member) -> float:
        assert member.data.trunks is not None
        return member.log_evidence - 0.5 * _odds(member.data.trunks.common) ** 2

    return max(members, key=density)


def _odds(common: float) -> float:
    """The log of the odds of the share that trunks have in common, in units of its prior."""
    return float(np.log(common / (1.0 - common)) - COMMON_ODDS) / COMMON_ODDS_SD


def _fit_from(name: str, trend: Trend, kernel: Kernel, data: Observed, few: Observed) -> Member:
    """A fit from one start."""
    theta = first_theta(trend, data)
    member = Member(name, trend, kernel, few, theta, theta, kernel.mean, np.ones(len(few)))
    for _ in range(FEW_ROUNDS):
        member = _round(member, FEW_STEPS)
    rows = _with_trunks_of(data, member.data)
    return _round(replace(member, data=rows, w=np.ones(len(rows))), STEPS)


def _with_trunks_of(data: Observed, few: Observed) -> Observed:
    """All rows, with the shares and weights of trunks that were fitted to some of them."""
    if data.trunks is None or few.trunks is None:
        return data
    known = dict(zip(few.trunks.of_row.tolist(), few.trunks.tau.tolist(), strict=True))
    tau = np.array([known.get(i, 1.0) for i in data.trunks.of_row.tolist()])
    return replace(data, trunks=replace(data.trunks, common=few.trunks.common, tau=tau))


def _round(member: Member, steps: int) -> Member:
    """eta given theta, weights given both, theta given all."""
    member = replace(member, anchor=member.theta)
    member = member.with_same_theta(eta=fit_eta(member, steps))
    if member.data.trunks is not None:
        member = _with_common(member, member.data.trunks)
    kernel, eta, data = member.kernel, member.eta, member.data
    noise = row_noise(kernel, eta, data, member.w)
    w = reweigh(noise, data.extra, member.w, member.L, solve(member.L, _target(member)))
    noise = row_noise(kernel, eta, data, w)
    K = member.about_trend + np.diag(noise + data.extra)
    return replace(member, w=w, theta=fit_theta(member.trend, K, data, member.theta, 40))


def _target(member: Member) -> FloatArray:
    """`Member.target`, summed in another order: searches amplify a change of the last digit."""
    return np.asarray(member.data.y - member.rows.value - member.rows.shift)


def _with_common(member: Member, trunks: RowTrunks) -> Member:
    """The common share of the noise of trunks, their weights, and eta with the noise that results.

    Each share is tried with the noise of a run unchanged, and with its independent part unchanged.
    The first alone cannot leave a place where the common part is small because all noise is small.
    """
    kernel, data, target = member.kernel, member.data, _target(member)
    F = member.rows.F
    bare = member.residual_cov(member.rows, member.rows) + F @ F.T

    def factor(trunks: RowTrunks, eta: FloatArray) -> FloatArray:
        rows = replace(data, trunks=trunks)
        noise = row_noise(kernel, eta, rows, member.w) + rows.extra
        return cholesky(with_trunks(bare, kernel, eta, rows) + np.diag(noise))

    def density(case: tuple[RowTrunks, FloatArray]) -> float:
        trunks, eta = case
        L = factor(trunks, eta)
        white = whiten(L, target)
        z = _odds(trunks.common)
        z_noise = (eta[-2] - kernel.mean[-2]) / kernel.sd[-2]
        total = float(white @ white + z * z + z_noise * z_noise)
        return -0.5 * total - float(np.log(np.diag(L)).sum())

    cases = []
    for share in COMMON:
        more = member.eta.copy()
        more[-2] += 0.5 * np.log((1.0 - trunks.common) / (1.0 - share))
        more[-2] = np.clip(more[-2], *kernel.bounds()[-2])
        cases += [(replace(trunks, common=share), eta) for eta in (member.eta, more)]
    trunks, eta = max(cases, key=density)
    L, tau = factor(trunks, eta), trunks.tau.copy()
    alpha, K_inverse = solve(L, target), inverse(L)
    own = kernel.noise(eta, data.points.c) * np.sqrt(trunks.common)
    for i in np.unique(trunks.of_row[trunks.of_row >= 0]).tolist():
        mine = np.flatnonzero(trunks.of_row == i)
        old, u = tau[mine[0]], own[mine]
        # The mean square of the common noise, in units of its prior: E[u]² and its variance.
        square = (u @ alpha[mine]) ** 2 - u @ K_inverse[np.ix_(mine, mine)] @ u
        tau[mine] = (TAIL_DF + 1.0) / (TAIL_DF + square / old**2 + 1.0 / old)
    rows = replace(data, trunks=replace(trunks, tau=tau))
    return member.with_same_theta(eta=eta, data=rows)


def first_theta(trend: Trend, data: Observed) -> FloatArray:
    """The most probable theta if rows scatter independently about the trend, robust to outliers."""
    variance = FIRST_SD**2 + data.extra
    if data.cov is not None:
        variance = variance + np.diag(data.cov)
    theta = fit_theta(trend, variance, data, trend.mean)
    for _ in range(2):
        off = data.y - trend.value_and_jac(theta, data.points)[0]
        sd = robust_sd(off) + 1e-4
        weight = (TAIL_DF + 1.0) / (TAIL_DF + off**2 / (sd**2 + data.extra))
        theta = fit_theta(trend, (sd**2 + data.extra) / weight, data, theta)
    return theta


def fit_theta(
    trend: Trend, K: FloatArray, data: Observed, start: FloatArray, steps: int = 30
) -> FloatArray:
    """Levenberg–Marquardt given the covariance K (k, k), or variances (k,), of y about the trend.

    It minimises half the whitened squares plus half the squares of z.
    """
    diagonal = K.ndim == 1
    L = np.sqrt(K) if diagonal else cholesky(K)

    def evaluate(z: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        value, J = trend.value_and_jac(trend.mean + trend.sd * z, data.points)
        both = np.column_stack([data.y - value, J * trend.sd])
        white = both / L[:, None] if diagonal else whiten(L, both)
        return 0.5 * float(white[:, 0] @ white[:, 0] + z @ z), white[:, 0], white[:, 1:]

    z, damping = (start - trend.mean) / trend.sd, 1e-2
    value, r, W = evaluate(z)
    for _ in range(steps):
        H = W.T @ W + np.eye(len(z))
        step = np.linalg.solve(H + damping * np.diag(np.diag(H)), W.T @ r - z)
        trial = np.clip(z + np.clip(step, -2.0, 2.0), -6.0, 6.0)
        after, r_after, W_after = evaluate(trial)
        if not after < value:
            damping *= 5.0
            if damping > 1e8:
                break
            continue
        converged = value - after < 1e-7 * (1.0 + abs(value))
        z, value, r, W, damping = trial, after, r_after, W_after, max(damping / 5.0, 1e-9)
        if converged:
            break
    return np.asarray(trend.mean + trend.sd * z)


def fit_eta(member: Member, steps: int) -> FloatArray:
    """The most probable eta given the rest of a member, the linearised trend integrated out."""
    k = len(member.data)

    def negative(eta: FloatArray) -> tuple[float, FloatArray]:
        total, gradient = _negative(member, eta)
        return total / k, gradient / k

    bounds = member.kernel.bounds()
    begin = np.clip(member.eta, *np.array(bounds).T)
    result = minimize(
        negative,
        begin,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": steps, "ftol": 1e-7},
    )
    return np.asarray(result.x, dtype=np.float64)


def _negative(member: Member, eta: FloatArray) -> tuple[float, FloatArray]:
    """Minus the log of eta's posterior density but for a constant, and its gradient."""
    kernel = member.kernel
    value, slopes = log_likelihood(member, eta)
    z = (eta - kernel.mean) / kernel.sd
    more, more_slopes = log_likelihood_of_replicates(kernel, member.data, eta)
    total = -value - more + 0.5 * float(z @ z)
    gradient = -slopes + z / kernel.sd
    gradient[-2:] -= more_slopes
    return total, gradient


def curvature(member: Member) -> FloatArray:
    """(e, e) second derivatives of `_negative` at the fitted eta, by differences."""
    eta = member.eta
    H = np.empty((len(eta), len(eta)))
    for j in range(len(eta)):
        step = np.zeros(len(eta))
        step[j] = 1e-3 * member.kernel.sd[j]
        up, down = (_negative(member, eta + s * step)[1] for s in (1, -1))
        H[j] = (up - down) / (2.0 * step[j])
    return np.asarray(0.5 * (H + H.T))


def log_likelihood(member: Member, eta: FloatArray) -> tuple[float, FloatArray]:
    """ln p(y | eta) but for a constant, and its gradient.

    Done in place where it can be: for a few hundred rows, new memory costs as much as arithmetic.
    """
    kernel, data, target = member.kernel, member.data, _target(member)
    shared = kernel.shared
    c = np.minimum(data.points.c, 0.0)
    Z = data.points.X * np.exp(-eta[kernel.group])
    near = squares(Z[:, shared], Z[:, shared])
    M, D = _matern_parts(near, kernel.amplitude(eta, c))
    noise = row_noise(kernel, eta, data, member.w)
    own = trunk_cov(kernel, eta, data)
    K = M + member.fixed_cov
    if own is not None:
        K += own
    if kernel.heights:
        near += squares(Z[:, ~shared], Z[:, ~shared])
        M2, D2 = _matern_parts(near, np.exp(eta[-5]) * member.rows.e)
        K += M2
    K[np.diag_indices_from(K)] += noise + data.extra
    L = cholesky(K)
    log_det = 2.0 * float(np.log(np.diag(L)).sum())
    K_inverse = inverse(L, overwrite=True)
    alpha = K_inverse @ target
    W = np.outer(0.5 * alpha, alpha)
    W -= np.multiply(K_inverse, 0.5, out=K_inverse)
    columns = np.zeros(Z.shape[1])
    misfit = 0.0
    G = np.multiply(W, D, out=D)
    if kernel.heights:
        G2 = np.multiply(W, D2, out=D2)
        columns[~shared] = _by_length(G2, Z[:, ~shared])
        misfit = 2.0 * float(np.einsum("ij,ij->", W, M2))
        G += G2
    columns[shared] = _by_length(G, Z[:, shared])
    lengths = np.bincount(kernel.group, weights=columns, minlength=kernel.n_lengths)
    rows = np.einsum("ij,ij->i", W, M)
    on_noise = np.diag(W) * noise
    if own is not None:
        on_noise += np.einsum("ij,ij->i", W, own)
    slopes = [misfit, 2.0 * rows.sum(), -2.0 * float(c @ rows)]
    slopes += [2.0 * on_noise.sum(), -2.0 * float(c @ on_noise)]
    value = -0.5 * float(target @ alpha + log_det)
    return value, np.concatenate([lengths, slopes])


def _matern_parts(squared: FloatArray, size: FloatArray) -> tuple[FloatArray, FloatArray]:
    """s_i s_j·k, and what a derivative by the log of a lengthscale multiplies squared steps with.

    size (k,) is s.
    """
    t = 5.0 * squared
    np.sqrt(t, out=t)
    D = np.negative(t)
    np.exp(D, out=D)
    D *= size[:, None]
    D *= size
    M = t / 3.0
    M += 1.0
    M *= t
    M += 1.0
    M *= D
    t += 1.0
    t *= 5.0 / 3.0
    D *= t
    return M, D


def _by_length(G: FloatArray, Z: FloatArray) -> FloatArray:
    """Σ G_ij (z_i − z_j)² of each column of Z."""
    return np.asarray(2.0 * (G.sum(axis=1) @ Z**2 - ((G @ Z) * Z).sum(axis=0)))


def log_likelihood_of_replicates(
    kernel: Kernel, data: Observed, eta: FloatArray
) -> tuple[float, FloatArray]:
    """Log density of the deviations of replicates, t-distributed by row; gradient by ln σ, γ_σ."""
    repeated = (data.squares > 0.0) & (data.extra == 0.0)
    if not repeated.any():
        return 0.0, np.zeros(2)
    dof, total = data.n_runs[repeated] - 1.0, data.squares[repeated]
    c = np.minimum(data.points.c[repeated], 0.0)
    variance = kernel.noise(eta, c) ** 2
    ratio = total / (TAIL_DF * variance)
    value = -0.5 * float((dof * np.log(variance) + (TAIL_DF + dof) * np.log1p(ratio)).sum())
    by_log_variance = -0.5 * dof + 0.5 * (TAIL_DF + dof) * ratio / (1.0 + ratio)
    return value, np.array([2.0 * by_log_variance.sum(), -2.0 * float(c @ by_log_variance)])


def reweigh(
    noise: FloatArray, extra: FloatArray, w: FloatArray, L: FloatArray, alpha: FloatArray
) -> FloatArray:
    """(k,) weights under t noise, from how far each row lies from the surface it helped to fit.

    noise (k,) with the present weights; L and alpha of the present K.
    """
    whole = noise + extra
    off = whole * alpha
    square = off**2 + np.maximum(whole - whole**2 * np.diag(inverse(L)), 0.0)
    return np.asarray((TAIL_DF + 1.0) / (TAIL_DF + square / (noise * w + extra)))
