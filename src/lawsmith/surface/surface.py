"""Surface: the posterior of log loss at any N, D and λ, from every run of a study.

Notation as in the modules below it. A surface is a mixture of members: forms of the trend, fitted
to all rows or to the upper ones. Members are weighed by how well they predict the top of the data
from the rows below it. At a target each is Student's t, with a variance that grows beyond the data
(:mod:`lawsmith.surface.mixture`). Centres and intervals are quantiles of the mixture, so a centre
lies inside its interval.

    at(N, D)   noise-free loss of the best λ at N and D;  at(N, D, λ) of that λ
    best(C)    noise-free loss of the best run that costs C, over N, D and λ
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from lawsmith.arrays import AnyArray, FloatArray
from lawsmith.errors import LawsmithError
from lawsmith.grid import Grid
from lawsmith.surface.axes import Axis
from lawsmith.surface.frame import Frame, Points, stack
from lawsmith.surface.locate import (
    Range,
    about_line,
    best_experts,
    expert_values,
    locate,
    mean_plus_sd,
    root,
    score,
)
from lawsmith.surface.member import Member
from lawsmith.surface.mixture import DF, STEP, Mixture, beyond2
from lawsmith.threads import one_thread

RATIO_REACH = 2.5  # e-folds beyond the D/N of the data that a line reaches
N_RATIOS, FEW_RATIOS = 121, 31  # values of D/N on a line; few if only the loss is wanted
# A run is odd if its log loss is FAR_BELOW under the prediction of the others, with a weight below
# SMALL_WEIGHT. No run in the tables of docs/truth.md is odd.
FAR_BELOW, SMALL_WEIGHT = 0.05, 0.3
Given = Mapping[str, float | str]  # hyperparameters and further scales by name
NO_HP: Given = MappingProxyType({})
LEAST_BACK = 0.1  # e-folds of C over which a slope is taken at least
HP_STEPS = (-1.0, -0.5, 0.0, 0.5, 1.0)  # steps in the search for the best λ, then half of them


class OddRun(NamedTuple):
    """A run, its loss, and the loss that the other runs predict there."""

    C: float
    loss: float
    expected: float


@dataclass(frozen=True)
class Estimate:
    """The loss at a target, and the best run there.

    loss               median of the noise-free loss
    low, high          its interval
    run_low, run_high  interval of the loss of one further run, tuned as well
    decades            of compute beyond the largest run, below 0 inside the data
    scales             N, D and D/N of the best run; single values where the target gives them
    hp, levels         its hyperparameters: numbers with intervals, and categories; as given where
                       the target gives them
    at_edge            names of those whose best value is at the end of what was tried
    """

    loss: float
    low: float
    high: float
    run_low: float
    run_high: float
    decades: float
    scales: Mapping[str, Range]
    hp: Mapping[str, Range]
    levels: Mapping[str, str]
    at_edge: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Surface:
    """A finished fit; make it with `fit` or `fit_surface`."""

    frame: Frame
    members: tuple[Member, ...]
    weight: FloatArray
    # Results are kept: every chart is drawn at two widths, in a report and in a file.
    _best: dict[tuple[object, ...], Estimate] = field(default_factory=dict, init=False, repr=False)
    _mixtures: dict[tuple[float, int], Mixture] = field(
        default_factory=dict, init=False, repr=False
    )

    @property
    def scale_names(self) -> tuple[str, ...]:
        return self.frame.names

    @property
    def heaviest(self) -> Member:
        """The member that counts most."""
        return self.members[int(np.argmax(self.weight))]

    @one_thread()
    def at(self, *, level: float = 0.95, hp: Given = NO_HP, **scales: float) -> Estimate:
        """The loss at N and D (or the scales of the table), best over the λ that is not given."""
        missing = [name for name in self.frame.names if name not in scales]
        if missing:
            raise LawsmithError("at", got=", ".join(scales) or "nothing", want=", ".join(missing))
        line = {name: np.array([scales[name]], dtype=np.float64) for name in self.frame.names}
        self._check(hp)
        return self._estimate(line, hp, level)

    @one_thread()
    def best(self, C: float, *, level: float = 0.95, hp: Given = NO_HP) -> Estimate:
        """The loss of the best run that costs C, over the λ that is not given."""
        key = (C, level, *sorted(hp.items()))
        if key not in self._best:
            self._check(hp)
            self._best[key] = self._find_best(C, hp, level)
        return self._best[key]

    def _check(self, hp: Given) -> None:
        """Refuse hyperparameters that no run can have."""
        for axis in (axis for axis in self.frame.axes if axis.name in hp):
            axis.check(hp[axis.name])

    def _find_best(self, C: float, hp: Given, level: float) -> Estimate:
        experts, edge = self._best_experts(C, hp, level)
        given = {**hp, **{name: best.centre for name, best in experts.items()}}
        estimate = self._estimate(self.line(C, hp=given), given, level)
        scales = estimate.scales
        if self.frame.collinear:
            scales = about_line(scales, level)
        ends = (*estimate.at_edge, *edge)
        return replace(estimate, scales=scales, hp={**estimate.hp, **experts}, at_edge=ends)

    def _best_experts(
        self, C: float, hp: Given, level: float
    ) -> tuple[dict[str, Range], list[str]]:
        """The best experts at one compute, and their name if they are at the end of what was tried.

        Only if experts have a price. A compute then buys either experts or parameters, so the best
        experts are searched along runs of one cost, each at its best N, D and λ.
        """
        ranges, edge = {}, []
        for axis in self.frame.experts:
            if not axis.price or axis.name in hp:
                continue
            families = []
            for u in expert_values(axis).tolist():
                given = {**hp, axis.name: axis.value(u)}
                line = self.line(C, FEW_RATIOS, given)
                places = self.places(line, given)
                best = np.array([int(np.argmin(self.weight @ score(self, line, places)))])
                families.append([at.take(best) for at in places])
            along = [stack(family) for family in zip(*families, strict=True)]
            ranges[axis.name], ended = best_experts(self, axis, along, level)
            edge += [axis.name] if ended else []
        return ranges, edge

    def with_best_experts(self, C: float, hp: Given = NO_HP) -> dict[str, float | str]:
        """``hp``, and the best experts at C if these have a price and are not given."""
        experts = self._best_experts(C, hp, 0.95)[0]
        return {**hp, **{name: best.centre for name, best in experts.items()}}

    @one_thread()
    def along(self, C: float, n_ratios: int = N_RATIOS) -> tuple[dict[str, AnyArray], list[Points]]:
        """Scales of points that cost C, and for each member the points at its best λ."""
        given = self.with_best_experts(C)
        line = self.line(C, n_ratios, given)
        return line, self.places(line, given)

    @one_thread()
    def places(
        self, scales: Mapping[str, AnyArray], hp: Mapping[str, float | str | FloatArray] = NO_HP
    ) -> list[Points]:
        """For each member the points at those scales, each at its best λ."""
        return [self.best_hp(member, scales, hp) for member in self.members]

    @one_thread()
    def odd_runs(self) -> list[OddRun]:
        """Runs of small weight that lie far below the prediction of the others; cheapest first."""
        member = self.heaviest
        off = member.left_out()
        odd = (member.w < SMALL_WEIGHT) & (off < -FAR_BELOW)
        odd &= member.data.first >= 0  # an inferred row is no run
        rows = np.flatnonzero(odd)
        C = np.exp(member.data.points.c[rows] + self.frame.log_top)
        y = member.data.y[rows]
        expected = np.exp(y - off[rows])
        runs = zip(C.tolist(), np.exp(y).tolist(), expected.tolist(), strict=True)
        return sorted(OddRun(*run) for run in runs)

    @one_thread()
    def mixture_at(self, scales: Mapping[str, float], hp: Given = NO_HP) -> Mixture:
        """The prediction at those scales, at the best λ where it is not given."""
        line = {name: np.array([scales[name]]) for name in self.frame.names}
        return self.mixture(self.places(line, hp))

    def mixture_of(self, grid: Grid, row: int) -> Mixture:
        """The prediction for a row of a grid if it were tuned: at its scales and the best λ."""
        scales = {name: float(grid.numbers(name)[row]) for name in self.frame.names}
        further = {axis.name: float(grid.numbers(axis.name)[row]) for axis in self.frame.further}
        return self.mixture_at(scales, further)

    @one_thread()
    def mixture_best(self, C: float, n_ratios: int = N_RATIOS) -> Mixture:
        """The prediction of the best loss at C, over ``n_ratios`` values of D/N."""
        key = (C, n_ratios)
        if key not in self._mixtures:
            self._mixtures[key] = self.mixture(self.best_of(*self.along(C, n_ratios)))
        return self._mixtures[key]

    @one_thread()
    def posterior(
        self, scales: Mapping[str, AnyArray], hp: Mapping[str, AnyArray]
    ) -> tuple[FloatArray, FloatArray]:
        """(q,) mean and (q, q) covariance of log loss at given points, without noise of a run."""
        at = self.frame.points(scales, hp)
        means, covs = zip(*(self._joint(member, at) for member in self.members), strict=True)
        mean = np.tensordot(self.weight, np.stack(means), axes=1)
        off = np.stack(means) - mean
        spread = np.einsum("m,mi,mj->ij", self.weight, off, off)
        inner = np.tensordot(self.weight, np.stack(covs), axes=1)
        return mean, inner * (DF / (DF - 2.0)) + spread

    @one_thread()
    def sample(
        self,
        scales: Mapping[str, AnyArray],
        hp: Mapping[str, AnyArray],
        n: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """(n, q) joint draws of log loss at given points, without noise of a run."""
        at = self.frame.points(scales, hp)
        counts = rng.multinomial(n, self.weight)
        drawn = []
        for member, count in zip(self.members, counts, strict=True):
            mean, cov = self._joint(member, at)
            normal = rng.standard_normal((count, len(at))) @ root(cov).T
            tail = np.sqrt(DF / rng.chisquare(DF, size=(count, 1)))
            drawn.append(mean + tail * normal)
        return np.asarray(rng.permutation(np.concatenate(drawn)))

    def _joint(self, member: Member, at: Points) -> tuple[FloatArray, FloatArray]:
        """A member's mean and scale matrix; errors due to the distance beyond the data are one."""
        mean, cov = member.mean_and_cov(at)
        slope, a, h = distance(member, at)
        more = np.sqrt(beyond2(slope, a, h))
        return mean, cov + np.outer(more, more)

    def mixture(self, places: list[Points]) -> Mixture:
        """The prediction at one point, which may differ in λ (or N) between members."""
        parts = np.empty((6, len(self.members)))
        for j, (member, at) in enumerate(zip(self.members, places, strict=True)):
            mean, cov = member.mean_and_cov(at)
            slope, a, h = distance(member, at)
            noise = member.run_noise(at)[0] ** 2
            parts[:, j] = mean[0], max(cov[0, 0], 1e-12), noise, slope[0], a[0], h[0]
        return Mixture(self._weight_at(places), *parts)

    def _weight_at(self, places: list[Points]) -> FloatArray:
        """(m,) weights of the members at a point.

        A member that rests on the largest runs is no guide far below them. For each e-fold of
        compute below its rows, its weight falls by a factor of e relative to the nearest member.
        """
        lowest = [member.data.points.c.min() for member in self.members]
        below = np.maximum(np.array(lowest) - [at.c[0] for at in places], 0.0)
        weight = self.weight * np.exp(below.min() - below)
        return np.asarray(weight / weight.sum())

    def line(self, C: float, n_ratios: int = N_RATIOS, hp: Given = NO_HP) -> dict[str, AnyArray]:
        """Scales of points that cost C: over D/N if there are N and D, else one point.

        hp   values of the further axes that have a price
        """
        frame = self.frame
        for axis in frame.further:
            if axis.price:
                C = C / float(hp[axis.name]) ** axis.price
        if frame.names != ("N", "D"):
            return {frame.names[0]: np.array([C / frame.multiplier])}
        log_nd = np.log(C / frame.multiplier)
        if frame.collinear:
            n = np.array([frame.line[0] + frame.line[1] * np.log(C)])
        else:
            low, high = frame.ratio
            ratio = np.linspace(low - RATIO_REACH, high + RATIO_REACH, n_ratios)
            n = 0.5 * (log_nd - ratio)
        return {"N": np.exp(n), "D": np.exp(log_nd - n)}

    def best_hp(
        self,
        member: Member,
        scales: Mapping[str, AnyArray],
        hp: Mapping[str, float | str | FloatArray],
    ) -> Points:
        """(q) points at those scales, each at the best λ; see `locate.score`."""
        frame = self.frame
        q = len(scales[frame.names[0]])
        base = {a.name: np.full(q, a.levels[0] if a.levels else a.value(0.0)) for a in frame.axes}
        base |= {name: np.broadcast_to(value, q) for name, value in hp.items()}
        at = frame.points(scales, base)
        bottoms = dict(zip(frame.numeric, member.trend.centres(member.theta, at.S).T, strict=True))
        for axis in (axis for axis in frame.numeric if axis.name not in hp):
            at = frame.moved(at, axis, axis.possible(bottoms[axis]))
        for axis in (axis for axis in frame.experts if axis.name not in hp):
            tried = [frame.moved(at, axis, u) for u in expert_values(axis).tolist()]
            # Not `mean_plus_sd`: more experts always help, and few would win only because many are
            # uncertain.
            at = _least(member, tried, Member.mean)
        swept = [a for a in (*frame.categorical, *frame.numeric) if a.name not in hp]
        for step in (1.0, 0.5):
            for axis in swept:
                candidates = self._candidates(at, axis, step, bottoms)
                at = _least(member, [frame.moved(at, axis, u) for u in candidates])
        return at

    def _candidates(
        self, at: Points, axis: Axis, step: float, bottoms: Mapping[Axis, FloatArray]
    ) -> list[float | FloatArray]:
        """Coordinates of an axis to try: every level of a category; for a λ, steps from the present
        value, as far beyond the tried range or the bowl's bottom as `Axis.beyond` says, and points
        of the tried range.

        The bottom drifts with scale, so far beyond the data it may lie outside the tried range.
        """
        if axis.levels:
            return [float(level) for level in range(len(axis.levels))]
        u, bottom = at.U[:, self.frame.numeric.index(axis)], bottoms[axis]
        low = np.minimum(axis.low, bottom) - axis.beyond
        high = np.maximum(axis.high, bottom) + axis.beyond
        moved = [axis.possible(np.clip(u + k * step, low, high)) for k in HP_STEPS]
        return [*moved, axis.low, 0.0, axis.high]

    def best_of(self, line: Mapping[str, AnyArray], places: list[Points]) -> list[Points]:
        """The best point of each member on a line; see `locate.score`."""
        if len(places[0]) == 1:
            return places
        best = [np.argmin(s) for s in score(self, line, places)]
        return [at.take(np.array([i])) for at, i in zip(places, best, strict=True)]

    def _estimate(self, line: Mapping[str, AnyArray], hp: Given, level: float) -> Estimate:
        """The least loss on a line of points, and its place."""
        places = self.places(line, hp)
        numbers = self.mixture(self.best_of(line, places)).interval(level)
        decades = float(places[0].c[0] / np.log(10.0))
        return Estimate(*numbers, decades, *locate(self, line, places, hp, level))


def _least(
    member: Member,
    tried: list[Points],
    score_of: Callable[[Member, Points], FloatArray] = mean_plus_sd,
) -> Points:
    """Among several sets of points, the one of least score in each row."""
    every = stack(tried)
    scores = score_of(member, every).reshape(len(tried), -1)
    n = scores.shape[1]
    return every.take(np.argmin(scores, axis=0) * n + np.arange(n))


def distance(member: Member, at: Points) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(q,) slope, residual SD and e-folds beyond the data, as a `Mixture` has them."""
    h, s = member.data.frame.beyond(at), member.trend.s
    back = np.maximum(h, LEAST_BACK)
    edge = at.S.copy()
    edge[:, :s] -= back[:, None] / s
    slope = (member.trend.law(member.theta, edge) - member.trend.law(member.theta, at.S)) / back
    a = member.kernel.amplitude(member.eta, at.c)
    more = member.data.frame.n_stepwise * STEP**2
    return np.abs(slope), np.sqrt(a**2 + more), h
