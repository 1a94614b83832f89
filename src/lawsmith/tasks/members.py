"""Members: ways from a target to an accuracy, each a posterior of curves, and their weights.

Notation and shapes as in `lawsmith.tasks.curve` and `lawsmith.tasks.data`.

    two steps     x is the log of a loss, which the surface of that loss predicts at a target
    direct        x is minus a log scale: of N and D joined, or of the only scale
    coordinates   (k, q), or (b, k, q) if each draw has its own: x itself, or logs of N and D

Each way is fitted to all runs, and to the upper ones, because small models may follow another
curve. Beyond the best x of the runs, x has an error of DRIFT times the distance, because no curve
is known to hold there.

The weight of a member is how well it predicts the largest runs from the smaller ones. Runs within a
factor TOP of the largest compute (and at least TOP_SHARE of all) are kept out. Every member, and
the surface of the loss, are fitted to the others. The runs kept out are not independent, so
together they count as at most EFFECTIVE_ROWS. If too few runs are left, all weights are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lawsmith.arrays import FloatArray, IntArray
from lawsmith.errors import LawsmithError
from lawsmith.grid import Grid
from lawsmith.runs import Runs
from lawsmith.surface import Surface, fit_surface
from lawsmith.tasks import priors
from lawsmith.tasks.curve import (
    N_PARAMS,
    Shape,
    Task,
    log_density,
    mean_and_scale,
    shape_of,
)
from lawsmith.tasks.data import RATIO_REACH, AccuracyTable, Scales, Way, best_per_cell
from lawsmith.tasks.smc import sample

N_DRAWS = 1000  # their mean errs by 3 % of an SD
MOST_RUNS = 200  # that a curve is fitted to, for speed
# Runs to judge members by, and to fit them to: one more than an answer needs.
LEAST_TOP, LEAST_BELOW = 3, 5
TOP_SHARE = 0.15  # of the runs, at least: one large run alone would not be enough to judge by
MOST_TOP = 20  # runs that are predicted: together they count as EFFECTIVE_ROWS at most
SEED = 21  # fixed, so that one table has one answer


@dataclass(frozen=True, eq=False)
class Member:
    """A posterior of curves.

    u          (b, d) draws; a direct way with N and D has two more parameters
    reference  the x that the prior of the middle is relative to
    best       (b,) the best x of the runs that it was fitted to
    """

    way: Way
    window: str
    task: Task
    scales: Scales
    u: FloatArray
    reference: float
    best: FloatArray

    @property
    def shape(self) -> Shape:
        prior = priors.LOSS if self.way == "two steps" else priors.SCALE
        return shape_of(self.u, self.task, prior, self.reference)

    def take(self, rows: IntArray) -> Member:
        """The member with these draws, some perhaps more than once."""
        return replace(self, u=self.u[rows], best=self.best[rows])

    def x_at(self, coordinates: FloatArray, rng: np.random.Generator) -> FloatArray:
        """(b, k) x at coordinates, with its error beyond the data."""
        x = x_of(self.u, coordinates)
        beyond = np.maximum(self.best[:, None] - x, 0.0)
        return np.asarray(x + priors.DRIFT * beyond * rng.standard_normal((len(self.u), 1)))

    def best_scales(self, log_C: float) -> FloatArray:
        """(b, 1, q) coordinates of the best scales at a compute, with D/N near those run."""
        scales = self.scales
        if len(scales.names) == 1:
            logs = np.full((len(self.u), 1, 1), log_C - np.log(scales.multiplier))
            return scales.coordinates(logs)
        left = log_C - np.log(scales.multiplier) - float(np.sum(scales.origin))
        offset = scales.origin[1] - scales.origin[0]
        low, high = (end - offset for end in scales.ratio)
        ratio = 2.0 * _join(self.u)[1]  # ln(D/N), from that of the origin
        apart = np.clip(ratio, low - RATIO_REACH, high + RATIO_REACH)
        return 0.5 * np.concatenate([left - apart, left + apart], axis=1)[:, None, :]

    def accuracy(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and scale (b, k) of the accuracy of a run."""
        return mean_and_scale(self.shape, x, self.task.questions)

    def log_predictive(self, y: FloatArray, x: FloatArray) -> float:
        """The sum over runs of the log predictive density of accuracies at x (b, k)."""
        each = log_density(y, *self.accuracy(x))
        top = each.max(axis=0)
        return float((top + np.log(np.exp(each - top).mean(axis=0))).sum())


def x_of(u: FloatArray, coordinates: FloatArray) -> FloatArray:
    """(b, k) x at coordinates, without its error."""
    if coordinates.shape[-1] == 1:
        return np.asarray(np.zeros((len(u), 1)) + coordinates[..., 0])
    a, r = _join(u)
    n, d = coordinates[..., 0] + r, coordinates[..., 1] - r
    return np.asarray((np.logaddexp(-a * n, -a * d) - np.log(2.0)) / a)


