"""Surface: the posterior of log loss at any N, D and λ, from every run of a study.

Notation as in the modules below it. A surface is a mixture of members (forms of the trend, fitted
to all rows or to the upper ones). Members are weighed by how well they predict the top of the data
from what lies below it. At a target each is Student's t, with a variance that grows beyond the data
(:mod:`lawsmith.surface.priors`); centres and intervals are quantiles of the mixture, so a centre
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
from lawsmith.surface import priors
from lawsmith.surface.data import Frame, Points
from lawsmith.surface.further import FEW_RATIOS, N_FURTHER, best_priced, moved_along, with_further
from lawsmith.surface.locate import BEYOND, Where, about_line, guarded, locate, root, score
from lawsmith.surface.member import Member
from lawsmith.surface.mixture import Mixture
from lawsmith.surface.prior import BROAD, Prior

RATIO_REACH = 2.5  # how far beyond the D/N of the data one looks, in e-folds
N_RATIOS = 121
# A run that says less than the others do by FAR_BELOW (in logs) and has less than LET_GO of its
# weight left is odd. No run of the tables of docs/truth.md is.
FAR_BELOW, LET_GO = 0.05, 0.3
NO_HP: Mapping[str, float | str] = MappingProxyType({})
BLOCK = 4000  # rows of a grid that are worked out at once
HP_STEPS = (-1.0, -0.5, 0.0, 0.5, 1.0)


class OddRun(NamedTuple):
    """A run, its loss, and the loss that the other runs let expect there."""

    C: float
    loss: float
    expected: float


@dataclass(frozen=True)
class Estimate:
    """The loss at a target: centre, interval of the truth, interval of a further run.

    decades  beyond the largest run, below 0 inside the data
    where    N, D, D/N and λ of it, with intervals and what is as good
    """

    loss: float
    low: float
    high: float
    run_low: float
    run_high: float
    level: float
    C: float
    decades: float
    where: Where


@dataclass(frozen=True, eq=False)
class Surface:
    """A finished fit; make it with `fit` or `fit_surface`."""

    frame: Frame
    members: tuple[Member, ...]
    weight: FloatArray
    prior: Prior = BROAD
    # What was asked before: every chart is drawn at two widths, in a report and in a file.
    _best: dict[tuple[object, ...], Estimate] = field(default_factory=dict, init=False, repr=False)
    _mixtures: dict[tuple[object, ...], tuple[Mixture, ...]] = field(
        default_factory=dict, init=False, repr=False
    )

    @property
    def scale_names(self) -> tuple[str, ...]:
        return self.frame.names

    def at(
        self, *, level: float = 0.95, hp: Mapping[str, float | str] | None = None, **scales: float
    ) -> Estimate:
        """The loss at N and D (or the scales of the table), best over the λ that is not given."""
        missing = [name for name in self.frame.names if name not in scales]
        if missing:
            raise LawsmithError("at", got=", ".join(scales) or "nothing", want=", ".join(missing))
        line = {name: np.array([scales[name]], dtype=np.float64) for name in self.frame.names}
        return self._answer(line, hp or {}, level)

    def best(
        self, C: float, *, level: float = 0.95, hp: Mapping[str, float | str] = NO_HP
    ) -> Estimate:
        """The loss of the best run that costs C, over the λ that is not given."""
        key = (C, level, *sorted(hp.items()))
        if key not in self._best:
            self._best[key] = self._find_best(C, hp, level)
        return self._best[key]

    def _find_best(self, C: float, hp: Mapping[str, float | str], level: float) -> Estimate:
        chosen = best_priced(self, C, hp, level)
        given = {**hp, **chosen.centres}
        answer = self._answer(self.line(C, hp=given), given, level)
        where = about_line(answer.where, level) if self.frame.collinear else answer.where
        return replace(answer, where=chosen.added_to(where))

    def expected(self, grid: Grid) -> FloatArray:
        """(m,) the loss to expect of each row of a grid."""
        scales = {name: grid.column(name) for name in self.frame.names}
        at = self.frame.points(scales, {name: grid.column(name) for name in grid.hp})
        # A few thousand at a time: a grid may have 100,000 rows, each with a covariance per run.
        parts = [at.take(np.arange(i, min(i + BLOCK, len(at)))) for i in range(0, len(at), BLOCK)]
        means = [np.stack([member.mean(part) for member in self.members]) for part in parts]
        return np.asarray(np.exp(self.weight @ np.concatenate(means, axis=1)))

    def odd_runs(self) -> list[OddRun]:
        """Runs far below what the others say, most of whose weight is let go; cheapest first."""
        member = self.members[int(np.argmax(self.weight))]
        off = member.left_out()
        odd = (member.w < LET_GO) & (off < -FAR_BELOW)
        odd &= member.data.first >= 0  # what is inferred is no run
        rows = np.flatnonzero(odd)
        C = np.exp(member.data.points.c[rows] + self.frame.log_top)
        y = member.data.y[rows]
        found = zip(C.tolist(), np.exp(y).tolist(), np.exp(y - off[rows]).tolist(), strict=True)
        return sorted(OddRun(*one) for one in found)

    def mixture_at(
        self, scales: Mapping[str, float], hp: Mapping[str, float | str] = NO_HP
    ) -> Mixture:
        """Of log loss at those scales and the best λ that is not given."""
        line = {name: np.array([scales[name]]) for name in self.frame.names}
        return self.mixture([self.best_hp(member, line, hp) for member in self.members])

    def further_of(self, grid: Grid, row: int) -> dict[str, float | str]:
        """The further scales of a row of a grid."""
        return {axis.name: float(grid.numbers(axis.name)[row]) for axis in self.frame.further}

    def mixture_best(self, C: float) -> Mixture:
        """Of the best log loss at C."""
        return self.mixtures_best(np.array([C]), n_ratios=N_RATIOS)[0]

    def mixtures_best(self, C: FloatArray, *, n_ratios: int = FEW_RATIOS) -> tuple[Mixture, ...]:
        """Of the best log loss at each C, over so many D/N; together is faster."""
        key = (n_ratios, *C.tolist())
        if key not in self._mixtures:
            self._mixtures[key] = self._find_mixtures(C, n_ratios)
        return self._mixtures[key]

    def _find_mixtures(self, C: FloatArray, n_ratios: int) -> tuple[Mixture, ...]:
        chosen = [best_priced(self, c, NO_HP).centres for c in C.tolist()]
        lines = [self.line(c, n_ratios, hp) for c, hp in zip(C.tolist(), chosen, strict=True)]
        whole = {k: np.concatenate([line[k] for line in lines]) for k in self.frame.names}
        q = len(whole[self.frame.names[0]]) // len(lines)
        hp = {name: np.repeat([one[name] for one in chosen], q) for name in chosen[0]}
        places = [self.best_hp(member, whole, hp) for member in self.members]
        q = len(places[0]) // len(lines)
        parts = np.arange(len(places[0])).reshape(len(lines), q)
        return tuple(
            self.mixture(self.best_of(line, [at.take(rows) for at in places]))
            for line, rows in zip(lines, parts, strict=True)
        )

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
        return mean, inner * (priors.DF / (priors.DF - 2.0)) + spread

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
            tail = np.sqrt(priors.DF / rng.chisquare(priors.DF, size=(count, 1)))
            drawn.append(mean + tail * normal)
        return np.asarray(rng.permutation(np.concatenate(drawn)))

    def _joint(self, member: Member, at: Points) -> tuple[FloatArray, FloatArray]:
        """A member's mean and scale matrix; what lies beyond the data errs together."""
        mean, cov = member.mean_and_cov(at)
        slope, a, h = distance(member, at)
        share = priors.model_share(member.n_witnesses)
        more = np.sqrt(priors.beyond2(slope, a, h))
        return mean, share * cov + np.outer(more, more)

    def mixture(self, places: list[Points]) -> Mixture:
        """Of log loss at one point, which each member may have at another λ (or N)."""
        parts = np.empty((7, len(self.members)))
        for j, (member, at) in enumerate(zip(self.members, places, strict=True)):
            mean, cov = member.mean_and_cov(at)
            slope, a, h = distance(member, at)
            noise = member.run_noise(at)[0] ** 2
            n = member.n_witnesses
            parts[:, j] = mean[0], max(cov[0, 0], 1e-12), noise, slope[0], a[0], h[0], n
        return Mixture(self._weight_at(places), *parts)

    def _weight_at(self, places: list[Points]) -> FloatArray:
        """(m,) what members count at a point.

        A member that rests on the largest runs says little below them: for each e-fold of compute
        below its rows it counts less by a factor of e, unless all members are that far away.
        """
        lowest = [member.data.points.c.min() for member in self.members]
        below = np.maximum(np.array(lowest) - [at.c[0] for at in places], 0.0)
        weight = self.weight * np.exp(below.min() - below)
        return np.asarray(weight / weight.sum())

    def line(
        self, C: float, n_ratios: int = N_RATIOS, hp: Mapping[str, float | str] = NO_HP
    ) -> dict[str, AnyArray]:
        """Scales of points that cost C: many D/N where there are N and D, else the one.

        hp   values of the further axes that runs are paid for
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
        free = [j for j, a in enumerate(frame.numeric) if a.name not in hp]
        U = at.U.copy()
        centres = member.trend.centres(member.theta, at.S)
        U[:, free] = centres[:, free]
        at = Points(at.S, U, at.G, at.c)
        for axis in (a for a in frame.further if a.kind == "experts" and a.name not in hp):
            values = np.linspace(axis.low, axis.high, N_FURTHER)
            tried = [moved_along(frame, at, axis, float(v)) for v in values]
            # Not `guarded`: more experts help, so they have no bottom, and few would win only
            # because little is known of many.
            at = _least(member, tried, lambda member, at: member.mean_and_sd(at)[0])
        for step in (1.0, 0.5) if free or frame.categorical else ():
            at = self._sweep_levels(member, at, hp)
            for j in free:
                at = _least(member, self._tried(at, j, step, centres[:, j]))
        return at

    def _tried(self, at: Points, j: int, step: float, centre: FloatArray) -> list[Points]:
        """The points with their jth λ moved, as far as BEYOND what was tried or the bowl's bottom.

        The bottom drifts with scale, so far beyond the data it lies beyond what was tried.
        """
        axis = self.frame.numeric[j]
        low, high = np.minimum(axis.low, centre) - BEYOND, np.maximum(axis.high, centre) + BEYOND
        moved = [np.clip(at.U[:, j] + k * step, low, high) for k in HP_STEPS]
        seen = [np.full(len(at), u) for u in (axis.low, 0.0, axis.high)]
        tried = []
        for u in [*moved, *seen]:
            U = at.U.copy()
            U[:, j] = u
            tried.append(Points(at.S, U, at.G, at.c))
        return tried

    def _sweep_levels(
        self, member: Member, at: Points, hp: Mapping[str, float | str | FloatArray]
    ) -> Points:
        """Each point at its best level of each category that is not given."""
        start = 0
        for axis in self.frame.categorical:
            stop = start + len(axis.levels)
            if axis.name not in hp:
                tried = []
                for level in range(len(axis.levels)):
                    G = at.G.copy()
                    G[:, start:stop] = 0.0
                    G[:, start + level] = 1.0
                    tried.append(Points(at.S, at.U, G, at.c))
                at = _least(member, tried)
            start = stop
        return at

    def best_of(self, line: Mapping[str, AnyArray], places: list[Points]) -> list[Points]:
        """The best point of each member on a line; see `locate.score`."""
        if len(places[0]) == 1:
            return places
        best = [np.argmin(s) for s in score(self, line, places)]
        return [at.take(np.array([i])) for at, i in zip(places, best, strict=True)]

    def _answer(
        self, line: Mapping[str, AnyArray], hp: Mapping[str, float | str], level: float
    ) -> Estimate:
        """The least loss on a line of points, and where it is."""
        places = [self.best_hp(member, line, hp) for member in self.members]
        mixture = self.mixture(self.best_of(line, places))
        tail = 0.5 * (1.0 - level)
        centre = mixture.quantile(0.5, run=False)
        ends = [mixture.quantile(p, run=False) for p in (tail, 1.0 - tail)]
        run = [mixture.quantile(p, run=True) for p in (tail, 1.0 - tail)]
        C = float(np.exp(places[0].c[0] + self.frame.log_top))
        return Estimate(
            loss=float(np.exp(centre)),
            low=float(np.exp(min(ends[0], centre))),
            high=float(np.exp(max(ends[1], centre))),
            run_low=float(np.exp(min(run[0], ends[0], centre))),
            run_high=float(np.exp(max(run[1], ends[1], centre))),
            level=level,
            C=C,
            decades=float(places[0].c[0] / np.log(10.0)),
            where=with_further(self, locate(self, line, places, level), line, hp, places, level),
        )


def _least(
    member: Member,
    tried: list[Points],
    judge: Callable[[Member, Points], FloatArray] = guarded,
) -> Points:
    """Of several sets of points, the best of each row, as ``judge`` says."""
    parts = [[getattr(at, name) for at in tried] for name in ("S", "U", "G", "c")]
    scores = judge(member, Points(*map(np.concatenate, parts))).reshape(len(tried), -1)
    pick, rows = np.argmin(scores, axis=0), np.arange(scores.shape[1])
    return Points(*(np.stack(part)[pick, rows] for part in parts))


def distance(member: Member, at: Points) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(q,) slope, residual SD and e-folds beyond the data, as `priors.scale2` takes them."""
    s = member.trend.s
    step = np.zeros(at.S.shape[1])
    step[:s] = 0.05 / max(s, 1)
    law = member.trend.law
    slope = (law(member.theta, at.S - step) - law(member.theta, at.S + step)) / 0.1
    a = member.kernel.amplitude(member.eta, at.c)
    more = member.data.frame.n_stepwise * priors.STEP**2
    return np.abs(slope), np.sqrt(a**2 + more), member.data.frame.beyond(at)
