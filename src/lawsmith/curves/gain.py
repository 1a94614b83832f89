"""The gain of a decay: what annealing takes off the log loss of a trunk, learnt from branches.

Notation and shapes
    n rows   branches whose annealed loss is known; q targets whose annealed loss is wanted
    trunk    (n,) which trunk a row belongs to
    t        (n,) log loss of the trunk at the branch point, T (n, n) covariance of its errors
    y        (n,) log loss after the decay
    d        = t − y, the gain;  d = X β + g + u + o + e − (error of t)
    X        (n, p) 1, ln N, ln D and ln of the share of decay, centred; and for each numeric
             hyperparameter its coordinate v, v², v·ln N and v·ln D
    β        (p,) normal prior; its errors are shared by all trunks
    g        Gaussian process in ln N and ln D, Matérn-5/2, SD b, lengthscale BEND_LENGTH: the gain
             may bend, in the same way for all trunks, and beyond the branches it is less known
    u        what a trunk has of its own, SD a: half of its variance is the same all along the
             trunk, half is a Gaussian process in ln D, Matérn-5/2, lengthscale ℓ. Student's t
             between trunks, with ν degrees of freedom: SD a/√τ in each
    e        noise of a run, SD σ, Student's t: σ/√w for each row
    o        what a decay may be off by if the hyperparameters of its trunk lie outside those of the
             branches: SD UNTRIED for each e-fold outside, the same all along a trunk
    a, σ     are those of the largest branch and grow as e^(−γ·c) towards small ones, where
             c = ln(ND) minus that of the largest, and 0 beyond it
    eta      (6,) ln a, ln ℓ, ln σ, ln b, γ_a, γ_σ, with normal priors

The gain is of log loss, and linear in its inputs. The learning rate matters most: a decay removes
the noise of a high rate. The fit is an expectation-maximisation over τ and w, and averages over ν.
Given all branches, the y of targets has a mean, a covariance and degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import gammaln, stdtr, stdtrit

from lawsmith.arrays import BoolArray, FloatArray, IntArray
from lawsmith.surface.fit_member import reweigh
from lawsmith.surface.process import cholesky, matern, solve

DFS = np.array([1.0, 1.5, 2.0, 3.0, 4.0, 6.0])  # ν is one of them, each as likely
# Priors: mean and SD of β, medians and SDs of logs of eta. A decay takes some 3 % off the loss in
# published trunks, more where it is longer; how it depends on N and D is weak.
GAIN, GAIN_SD = 0.03, 0.02
BY_SIZE_SD = 0.004  # per e-fold of N or D
BY_SHARE, BY_SHARE_SD = 0.008, 0.006  # per e-fold of the share of decay
# Of a hyperparameter, per unit of its coordinate (an e-fold of a rate): v, v², v·ln N, v·ln D.
BY_HP_SD = (0.03, 0.01, 0.006, 0.006)
MEDIANS = np.log([0.002, 1.5, 0.001, 0.002])
ETA = np.append(MEDIANS, [0.05, 0.05])
ETA_SD = np.array([1.0, 0.7, 1.0, 1.0, 0.1, 0.1])
SIZE, LENGTH, SLOPE = (np.log(1e-5), np.log(0.1)), (np.log(0.1), np.log(30.0)), (-0.1, 0.6)
BOUNDS = (SIZE, LENGTH, SIZE, SIZE, SLOPE, SLOPE)
# Log loss for an e-fold beyond the rates of all branches. On tinylm-wsd a factor of 2 beyond them,
# predictions err by 1 to 4 % (root mean square), by 10 % at the highest rate, where runs become
# unstable. Without it 83 % of 95 % intervals hold, with 0.02 96 %, with 0.03 and 0.05 97 and 98 %.
UNTRIED = 0.02
BEND_LENGTH = 3.0  # e-folds of N or D, as the residual of a surface has before it is fitted
ROUNDS, FIRST_ROUNDS = 6, 5
# Scales are a tenth larger, as those of `surface.mixture`: forms were compared on one published set
# of trunks (Gemstones), so these figures are a little too good for a study that is new.
MARGIN = 1.1


@dataclass(frozen=True, eq=False)
class Rows:
    """Branches or targets; see the module's notation. ``share`` of a run is decay.

    hp   (n, h) coordinates of hyperparameters; (0, 0) if unknown, for average ones
    """

    trunk: IntArray
    log_N: FloatArray
    log_D: FloatArray
    share: FloatArray
    hp: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    def __len__(self) -> int:
        return len(self.trunk)

    def take(self, rows: IntArray) -> Rows:
        hp = self.hp[rows] if self.hp.size else self.hp
        return Rows(self.trunk[rows], self.log_N[rows], self.log_D[rows], self.share[rows], hp)

    def join(self, other: Rows) -> Rows:
        return Rows(
            np.concatenate([self.trunk, other.trunk]),
            np.concatenate([self.log_N, other.log_N]),
            np.concatenate([self.log_D, other.log_D]),
            np.concatenate([self.share, other.share]),
            np.concatenate([self.hp, other.hp]),
        )


BETA = np.array([GAIN, 0.0, 0.0, BY_SHARE])
BETA_SD = np.array([GAIN_SD, BY_SIZE_SD, BY_SIZE_SD, BY_SHARE_SD])


@dataclass(frozen=True)
class Centre:
    """The origin of X; ``hp`` (h,) is that of the hyperparameters' coordinates.

    top   ln(ND) of the largest branch
    """

    log_N: float
    log_D: float
    log_share: float
    hp: tuple[float, ...] = ()
    top: float = -np.inf

    @classmethod
    def of(cls, rows: Rows) -> Centre:
        middle = rows.hp.mean(axis=0).tolist() if rows.hp.size else ()
        N, D, share = (
            float(column.mean()) for column in (rows.log_N, rows.log_D, np.log(rows.share))
        )
        return cls(N, D, share, tuple(middle), float((rows.log_N + rows.log_D).max()))

    def below(self, rows: Rows) -> FloatArray:
        """(n,) c: 0 at the largest branch and beyond."""
        return np.minimum(rows.log_N + rows.log_D - self.top, 0.0)

    def X(self, rows: Rows) -> FloatArray:
        origin = (self.log_N, self.log_D, self.log_share)
        columns = (rows.log_N, rows.log_D, np.log(rows.share))
        steps = [column - zero for column, zero in zip(columns, origin, strict=True)]
        more: list[FloatArray] = []
        for j, middle in enumerate(self.hp):
            v = rows.hp[:, j] - middle if rows.hp.size else np.zeros(len(rows))
            more += [v, v**2, v * steps[0], v * steps[1]]
        return np.stack([np.ones(len(rows)), *steps, *more], axis=1)

    def untried(self, hp: FloatArray, known: FloatArray) -> FloatArray:
        """(q,) how far hyperparameters lie outside those that are known of branches."""
        if not (self.hp and known.size):
            return np.zeros(len(hp))
        outside = np.maximum(known.min(axis=0) - hp, hp - known.max(axis=0))
        return np.asarray(np.sqrt((np.maximum(outside, 0.0) ** 2).sum(axis=1)))

    @property
    def beta(self) -> tuple[FloatArray, FloatArray]:
        """(p,) mean and SD of β before branches are seen."""
        n = len(self.hp)
        mean = np.concatenate([BETA, np.zeros(len(BY_HP_SD) * n)])
        return mean, np.concatenate([BETA_SD, np.tile(BY_HP_SD, n)])


@dataclass(frozen=True, eq=False)
class AnnealedLoss:
    """The log loss after a decay at q targets: Student's t, scale² is the diagonal of ``cov``.

    noise   (q,) variance of one further branch
    df      (q,) degrees of freedom: more where the trunk has branches
    """

    mean: FloatArray
    cov: FloatArray
    noise: FloatArray
    df: FloatArray


@dataclass(frozen=True, eq=False)
class Gain:
    """A finished fit; make it with `fit_gain`. ``tau`` by trunk, ``w`` by row.

    chance   (len(DFS),) of each ν
    """

    rows: Rows
    centre: Centre
    d: FloatArray
    T: FloatArray
    eta: FloatArray
    tau: dict[int, float]
    w: FloatArray
    chance: FloatArray

    def prior_cov(self, A: Rows, B: Rows) -> FloatArray:
        """(a, b) covariance of the gain, without noise and without errors of t."""
        return np.asarray(self.shared_cov(A, B) + self.prior_own(A, B))

    def prior_own(self, A: Rows, B: Rows) -> FloatArray:
        """(a, b) covariance of u."""
        scale = np.array([1.0 / self.tau.get(int(i), 1.0) for i in A.trunk])
        return np.asarray(scale[:, None] * self.own_cov(A, B))

    def shared_cov(self, A: Rows, B: Rows) -> FloatArray:
        """(a, b) covariance of what all trunks have in common, X β + g."""
        linear = (self.centre.X(A) * self.centre.beta[1] ** 2) @ self.centre.X(B).T
        return np.asarray(linear + self.bend_cov(A, B))

    def bend_cov(self, A: Rows, B: Rows) -> FloatArray:
        """(a, b) covariance of g."""
        steps = (A.log_N[:, None] - B.log_N) ** 2 + (A.log_D[:, None] - B.log_D) ** 2
        return np.asarray(np.exp(2.0 * self.eta[3]) * matern(steps / BEND_LENGTH**2))

    def own_cov(self, A: Rows, B: Rows) -> FloatArray:
        """(a, b) covariance of u where τ = 1: nothing between trunks."""
        a_A, a_B = (np.exp(self.eta[0] - self.eta[4] * self.centre.below(r)) for r in (A, B))
        steps = (A.log_D[:, None] - B.log_D) * np.exp(-self.eta[1])
        same = A.trunk[:, None] == B.trunk
        return np.where(same, a_A[:, None] * a_B * (0.5 + 0.5 * matern(steps**2)), 0.0)

    def untried_cov(self, at: Rows) -> FloatArray:
        """(q, q) covariance of o."""
        if not at.hp.size:
            return np.zeros((len(at), len(at)))
        off = UNTRIED * self.centre.untried(at.hp, self.rows.hp)
        return np.where(at.trunk[:, None] == at.trunk, np.outer(off, off), 0.0)

    def noise(self, at: Rows) -> FloatArray:
        """(q,) variance of the noise of one run."""
        return np.asarray(np.exp(2.0 * (self.eta[2] - self.eta[5] * self.centre.below(at))))

    @cached_property
    def factor(self) -> tuple[FloatArray, FloatArray]:
        """Cholesky factor of the covariance of d, and its inverse times d about the prior mean."""
        noise = self.noise(self.rows) / self.w
        L = cholesky(self.prior_cov(self.rows, self.rows) + self.T + np.diag(noise))
        return L, solve(L, self.off)

    @property
    def off(self) -> FloatArray:
        """(n,) d about its mean before branches are seen."""
        return np.asarray(self.d - self.centre.X(self.rows) @ self.centre.beta[0])

    @property
    def typical(self) -> float:
        """The gain of an average trunk at the middle of the branches."""
        N, D, share = self.centre.log_N, self.centre.log_D, np.exp(self.centre.log_share)
        at = Rows(np.array([-1]), *(np.array([v]) for v in (N, D, share)))
        more = self.shared_cov(at, self.rows) @ self.factor[1] if len(self.rows) else np.zeros(1)
        return float((self.centre.X(at) @ self.centre.beta[0] + more)[0])

    def predict(self, at: Rows, t: FloatArray, T: FloatArray, cross: FloatArray) -> AnnealedLoss:
        """Annealed loss at targets: t (q,) of their trunks, T (q, q), cross (q, n) with the rows.

        y = t + error − gain. Errors of t at a branch and at a target of one trunk go together.
        """
        mean = t - self.centre.X(at) @ self.centre.beta[0]
        cov = self.prior_cov(at, at) + T
        if len(self.rows):
            L, alpha = self.factor
            both = self.prior_cov(at, self.rows) + cross
            mean = mean - both @ alpha
            cov = cov - both @ solve(L, both.T) + self.untried_cov(at)
        known = {i: effective_df(self.chance, self.rows.trunk == i) for i in set(at.trunk.tolist())}
        df = np.array([known[i] for i in at.trunk.tolist()])
        return AnnealedLoss(mean, 0.5 * MARGIN**2 * (cov + cov.T), self.noise(at), df)


def effective_df(chance: FloatArray, branches: BoolArray) -> float:
    """Degrees of freedom that give the 95 % interval of the mixture over ν, by its branches."""
    dfs = DFS + branches.sum()

    def excess(q: float) -> float:
        return float(chance @ stdtr(dfs, -q)) - 0.025

    q = brentq(excess, 1.96, float(stdtrit(dfs[0], 0.975)) + 1e-6)
    return float(brentq(lambda df: stdtrit(df, 0.975) - q, dfs[0] - 1e-6, dfs[-1] + 1e-6))


def fit_gain(rows: Rows, y: FloatArray, t: FloatArray, T: FloatArray, centre: Centre) -> Gain:
    """The gain learnt from branches; without any, that of the priors."""
    chance = np.full(len(DFS), 1.0 / len(DFS))
    fit = Gain(rows, centre, t - y, T, ETA, {}, np.ones(len(rows)), chance)
    if not len(rows):
        return fit
    for _ in range(FIRST_ROUNDS):  # before trunks may be odd, odd runs are let go
        fit = replace(fit, w=_weights(fit))
    for _ in range(ROUNDS):
        fit = _with_chance(_reweighed(_with_eta(fit)))
    return fit


def _with_eta(fit: Gain) -> Gain:
    """The most probable eta given τ and w."""

    def negative(eta: FloatArray) -> tuple[float, FloatArray]:
        now = replace(fit, eta=eta)
        L, alpha = now.factor
        z = (eta - ETA) / ETA_SD
        value = 0.5 * float(now.off @ alpha + z @ z) + float(np.log(np.diag(L)).sum())
        return value, _slopes(now) + z / ETA_SD

    found = minimize(
        negative,
        fit.eta,
        jac=True,
        method="L-BFGS-B",
        bounds=BOUNDS,
        options={"maxiter": 25},
    )
    return replace(fit, eta=np.asarray(found.x))


def _slopes(fit: Gain) -> FloatArray:
    """(6,) derivatives of −ln p(d | eta) by eta: ½ tr((K⁻¹ − K⁻¹d dᵀK⁻¹)·dK)."""
    rows, (L, alpha), c = fit.rows, fit.factor, fit.centre.below(fit.rows)
    W = 0.5 * (solve(L, np.eye(len(L))) - np.outer(alpha, alpha))
    own = W * fit.prior_own(rows, rows)
    noise = np.diag(W) * fit.noise(rows) / fit.w
    t2 = 5.0 * ((rows.log_D[:, None] - rows.log_D) * np.exp(-fit.eta[1])) ** 2
    t = np.sqrt(t2)
    e = np.exp(-t)
    steeper = own * (t2 / 3.0) * (1.0 + t) * e / (1.0 + (1.0 + t + t2 / 3.0) * e)
    by_c = own.sum(axis=1)
    bend = float((W * fit.bend_cov(rows, rows)).sum())
    found = [by_c.sum(), 0.5 * steeper.sum(), noise.sum(), bend, -c @ by_c, -c @ noise]
    return 2.0 * np.array(found)


def _reweighed(fit: Gain) -> Gain:
    """τ of each trunk and w of each row, from how far they lie from what the others say."""
    L, alpha = fit.factor
    w, inverse = _weights(fit), solve(L, np.eye(len(L)))
    U = fit.own_cov(fit.rows, fit.rows)
    tau = {}
    for i in np.unique(fit.rows.trunk).tolist():
        mine = np.flatnonzero(fit.rows.trunk == i)
        old, n = fit.tau.get(i, 1.0), len(mine)
        part = U[np.ix_(mine, mine)]
        # E[u' (a²M)⁻¹ u], which needs no inverse of M.
        square = float(alpha[mine] @ part @ alpha[mine]) / old**2 + n / old
        square -= float((inverse[np.ix_(mine, mine)] * part).sum()) / old**2
        tau[i] = float(fit.chance @ ((DFS + n) / (DFS + square)))
    return replace(fit, tau=tau, w=w)


def _weights(fit: Gain) -> FloatArray:
    """(n,) w of each row, from how far it lies from the gain that it helped to fit."""
    L, alpha = fit.factor
    return reweigh(fit.noise(fit.rows) / fit.w, np.zeros(len(fit.w)), fit.w, L, alpha)


def _with_chance(fit: Gain) -> Gain:
    """How probable each ν is: the gains of a trunk about what all have in common are Student's t,
    jointly."""
    rows = fit.rows
    off = fit.off - fit.shared_cov(rows, rows) @ fit.factor[1]
    K = fit.own_cov(rows, rows) + fit.T + np.diag(fit.noise(rows) / fit.w)
    score = np.zeros(len(DFS))
    for i in np.unique(rows.trunk).tolist():
        mine = np.flatnonzero(rows.trunk == i)
        n = len(mine)
        square = float(off[mine] @ solve(cholesky(K[np.ix_(mine, mine)]), off[mine]))
        score += gammaln(0.5 * (DFS + n)) - gammaln(0.5 * DFS) - 0.5 * n * np.log(DFS)
        score -= 0.5 * (DFS + n) * np.log1p(square / DFS)
    chance = np.exp(score - score.max())
    return replace(fit, chance=chance / chance.sum())
