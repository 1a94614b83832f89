"""The residual about a trend, the noise of a run, and how both are fitted to rows.

Notation and shapes
    X    (k, m) coordinates, split into P (scales and categories) and U (numeric λ)
    e    (k,) √(0.1·height), height being what the trend's bowls add at a row: 0 at their bottom
    eta  (l + 5,) logs of l lengthscales, then ln ρ, ln a, γ_a, ln σ, γ_σ
    a_i  = a·e^(−γ_a·c_i) SD of the residual, σ_i = σ·e^(−γ_σ·c_i) SD of the noise of one run,
         with c as in :mod:`lawsmith.surface.data`: a and σ are those at the top of the data.
         Beyond the top both stay what they are there.
    w    (k,) weights of rows, E[precision]/σ⁻² under Student's t noise: small for outliers
    F    (k, p) J·sd of the trend: F Fᵀ is the prior covariance of the linearised trend
    K    = F Fᵀ + a_i a_j·k(P_i, P_j) + ρ² e_i e_j·k(X_i, X_j) + diag(σ_i²/(n_i w_i) + extra_i)
         (+ cov, where rows are inferred)

Where rows share trunks, a share of the noise's variance is common to all rows of a trunk: the
diagonal has (1 − share)·σ_i², and rows of one trunk have share·σ_i σ_j/τ in common, τ being the
weight of that trunk under Student's t. The noise of one run is σ_i, as without trunks.

k is Matérn-5/2. The residual has two parts: one of the scales alone, and one of the shape of the
bowls, which vanishes at their bottom. So a bowl that is no parabola does not widen the interval of
the best loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_solve, lapack, solve_triangular
from scipy.optimize import minimize

from lawsmith.arrays import BoolArray, FloatArray, IntArray
from lawsmith.surface.data import Observed, Points
from lawsmith.surface.prior import BROAD, Prior
from lawsmith.surface.trend import Trend

TAIL_DF = 4.0  # of the noise of a run, by judgement: heavy tails, with a finite variance
ETA = ("bowl_misfit", "residual", "residual_slope", "noise", "noise_slope")  # in a prior
LEAST, MOST = 1e-5, 0.3  # of a and σ: from less than the digits of a table to 30 % of the loss
MAX_SLOPE = 0.6  # of both, for an e-fold of C: four times as large a decade of compute lower


@dataclass(frozen=True, eq=False)
class Kernel:
    """Which lengthscale each coordinate has, which are of λ alone, and the normal prior of eta.

    group   (m,) lengthscale of each column of X; shared (m,) whether the column is in P too
    """

    group: IntArray
    shared: BoolArray
    mean: FloatArray
    sd: FloatArray

    @property
    def n_lengths(self) -> int:
        return len(self.mean) - 5

    def amplitude(self, eta: FloatArray, c: FloatArray) -> FloatArray:
        return np.asarray(np.exp(eta[-4] - eta[-3] * np.minimum(c, 0.0)))

    def noise(self, eta: FloatArray, c: FloatArray) -> FloatArray:
        """(q,) SD of the noise of one run."""
        return np.asarray(np.exp(eta[-2] - eta[-1] * np.minimum(c, 0.0)))

    def cross(
        self, eta: FloatArray, A: Points, B: Points, e_a: FloatArray, e_b: FloatArray
    ) -> FloatArray:
        """(a, b) covariances of the residual; e_a (a,) and e_b (b,) as in the module's notation."""
        scale = np.exp(-eta[self.group])
        Z, Y = A.X * scale, B.X * scale
        near = squares(Z[:, self.shared], Y[:, self.shared])
        K = matern(near)
        K *= self.amplitude(eta, A.c)[:, None]
        K *= self.amplitude(eta, B.c)
        if not self.shared.all():
            near += squares(Z[:, ~self.shared], Y[:, ~self.shared])
            bowls = matern(near)
            bowls *= (np.exp(2.0 * eta[-5]) * e_a)[:, None]
            bowls *= e_b
            K += bowls
        return K

    def variance(self, eta: FloatArray, at: Points, e: FloatArray) -> FloatArray:
        """(q,) variance of the residual: the diagonal of `cross` of points with themselves."""
        bowls = 0.0 if self.shared.all() else np.exp(2.0 * eta[-5]) * e**2
        return np.asarray(self.amplitude(eta, at.c) ** 2 + bowls)

    def bounds(self) -> list[tuple[float, float]]:
        lengths = [(np.log(0.2), np.log(60.0))] * self.n_lengths
        size, slope = (np.log(LEAST), np.log(MOST)), (-0.1, MAX_SLOPE)
        return [*lengths, (np.log(1e-3), np.log(3.0)), size, slope, size, slope]


