"""Joint draws at a target: of the loss, of the curve, of a run about it, of its answers.

Notation and shapes: n draws; a member's own draws are picked anew for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lawsmith.answer import Target
from lawsmith.arrays import BoolArray, FloatArray, IntArray
from lawsmith.laws.uncertainty import Interval
from lawsmith.surface import Surface
from lawsmith.tasks.members import Member
from lawsmith.tasks.priors import DF

# Draws at a target, and along a line: ends of 95 % intervals of normal draws then err by 2 % and
# 3 % of the half-width.
N, N_ALONG = 4000, 2000
SEED = 19  # fixed, so that one table has one answer


class TaskDraws(NamedTuple):
    """(n,) the mean accuracy of runs at a target, what one run measures, and whose draw it is."""

    mean: FloatArray
    measured: FloatArray
    member: IntArray

    def interval(self, level: float) -> Interval:
        """The median of the mean, and the interval of what one run measures, which holds it."""
        centre = float(np.median(self.mean))
        _, low, high = ends(self.measured, level)
        return Interval(centre, min(low, centre), max(high, centre))

    def of(self, members: BoolArray) -> TaskDraws:
        """The draws of some members alone."""
        own = members[self.member]
        return TaskDraws(self.mean[own], self.measured[own], self.member[own])


def draw_at(
    members: Sequence[Member], weight: FloatArray, surface: Surface | None, target: Target
) -> TaskDraws:
    """Draws of the accuracy at a target."""
    loss = np.full(N, np.nan)
    if surface is not None:
        mixture = (
            surface.mixture_at(target.scales(surface.scale_names), target.hp)
            if target.sized
            else surface.mixture_best(target.C)
        )
        loss = mixture.sample_runs(N, np.random.default_rng(SEED))
    rng = np.random.default_rng(SEED + 1)
    which = rng.choice(len(members), size=N, p=weight)
    rows = rng.integers(len(members[0].u), size=N)
    tail = rng.standard_t(DF, size=N)
    mean, measured = np.empty(N), np.empty(N)
    for j, member in enumerate(members):
        own = np.flatnonzero(which == j)
        if not len(own):
            continue
        part = member.take(rows[own])
        x = part.x_at(_places(part, target, loss[own]), rng)
        centre, scale = (values[:, 0] for values in part.accuracy(x))
        mean[own] = centre
        measured[own] = np.clip(centre + scale * tail[own], 0.0, 1.0)
    return TaskDraws(mean, measured, which.astype(np.int64))


def draw_along(
    members: Sequence[Member], weight: FloatArray, log_loss: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(n, k) means and measured accuracies of the two-step ways at log losses (k,)."""
    rng = np.random.default_rng(SEED + 2)
    own = [j for j, member in enumerate(members) if member.way == "two steps"]
    share = weight[own] / weight[own].sum()
    counts = np.round(share * N_ALONG).astype(int)
    means, measured = [], []
    for j, count in zip(own, counts.tolist(), strict=True):
        part = members[j].take(rng.integers(len(members[j].u), size=count))
        x = part.x_at(log_loss[:, None], rng)
        mean, scale = part.accuracy(x)
        means.append(mean)
        measured.append(np.clip(mean + scale * rng.standard_t(DF, size=(count, 1)), 0.0, 1.0))
    return np.concatenate(means), np.concatenate(measured)


def _places(member: Member, target: Target, loss: FloatArray) -> FloatArray:
    """Places of a target: a loss of each draw, the target's scales, or the best ones at its C."""
    if member.way == "two steps":
        return loss[:, None, None]
    if target.sized:
        return member.scales.places(member.scales.logs(target))
    return member.best_scales(float(np.log(target.C)))


def ends(values: FloatArray, level: float) -> Interval:
    """Median and interval."""
    tail = 0.5 * (1.0 - level)
    low, centre, high = np.quantile(values, [tail, 0.5, 1.0 - tail]).tolist()
    return Interval(centre, low, high)