def _join(u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(b, 1) exponent and log ratio by which N and D join."""
    exponent = priors.EXPONENT[0] * np.exp(priors.EXPONENT[1] * u[:, N_PARAMS, None])
    return exponent, priors.RATIO * u[:, N_PARAMS + 1, None]


def fit_members(data: AccuracyTable, task: Task, ways: tuple[Way, ...], seed: int) -> list[Member]:
    """Every way, fitted to all runs and, if there are enough, to the upper ones."""
    members = []
    for way in ways:
        rows = data if way == "two steps" else data.take(best_per_cell(data))
        rows = _thin(rows, way)
        windows = {"all": rows}
        upper = np.argsort(_rank(rows, way), kind="stable")[: round(priors.UPPER * len(rows))]
        if len(upper) >= priors.LEAST_UPPER:
            windows["upper"] = rows.take(np.sort(upper))
        members += [fit_member(way, name, part, task, seed) for name, part in windows.items()]
    return members


def fit_member(way: Way, window: str, data: AccuracyTable, task: Task, seed: int) -> Member:
    """The posterior of one way's curve."""
    reference = float(np.quantile(data.log_loss, 0.1)) if way == "two steps" else 0.0
    coordinates = data.coordinates(way)
    start = Member(way, window, task, data.scales, np.empty(0), reference, np.empty(0))

    def log_likelihood(u: FloatArray) -> FloatArray:
        mean, scale = replace(start, u=u).accuracy(x_of(u, coordinates))
        return np.asarray(log_density(data.y, mean, scale).sum(axis=1))

    d = N_PARAMS + (2 if coordinates.shape[1] == 2 else 0)
    u = sample(log_likelihood, d, n=N_DRAWS, rng=np.random.default_rng(seed))
    return replace(start, u=u, best=x_of(u, coordinates).min(axis=1))


def _rank(data: AccuracyTable, way: Way) -> FloatArray:
    """What sorts runs from the best or largest down."""
    return data.log_loss if way == "two steps" else -np.log(data.C)


def _thin(data: AccuracyTable, way: Way) -> AccuracyTable:
    """Of many runs the upper ones, and as many of the others, evenly spaced."""
    if len(data) <= MOST_RUNS:
        return data
    order = np.argsort(_rank(data, way), kind="stable")
    half = MOST_RUNS // 2
    rest = order[half:][np.linspace(0, len(order) - half - 1, MOST_RUNS - half).astype(int)]
    return data.take(np.sort(np.concatenate([order[:half], rest])))


def weigh(grid: Grid, runs: Runs, data: AccuracyTable, members: Sequence[Member]) -> FloatArray:
    """(m,) weights of members, which sum to 1."""
    equal = np.full(len(members), 1.0 / len(members))
    cut = _cut(data.C)
    top = cut < data.C
    if top.sum() < LEAST_TOP or (~top).sum() < LEAST_BELOW:
        return equal
    below, rows = data.take(~top), data.take(top)
    rows = rows.take(best_per_cell(rows))
    rows = rows.take(np.argsort(-rows.C, kind="stable")[:MOST_TOP])
    ways = tuple(dict.fromkeys(member.way for member in members))
    try:
        kept = runs.take(grid.C[runs.index] <= cut)
        surface = fit_surface(grid, kept) if len(ways) > 1 else None
    except LawsmithError:
        return equal
    losses = None if surface is None else _losses(surface, grid, rows)
    refitted = fit_members(below, members[0].task, ways, SEED)
    score = {(m.way, m.window): _score(m, rows, losses) for m in refitted}
    # If the upper window is too small below the cut, it has the score of all runs.
    each = np.array([score.get((m.way, m.window), score[m.way, "all"]) for m in members])
    each *= min(1.0, priors.EFFECTIVE_ROWS / len(rows))
    likelihood = np.exp(each - each.max())
    return np.asarray(likelihood / likelihood.sum())


def _cut(C: FloatArray) -> float:
    """The compute above which runs are kept out."""
    n = max(LEAST_TOP, int(np.ceil(TOP_SHARE * len(C))))
    ordered = np.sort(C)
    below = ordered[ordered < ordered[-n]] if n < len(C) else ordered[:0]
    return float(min(C.max() / priors.TOP, below.max(initial=0.0)))


def _losses(surface: Surface, grid: Grid, rows: AccuracyTable) -> FloatArray:
    """(b, k) log losses of runs, drawn from the surface."""
    rng = np.random.default_rng(SEED)
    mixtures = [surface.mixture_of(grid, row) for row in rows.row.tolist()]
    return np.stack([mixture.sample_runs(N_DRAWS, rng) for mixture in mixtures], axis=1)


def _score(member: Member, rows: AccuracyTable, losses: FloatArray | None) -> float:
    coordinates = rows.coordinates(member.way)
    if member.way == "two steps" and losses is not None:
        coordinates = losses[:, :, None]
    return member.log_predictive(rows.y, member.x_at(coordinates, np.random.default_rng(SEED)))