def kernel_of(points: Points, prior: Prior = BROAD) -> Kernel:
    """One lengthscale for each scale axis and numeric hyperparameter, one for all categories."""
    s, h, g = points.S.shape[1], points.U.shape[1], points.G.shape[1]
    group = np.array([*range(s + h), *[s + h] * g], dtype=np.int64)
    shared = np.array([True] * s + [False] * h + [True] * g, dtype=np.bool_)
    lengths = ["scale_length"] * s + ["hp_length"] * (h + (g > 0))
    mean, sd = np.array([prior[name].pair() for name in (*lengths, *ETA)]).T
    return Kernel(group, shared, mean, sd)


def squares(A: FloatArray, B: FloatArray) -> FloatArray:
    """(a, b) squared Euclidean distances."""
    found = (-2.0 * A) @ B.T
    found += (A**2).sum(axis=1)[:, None]
    found += (B**2).sum(axis=1)
    return np.maximum(found, 0.0, out=found)


def matern(squared: FloatArray) -> FloatArray:
    """Matérn-5/2 of squared scaled distances."""
    t = 5.0 * squared
    np.sqrt(t, out=t)
    found = t / 3.0
    found += 1.0
    found *= t
    found += 1.0
    found *= np.exp(np.negative(t, out=t), out=t)
    return np.asarray(found)


def cholesky(K: FloatArray) -> FloatArray:
    """Lower factor; the diagonal is raised until there is one."""
    jitter, diagonal = 0.0, np.diag(K).copy()
    while True:
        L, failed = lapack.dpotrf(K, lower=1, clean=1)
        if not failed:
            return np.asarray(L)
        jitter = max(1e-10 * float(diagonal.mean()), 10.0 * jitter)
        K = K.copy()
        K[np.diag_indices_from(K)] = diagonal + jitter


def row_noise(kernel: Kernel, eta: FloatArray, data: Observed, w: FloatArray) -> FloatArray:
    """(k,) variance of each row's mean, without what is owed to compression or to its trunk."""
    noise = kernel.noise(eta, data.points.c) ** 2 / (data.n_runs * w)
    return np.asarray(noise if data.trunk is None else noise * (1.0 - _common(data)))


def _common(data: Observed) -> FloatArray:
    """(k,) share of the noise's variance that a row has in common with its trunk."""
    assert data.trunk is not None
    return np.where(data.trunk >= 0, data.common, 0.0)


def trunk_cov(kernel: Kernel, eta: FloatArray, data: Observed) -> FloatArray | None:
    """(k, k) covariance of what rows of one trunk have in common; None where nobody says."""
    if data.trunk is None or data.tau is None:
        return None
    own = kernel.noise(eta, data.points.c) * np.sqrt(_common(data) / data.tau)
    return np.where(data.trunk[:, None] == data.trunk, np.outer(own, own), 0.0)


def with_cov(K: FloatArray, data: Observed) -> FloatArray:
    """(k, k) K and the covariance of the errors of inferred rows."""
    return K if data.cov is None else np.asarray(K + data.cov)


def with_trunks(K: FloatArray, kernel: Kernel, eta: FloatArray, data: Observed) -> FloatArray:
    """(k, k) K, the errors of inferred rows, and what rows of one trunk have in common."""
    own = trunk_cov(kernel, eta, data)
    return with_cov(K if own is None else np.asarray(K + own), data)


