"""The surface as a surrogate: fitted to the runs of a study, it predicts the rows of its grid.

Notation and shapes
    m candidates, k rows that a member rests on, M members with weights; C the target compute
    V (k, m) as in :mod:`lawsmith.surrogates.gp.factor`, one for each member
    aim(C)   how the candidates relate to the best loss at C (:mod:`lawsmith.surrogates.aim`)

The surface is refitted at the counts of runs that `Refits` names. In between its parameters stay
the same, and one more run is one more row of each member's factor, compressed by the runs before
it. So a posterior is a function of the runs alone: the memory only saves time, and a new process
needs one fit.

Before the first fit the members are those of the prior, conditioned on the runs so far. So the
surface predicts even before the first run.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from lawsmith.arrays import FloatArray, IntArray
from lawsmith.grid import Grid
from lawsmith.runs import Runs, State
from lawsmith.surface.data import Observed
from lawsmith.surface.fit import columns_of, fit_surface, frame_on, observed_on, prior_surface
from lawsmith.surface.frame import Frame, Points
from lawsmith.surface.locate import root
from lawsmith.surface.member import Member
from lawsmith.surface.prior import PUBLIC, Prior
from lawsmith.surface.surface import Surface
from lawsmith.surface.tail import compress_last, variance_of
from lawsmith.surrogates.aim import (
    TAILS,
    MemberOnGrid,
    Places,
    aim_at,
    factor_of,
    likely_places,
    mistuned,
)
from lawsmith.surrogates.base import Hints, Posterior, Refits, Sampler, check_logs
from lawsmith.threads import one_thread

NOTHING = 1e6  # variance of a row that stands in where there is no run
# Fewer than 6 runs hardly change the prior of a law. Fits take most of the time of a search
# (docs/search.md), hence a growth of a fifth between two. A fit uses a few hundred rows, an update
# all later runs, so the surface is refitted after 50 of these.
REFITS = Refits(first=6, every_until=10, growth=0.2, most=50)


@dataclass(eq=False)
class FittedSurface:
    """A fitted surface on the candidates of a grid, updated with the runs since the fit.

    fitted   the runs that the surface was fitted to; none for the prior
    parts    the members, each on all candidates
    runs     all runs that the parts are conditioned on
    places   by target compute: the points that may be the best
    """

    grid: Grid
    fitted: Runs
    surface: Surface
    parts: list[MemberOnGrid]
    runs: Runs
    places: dict[float, Places] = field(default_factory=dict)

    def places_at(self, C: float) -> Places:
        if C not in self.places:
            self.places[C] = likely_places(self.surface, C)
        return self.places[C]


@dataclass(frozen=True)
class SurfaceModel:
    """The surrogate that uses the same surface as answers.

    prior   what is expected of a study before its runs are seen
    """

    prior: Prior = PUBLIC
    refits: Refits = REFITS
    _memory: list[FittedSurface] = field(default_factory=list, repr=False, compare=False)

    @property
    def name(self) -> str:
        return "surface"

    def fit(self, grid: Grid, runs: Runs) -> Posterior:
        """The posterior of log loss given the finished runs, and pending ones at their mean."""
        known = runs.take(runs.finished)
        check_logs(known.of(State.DONE).loss)
        with one_thread():
            fitted = self._follow(grid, known)
            self._memory[:] = [fitted]
            pending = np.setdiff1d(runs.of(State.PENDING).index, known.index)
            return _posterior(fitted, known, np.unique(pending))

    def _follow(self, grid: Grid, finished: Runs) -> FittedSurface:
        # The count of runs at the last fit; 0 for the prior.
        n = max(self.refits.points(len(finished)), default=0)
        if not finished.first(n).any_done:
            return _from_prior(grid, finished, self.prior)
        # A remembered state is usable if it was fitted to the first n runs and has seen only these.
        known = (m for m in self._memory if m.grid is grid and len(m.fitted) == n)
        state = next((m for m in known if finished.begins_with(m.runs)), None)
        if state is None:
            state = _begin(grid, finished.first(n), self.prior)
        _extend(state, finished)
        return state


def _begin(grid: Grid, first: Runs, prior: Prior) -> FittedSurface:
    """The fit to the first runs, on all candidates."""
    surface = fit_surface(grid, first, prior)
    at = _candidates(grid, surface.frame)
    parts = [_on_grid(m, at, m.data, first.index, m.noise) for m in surface.members]
    return FittedSurface(grid, first, surface, parts, first)


def _from_prior(grid: Grid, finished: Runs, prior: Prior) -> FittedSurface:
    """The prior at the level of the runs so far, conditioned on all of them at once."""
    done = finished.of(State.DONE)
    level = float(np.median(done.loss)) if len(done) else 1.0
    empty = _no_data(grid, level)
    surface = prior_surface(empty, level, prior)
    data, index = empty, np.zeros(1, dtype=np.int64)
    if len(done):
        data, index = observed_on(grid, finished, surface.frame), finished.index
    at, parts = _candidates(grid, surface.frame), []
    for member in surface.members:
        noise = member.run_noise(data.points) ** 2 / data.n_runs + data.extra
        parts.append(_on_grid(member, at, data, index, noise))
    return FittedSurface(grid, Runs.empty(), surface, parts, finished)


def _no_data(grid: Grid, level: float) -> Observed:
    """One row with a variance so large that it has no weight."""
    frame = frame_on(grid, Runs.empty())
    one, zero = np.ones(1), np.zeros(1)
    at = _candidates(grid, frame).take(np.zeros(1, dtype=np.int64))
    return Observed(frame, at, zero + np.log(level), one, zero, one * NOTHING, np.zeros(1, int))


def _candidates(grid: Grid, frame: Frame) -> Points:
    """All rows of a grid as points of a frame."""
    scales, hp, _ = columns_of(grid)
    return frame.points(scales, hp)


def _on_grid(
    member: Member, at: Points, data: Observed, index: IntArray, noise: FloatArray
) -> MemberOnGrid:
    """A member on all rows of a grid, conditioned on data.

    index   the rows of the grid of the runs that ``data`` is made of
    noise   (k,) variance of each row of ``data``
    """
    prior = member.linearised(at)
    factor = factor_of(member, prior, index[data.first], data.y, noise)
    of_run = member.run_noise(at) ** 2
    return MemberOnGrid(member, prior, of_run, variance_of(prior.height), factor)


def _extend(state: FittedSurface, finished: Runs) -> None:
    """Condition on the runs that are new; each is a row of its own."""
    for i in range(len(state.runs), len(finished)):
        row = int(finished.index[i])
        y, extra = _target(state.parts[0].prior.at, finished.first(i + 1))
        for part in state.parts:
            part.add_run(row, y, part.noise[row] + extra)
    state.runs = finished


def _target(at: Points, runs: Runs) -> tuple[float, float]:
    """Log loss of the last run, compressed by those before it, and the variance this adds."""
    diverged = runs.state == State.DIVERGED.value
    y = np.log(np.where(diverged, np.nanmax(runs.loss), runs.loss))
    last, extra = compress_last(at.S[runs.index], y, diverged)
    return float(last[0]), float(extra[0])


def _posterior(
    state: FittedSurface, finished: Runs, pending: IntArray, hints: Hints | None = None
) -> Posterior:
    weight = state.surface.weight
    grows = len(pending) or hints is not None
    parts = [
        replace(part, factor=part.factor.copy() if grows else part.factor.frozen())
        for part in state.parts
    ]
    if hints is not None:
        for row, y, error, n in zip(*(column.tolist() for column in hints), strict=True):
            for part in parts:
                # An error that n rows share is split among them.
                part.add_run(row, y, n * (part.noise[row] + error))
    means = np.stack([part.mean for part in parts])
    for row in pending.tolist():
        for part, y in zip(parts, means[:, row], strict=True):
            part.add_run(row, y, part.noise[row] + part.poor[row])
    mean = weight @ means
    apart = means - mean
    inner = weight @ np.stack([part.factor.variance() for part in parts])
    variance = TAILS * inner + weight @ apart**2
    done = finished.of(State.DONE).loss
    return Posterior(
        mean=mean,
        sd=np.sqrt(variance),
        scale="log",
        best=float(np.log(done.min())) if len(done) else np.inf,
        noise=np.sqrt(weight @ np.stack([part.noise for part in parts])),
        poor=weight @ np.stack([part.poor for part in parts]),
        mistuned=TAILS * (weight @ np.stack([mistuned(part) for part in parts])),
        sampler=_sampler(state, parts, means),
        aim=lambda C: aim_at(state.places_at(C), weight, parts, apart),
        with_hints=lambda hints: _posterior(state, finished, pending, hints),
    )


def _sampler(state: FittedSurface, parts: list[MemberOnGrid], means: FloatArray) -> Sampler:
    """Joint draws at some rows, each from one member."""

    def sampler(n: int, rng: np.random.Generator, rows: IntArray) -> FloatArray:
        counts = rng.multinomial(n, state.surface.weight)
        drawn = []
        for part, mean, count in zip(parts, means, counts, strict=True):
            V, prior = part.factor.V[: part.factor.k, rows], part.prior.take(rows)
            cov = TAILS * (part.member.prior_cov(prior, prior) - V.T @ V)
            normal = rng.standard_normal((count, len(rows)))
            drawn.append(mean[rows] + normal @ root(cov).T)
        return np.asarray(rng.permutation(np.concatenate(drawn)))

    return sampler
