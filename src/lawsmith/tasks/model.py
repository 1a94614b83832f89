"""A fitted task: its members with weights, and joint draws of the accuracy at a target.

A draw joins all uncertainties: of the loss, of the curve, of a run about it, of its answers.
Notation and shapes: n draws; for each, a member and one of the member's own draws are picked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lawsmith.answer import Target
from lawsmith.arrays import BoolArray, FloatArray, IntArray
from lawsmith.laws.uncertainty import Interval
from lawsmith.surface import Surface
from lawsmith.tasks.data import Way
from lawsmith.tasks.members import Member
from lawsmith.tasks.priors import DF

# Draws at a target, and along a line: ends of 95 % intervals of normal draws then err by 2 % and
# 3 % of the half-width.
N, N_ALONG = 4000, 2000
LEAST_DRAWS = 100  # of one way, for a prediction of that way alone
SEED = 19  # fixed, so that one table has one answer


class TaskDraws(NamedTuple):
    """(n,) mean accuracy of runs at a target, accuracy of one run, and the member of each draw."""

    mean: FloatArray
    measured: FloatArray
    member: IntArray

    def interval(self, level: float) -> Interval:
        """The median of the mean, and the interval of one run, widened to contain it."""
        centre = float(np.median(self.mean))
        _, low, high = ends(self.measured, level)
        return Interval(centre, min(low, centre), max(high, centre))

    def of(self, members: BoolArray) -> TaskDraws:
        """The draws of some members."""
        own = members[self.member]
        return TaskDraws(self.mean[own], self.measured[own], self.member[own])


@dataclass(frozen=True, eq=False)
class TaskModel:
    """Members with weights (m,), and the surface of the loss, which two steps need."""

    members: tuple[Member, ...]
    weight: FloatArray
    surface: Surface | None

    def at(self, target: Target) -> TaskDraws:
        """Draws of the accuracy at a target."""
        loss = np.full(N, np.nan)
        if (surface := self.surface) is not None:
            mixture = (
                surface.mixture_at(target.scales(surface.scale_names), target.hp)
                if target.sized
                else surface.mixture_best(target.C)
            )
            loss = mixture.sample_runs(N, np.random.default_rng(SEED))
        rng = np.random.default_rng(SEED + 1)
        which = rng.choice(len(self.members), size=N, p=self.weight)
        rows = rng.integers(len(self.members[0].u), size=N)
        tail = rng.standard_t(DF, size=N)
        mean, measured = np.empty(N), np.empty(N)
        for j, member in enumerate(self.members):
            own = np.flatnonzero(which == j)
            if not len(own):
                continue
            part = member.take(rows[own])
            x = part.x_at(_coordinates(part, target, loss[own]), rng)
            centre, scale = (values[:, 0] for values in part.accuracy(x))
            mean[own] = centre
            measured[own] = np.clip(centre + scale * tail[own], 0.0, 1.0)
        return TaskDraws(mean, measured, which.astype(np.int64))

    def along(self, log_loss: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(n, k) mean and measured accuracies at log losses (k,), by way of the loss."""
        rng = np.random.default_rng(SEED + 2)
        own = [j for j, member in enumerate(self.members) if member.way == "two steps"]
        share = self.weight[own] / self.weight[own].sum()
        counts = np.round(share * N_ALONG).astype(int)
        means, measured = [], []
        for j, count in zip(own, counts.tolist(), strict=True):
            part = self.members[j].take(rng.integers(len(self.members[j].u), size=count))
            mean, scale = part.accuracy(part.x_at(log_loss[:, None], rng))
            means.append(mean)
            measured.append(np.clip(mean + scale * rng.standard_t(DF, size=(count, 1)), 0.0, 1.0))
        return np.concatenate(means), np.concatenate(measured)

    def by_way(self, draws: TaskDraws, level: float) -> dict[str, Interval]:
        """What each way predicts alone, if it has enough draws."""
        ways = np.array([member.way for member in self.members])
        parts = {way: draws.of(ways == way) for way in dict.fromkeys(ways.tolist())}
        enough = {way: part for way, part in parts.items() if len(part.mean) >= LEAST_DRAWS}
        return {way: part.interval(level) for way, part in enough.items()}

    def way_weights(self) -> dict[Way, float]:
        """How much each way counts."""
        weights: dict[Way, float] = {}
        for member, weight in zip(self.members, self.weight.tolist(), strict=True):
            weights[member.way] = weights.get(member.way, 0.0) + weight
        return weights

    def chance(self, level: float) -> Interval:
        """The floor of accuracy."""
        floors = [member.shape.floor[:, 0] for member in self.members]
        n = len(floors[0])
        weighted = zip(floors, self.weight, strict=True)
        return ends(np.concatenate([f[: max(round(w * n), 1)] for f, w in weighted]), level)


def _coordinates(member: Member, target: Target, loss: FloatArray) -> FloatArray:
    """Coordinates of a target: a loss of each draw, the target's scales, or the best at its C."""
    if member.way == "two steps":
        return loss[:, None, None]
    if target.sized:
        return member.scales.coordinates(member.scales.logs(target))
    return member.best_scales(float(np.log(target.C)))


def ends(values: FloatArray, level: float) -> Interval:
    """Median and interval."""
    tail = 0.5 * (1.0 - level)
    low, centre, high = np.quantile(values, [tail, 0.5, 1.0 - tail]).tolist()
    return Interval(centre, low, high)
