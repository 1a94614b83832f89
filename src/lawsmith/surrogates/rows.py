"""A surface on the candidates of a grid: what a `Factor` asks of one member."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawsmith.arrays import FloatArray, IntArray
from lawsmith.surface import priors
from lawsmith.surface.data import Points
from lawsmith.surface.member import Member, bowl_misfit


def stretch(n: int) -> float:
    """What the variance of a member fitted to n runs is multiplied with; see `surface.priors`."""
    return priors.model_share(n) * priors.DF / (priors.DF - 2.0)


@dataclass(frozen=True, eq=False)
class OnRows:
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


def on_rows(member: Member, at: Points) -> OnRows:
    offset, F = member.linearised(at)
    return OnRows(member, at, offset, F, bowl_misfit(member.trend, member.anchor, at))