def fit_theta(
    trend: Trend, K: FloatArray, data: Observed, start: FloatArray, steps: int = 30
) -> tuple[float, FloatArray]:
    """Levenberg–Marquardt given the covariance K (k, k), or variances (k,), of y about the trend.

    Returns half the whitened squares plus half the squares of z, and theta.
    """
    diagonal = K.ndim == 1
    L = np.sqrt(K) if diagonal else cholesky(K)

    def evaluate(z: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        value, J = trend.value_and_jac(trend.mean + trend.sd * z, data.points)
        both = np.column_stack([data.y - value, J * trend.sd])
        if diagonal:
            white = both / L[:, None]
        else:
            white = solve_triangular(L, both, lower=True, check_finite=False)
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
    return value, trend.mean + trend.sd * z


def fit_eta(kernel: Kernel, about: Linearised, start: FloatArray, steps: int) -> FloatArray:
    """The most probable eta, the linearised trend integrated out."""
    k = len(about.data)

    def negative(eta: FloatArray) -> tuple[float, FloatArray]:
        total, gradient = _negative(kernel, about, eta)
        return total / k, gradient / k

    bounds = kernel.bounds()
    begin = np.clip(start, *np.array(bounds).T)
    found = minimize(
        negative,
        begin,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": steps, "ftol": 1e-7},
    )
    return np.asarray(found.x, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Linearised:
    """Rows about a trend linearised at theta: y minus its prior mean, F, e and weights."""

    data: Observed
    target: FloatArray
    F: FloatArray
    e: FloatArray
    w: FloatArray

    @cached_property
    def prior(self) -> FloatArray:
        """(k, k) covariance of y without residual and noise."""
        return with_cov(self.F @ self.F.T, self.data)


def _negative(kernel: Kernel, about: Linearised, eta: FloatArray) -> tuple[float, FloatArray]:
    """Minus the log of eta's posterior density but for a constant, and its gradient."""
    value, slopes = _log_density(kernel, about, eta)
    z = (eta - kernel.mean) / kernel.sd
    more, more_slopes = _replicates(kernel, about.data, eta)
    total = -value - more + 0.5 * float(z @ z)
    gradient = -slopes + z / kernel.sd
    gradient[-2:] -= more_slopes
    return total, gradient


def curvature(kernel: Kernel, about: Linearised, eta: FloatArray) -> FloatArray:
    """(e, e) second derivatives of `_negative` at eta, by differences of its gradient."""
    H = np.empty((len(eta), len(eta)))
    for j in range(len(eta)):
        step = np.zeros(len(eta))
        step[j] = 1e-3 * kernel.sd[j]
        up, down = (_negative(kernel, about, eta + s * step)[1] for s in (1, -1))
        H[j] = (up - down) / (2.0 * step[j])
    return np.asarray(0.5 * (H + H.T))


def _log_density(kernel: Kernel, about: Linearised, eta: FloatArray) -> tuple[float, FloatArray]:
    """ln p(y | eta) but for a constant, and its gradient.

    Done in place where it can be: for a few hundred rows, new memory costs as much as arithmetic.
    """
    data, shared = about.data, kernel.shared
    c = np.minimum(data.points.c, 0.0)
    Z = data.points.X * np.exp(-eta[kernel.group])
    near = squares(Z[:, shared], Z[:, shared])
    M, D = _matern_parts(near, kernel.amplitude(eta, c))
    noise = row_noise(kernel, eta, data, about.w)
    own = trunk_cov(kernel, eta, data)
    K = M + about.prior
    if own is not None:
        K += own
    if not shared.all():
        near += squares(Z[:, ~shared], Z[:, ~shared])
        M2, D2 = _matern_parts(near, np.exp(eta[-5]) * about.e)
        K += M2
    K[np.diag_indices_from(K)] += noise + data.extra
    L = cholesky(K)
    log_det = 2.0 * float(np.log(np.diag(L)).sum())
    inverse = _inverse(L)
    alpha = inverse @ about.target
    W = np.outer(0.5 * alpha, alpha)
    W -= np.multiply(inverse, 0.5, out=inverse)
    columns = np.zeros(Z.shape[1])
    misfit = 0.0
    G = np.multiply(W, D, out=D)
    if not shared.all():
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
    value = -0.5 * float(about.target @ alpha + log_det)
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


def _inverse(L: FloatArray) -> FloatArray:
    """(k, k) K⁻¹, from the lower factor of K, which is overwritten."""
    lower, _ = lapack.dpotri(L, lower=1, overwrite_c=1)
    inverse = lower + lower.T
    inverse[np.diag_indices_from(inverse)] *= 0.5
    return np.asarray(inverse)


def _by_length(G: FloatArray, Z: FloatArray) -> FloatArray:
    """Σ G_ij (z_i − z_j)² of each column of Z."""
    return np.asarray(2.0 * (G.sum(axis=1) @ Z**2 - ((G @ Z) * Z).sum(axis=0)))


def _replicates(kernel: Kernel, data: Observed, eta: FloatArray) -> tuple[float, FloatArray]:
    """What replicates say of σ and γ_σ: log density of their deviations, t-distributed by row."""
    repeated = (data.squares > 0.0) & (data.extra == 0.0)
    if not repeated.any():
        return 0.0, np.zeros(2)
    dof, squares = data.n_runs[repeated] - 1.0, data.squares[repeated]
    c = np.minimum(data.points.c[repeated], 0.0)
    variance = kernel.noise(eta, c) ** 2
    ratio = squares / (TAIL_DF * variance)
    value = -0.5 * float((dof * np.log(variance) + (TAIL_DF + dof) * np.log1p(ratio)).sum())
    by_log_variance = -0.5 * dof + 0.5 * (TAIL_DF + dof) * ratio / (1.0 + ratio)
    return value, np.array([2.0 * by_log_variance.sum(), -2.0 * float(c @ by_log_variance)])


def reweigh(
    noise: FloatArray, extra: FloatArray, w: FloatArray, L: FloatArray, alpha: FloatArray
) -> FloatArray:
    """(k,) weights under t noise, from how far each row lies from the surface it helped to fit.

    noise (k,) with the present weights; L and alpha of the present K.
    """
    inverse, _ = lapack.dpotri(L, lower=1)
    whole = noise + extra
    off = whole * alpha
    square = off**2 + np.maximum(whole - whole**2 * np.diag(inverse), 0.0)
    return np.asarray((TAIL_DF + 1.0) / (TAIL_DF + square / (noise * w + extra)))


def solve(L: FloatArray, v: FloatArray) -> FloatArray:
    return np.asarray(cho_solve((L, True), v, check_finite=False))
