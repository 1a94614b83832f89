"""A surface on the candidates of a grid, and what they tell of the best loss at a compute.

Notation and shapes
    m candidates, k rows a member rests on, M members with weights; C the compute that is aimed at
    V (k, m) as in :mod:`lawsmith.surrogates.gp.factor`, one for each member
    places   q points that cost C and may be the best, with probabilities: where N* is uncertain,
             so is what a run is to tell
    b, c     curvature and centre of a bowl in a hyperparameter (:mod:`lawsmith.surface.trend`)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from lawsmith.arrays import FloatArray, IntArray
from lawsmith.surface.data import Points
from lawsmith.surface.locate import score
from lawsmith.surface.member import Member, bowl_misfit
from lawsmith.surface.mixture import DF, model_share
from lawsmith.surface.surface import FEW_RATIOS, Surface
from lawsmith.surrogates.base import Aim
from lawsmith.surrogates.gp.factor import Factor

N_PLACES = 5  # of a line's FEW_RATIOS points: a gain costs as much as it has places


def stretch(n: int) -> float:
    """What the variance of a member fitted to n runs is multiplied with; see `surface.mixture`."""
    return model_share(n) * DF / (DF - 2.0)


@dataclass(frozen=True, eq=False)
class GridCovariance:
    """Covariance of a member's surface between rows of a grid, as a `Factor` takes it.

    Every row's own noise is in its target's ``extra``.
    """

    member: Member
    at: Points
    offset: FloatArray
    F: FloatArray
    e: FloatArray

    def cross(self, eta: FloatArray, rows: IntArray, others: IntArray | None = None) -> FloatArray:
        """(len(rows), len(others)) covariances; with all rows of the grid when none are said."""
        to, F, e = self.at, self.F, self.e
        if others is not None:
            to, F, e = self.at.take(others), self.F[others], self.e[others]
        kernel = self.member.kernel
        near = kernel.cross(eta, self.at.take(rows), to, self.e[rows], e)
        near += self.F[rows] @ F.T
        return near

    def variances(self, eta: FloatArray) -> FloatArray:
        own = self.member.kernel.variance(eta, self.at, self.e)
        return np.asarray(own + (self.F**2).sum(axis=1))

    def noise(self, eta: FloatArray) -> float:
        return 0.0


def on_rows(member: Member, at: Points) -> GridCovariance:
    offset, F = member.linearised(at)
    return GridCovariance(member, at, offset, F, bowl_misfit(member.trend, member.anchor, at))


class Places(NamedTuple):
    """Points that may be the best at a compute: q of each member, and their probabilities (q,)."""

    points: list[Points]
    chance: FloatArray


def likely_places(surface: Surface, C: float, stretch: float) -> Places:
    """The points of cost C that are the likeliest to be the best, each at its best λ.

    A point is as likely as it is to be better than the one that is best by now. ``stretch`` is
    what a member's variance is multiplied with.
    """
    line, along = surface.along(C, FEW_RATIOS)
    curve = surface.weight @ score(surface, line, along)
    best = int(np.argmin(curve))
    covs = [member.mean_and_cov(at)[1] for member, at in zip(surface.members, along, strict=True)]
    cov = stretch * np.tensordot(surface.weight, np.stack(covs), axes=1)
    spread = np.diag(cov) + cov[best, best] - 2.0 * cov[best]
    chance = ndtr(-(curve - curve[best]) / np.sqrt(np.maximum(spread, 1e-12)))
    likely = np.sort(np.argsort(-chance, kind="stable")[:N_PLACES])
    share = chance[likely] / chance[likely].sum()
    return Places([at.take(likely) for at in along], share)


def aim_at(
    places: Places,
    stretch: float,
    weight: FloatArray,
    rows: list[GridCovariance],
    factors: list[Factor],
    apart: FloatArray,
) -> Aim:
    """What the candidates say of some places; ``apart`` (M, m) is how the members' means differ.

    Where members disagree of a place, runs tell them apart.
    """
    parts = [_with_places(*each) for each in zip(rows, factors, places.points, strict=True)]
    cov, var, mean = (np.stack(part) for part in zip(*parts, strict=True))
    both = zip(rows, factors, places.points, strict=True)
    tuning, regret = zip(*(_tuning(*each, places.chance) for each in both), strict=True)
    off = mean - weight @ mean
    covariance = stretch * np.tensordot(weight, cov, axes=1) + (weight[:, None] * off).T @ apart
    return Aim(
        covariance=covariance,
        variance=stretch * (weight @ var) + weight @ off**2,
        chance=places.chance,
        tuning=stretch**2 * (weight @ np.stack(tuning)),
        regret=float(stretch * (weight @ np.array(regret))),
    )


def _with_places(
    one: GridCovariance, factor: Factor, places: Points
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Posterior covariance (q, m) of places with every row, their variance (q,) and mean (q,)."""
    member, k = one.member, factor.k
    there, rows = on_rows(member, places), factor.rows[:k]

    def prior(at: Points, F: FloatArray, e: FloatArray) -> FloatArray:
        near = member.kernel.cross(member.eta, places, at, there.e, e)
        return np.asarray(near + there.F @ F.T)

    seen = prior(one.at.take(rows), one.F[rows], one.e[rows]).T
    V = factor.whitened(seen)
    covariance = prior(one.at, one.F, one.e) - V.T @ factor.V[:k]
    variance = np.maximum(there.variances(member.eta) - (V**2).sum(axis=0), 1e-12)
    return covariance, variance, there.offset + V.T @ factor.u[:k]


def _tuning(
    one: GridCovariance, factor: Factor, places: Points, chance: FloatArray
) -> tuple[FloatArray, float]:
    """`Aim.tuning` and `Aim.regret` by one member."""
    member, k = one.member, factor.k
    shape, total, regret = member.trend, np.zeros(len(one.at)), 0.0
    for j in range(shape.h):
        at, b, slopes = shape.centre_of(j, member.theta, places.S)
        A = slopes * shape.sd[at]
        seen = one.F[np.ix_(factor.rows[:k], at)] @ A.T
        V = factor.whitened(seen)
        cov = A @ one.F[:, at].T - V.T @ factor.V[:k]
        total += (chance * b) @ cov**2
        regret += float((chance * b) @ np.maximum((A**2).sum(axis=1) - (V**2).sum(axis=0), 0.0))
    return total, regret


def mistuned(one: GridCovariance, factor: Factor) -> FloatArray:
    """(m,) Σ b·Var c over bowls: how far a row may lie above its best λ for want of knowing it.

    The linearised surface has none of it: at the bottom of a bowl its centre has no slope.
    """
    member, shape = one.member, one.member.trend
    W = factor.whitened(one.F[factor.rows[: factor.k]])
    cov = np.eye(shape.p) - W.T @ W
    total = np.zeros(len(one.at))
    for j in range(shape.h):
        at, b, slopes = shape.centre_of(j, member.theta, one.at.S)
        A = slopes * shape.sd[at]
        total += b * np.einsum("mi,ij,mj->m", A, cov[np.ix_(at, at)], A)
    return total
