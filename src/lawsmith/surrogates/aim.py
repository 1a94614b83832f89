"""The members of a surface on a grid, and how its rows relate to the best loss at a target compute.

Notation and shapes
    m candidates, k rows that a member rests on, M members with weights; C the target compute
    V (k, m) as in :mod:`lawsmith.surrogates.gp.factor`, one for each member
    places   q points that cost C and may be the best, with probabilities: N* is uncertain too
    b, c     curvature and centre of a bowl in a hyperparameter (:mod:`lawsmith.surface.trend`)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from lawsmith.arrays import FloatArray, IntArray
from lawsmith.surface.frame import Points
from lawsmith.surface.locate import score
from lawsmith.surface.member import Linearised, Member
from lawsmith.surface.mixture import DF
from lawsmith.surface.surface import FEW_RATIOS, Surface
from lawsmith.surrogates.base import Aim
from lawsmith.surrogates.gp.factor import Factor

N_PLACES = 5  # of a line's FEW_RATIOS points: a gain costs as much as it has places
TAILS = DF / (DF - 2.0)  # variance of Student's t, in units of its scale²


@dataclass(frozen=True, eq=False)
class MemberOnGrid:
    """A member on all rows of a grid, given runs.

    prior    what the member expects of every row before any run
    noise    (m,) variance of one run
    poor     (m,) what compression is expected to add to it (:mod:`lawsmith.surface.tail`): the loss
             of a poor run tells little
    factor   of the runs; its targets are log losses minus the prior's mean
    """

    member: Member
    prior: Linearised
    noise: FloatArray
    poor: FloatArray
    factor: Factor

    @property
    def mean(self) -> FloatArray:
        """(m,) posterior mean of log loss."""
        return self.prior.mean + self.factor.mean(0.0)

    def add_run(self, row: int, y: float, noise: float) -> None:
        """Condition on one more run of a row, with log loss y and the variance of its noise."""
        self.factor.extend(row, float(y - self.prior.mean[row]), float(noise))


def factor_of(
    member: Member, prior: Linearised, rows: IntArray, y: FloatArray, noise: FloatArray
) -> Factor:
    """The factor of log losses y (k,) of some rows of a grid, with variances of their noise."""

    def cross(rows: IntArray, others: IntArray | None) -> FloatArray:
        return member.prior_cov(prior.take(rows), prior if others is None else prior.take(others))

    return Factor(cross, member.prior_variance(prior), rows, y - prior.mean[rows], noise)


class Places(NamedTuple):
    """Points that may be the best at a compute: q for each member, and their probabilities (q,)."""

    points: list[Points]
    chance: FloatArray


def likely_places(surface: Surface, C: float) -> Places:
    """The points of cost C that are most likely to be the best, each at its best λ.

    The probability of a point is proportional to that of beating the point with the best score.
    """
    line, along = surface.along(C, FEW_RATIOS)
    curve = surface.weight @ score(surface, line, along)
    best = int(np.argmin(curve))
    each = zip(surface.members, along, strict=True)
    covs = [member.mean_and_cov(at, as_best=True)[1] for member, at in each]
    cov = TAILS * np.tensordot(surface.weight, np.stack(covs), axes=1)
    spread = np.diag(cov) + cov[best, best] - 2.0 * cov[best]
    chance = ndtr(-(curve - curve[best]) / np.sqrt(np.maximum(spread, 1e-12)))
    likely = np.sort(np.argsort(-chance, kind="stable")[:N_PLACES])
    share = chance[likely] / chance[likely].sum()
    return Places([at.take(likely) for at in along], share)


def aim_at(places: Places, weight: FloatArray, parts: list[MemberOnGrid], apart: FloatArray) -> Aim:
    """How the rows relate to some places.

    Members that disagree about a place and about a row make the two covary.

    apart   (M, m) the mean of each member minus the mean of all
    """
    both = list(zip(parts, places.points, strict=True))
    cov, var, mean = (np.stack(v) for v in zip(*(_covariance_with(*b) for b in both), strict=True))
    tuning, regret = zip(*(_tuning(*b, places.chance) for b in both), strict=True)
    off = mean - weight @ mean
    covariance = TAILS * np.tensordot(weight, cov, axes=1) + (weight[:, None] * off).T @ apart
    return Aim(
        covariance=covariance,
        variance=TAILS * (weight @ var) + weight @ off**2,
        chance=places.chance,
        tuning=TAILS**2 * (weight @ np.stack(tuning)),
        regret=float(TAILS * (weight @ np.array(regret))),
    )


def _covariance_with(
    part: MemberOnGrid, places: Points
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Posterior covariance (q, m) of places with every row, their variance (q,) and mean (q,)."""
    member, prior, factor, k = part.member, part.prior, part.factor, part.factor.k
    new = member.linearised(places)
    V = factor.whitened(member.prior_cov(new, prior.take(factor.rows[:k])).T)
    covariance = member.prior_cov(new, prior) - V.T @ factor.V[:k]
    variance = np.maximum(member.prior_variance(new) - (V**2).sum(axis=0), 1e-12)
    return covariance, variance, new.mean + V.T @ factor.u[:k]


def _tuning(part: MemberOnGrid, places: Points, chance: FloatArray) -> tuple[FloatArray, float]:
    """`Aim.tuning` and `Aim.regret` by one member."""
    trend, F, factor, k = part.member.trend, part.prior.F, part.factor, part.factor.k
    total, regret = np.zeros(len(F)), 0.0
    for j in range(trend.h):
        at, b, slopes = trend.centre_of(j, part.member.theta, places.S)
        A = slopes * trend.sd[at]
        V = factor.whitened(F[np.ix_(factor.rows[:k], at)] @ A.T)
        cov = A @ F[:, at].T - V.T @ factor.V[:k]
        total += (chance * b) @ cov**2
        regret += float((chance * b) @ np.maximum((A**2).sum(axis=1) - (V**2).sum(axis=0), 0.0))
    return total, regret


def mistuned(part: MemberOnGrid) -> FloatArray:
    """(m,) Σ b·Var c over bowls: the excess loss expected at a row because its best λ is not known.

    The linearised surface does not include it: at its bottom, a bowl is flat in its centre.
    """
    trend, F, factor = part.member.trend, part.prior.F, part.factor
    W = factor.whitened(F[factor.rows[: factor.k]])
    cov = np.eye(trend.p) - W.T @ W
    total = np.zeros(len(F))
    for j in range(trend.h):
        at, b, slopes = trend.centre_of(j, part.member.theta, part.prior.at.S)
        A = slopes * trend.sd[at]
        total += b * np.einsum("mi,ij,mj->m", A, cov[np.ix_(at, at)], A)
    return total
