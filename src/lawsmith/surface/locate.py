"""Where the best loss is: N*, D*, D/N and λ* with intervals, and what is within 0.5 % of it.

Notation and shapes
    line    q points of one cost, from few to many parameters; one point where N and D are given
    places  for each member the q points of the line, each at that member's best λ
    score   (m, q) what a place is chosen by: the member's mean log loss there, plus one SD, so that
            a place does not win because little is known of it, plus a prior on D/N
    draw    theta and the residual along the line, jointly, from a member's posterior; the place of
            its least loss is a draw of N* and D*, the bottoms of its bowls there are draws of λ*

Optima lie between the points that are looked at: a parabola through the least one and its two
neighbours has its bottom there. Centres are those of the members' scores, averaged by weight. An
interval always holds its centre.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri

from lawsmith.arrays import AnyArray, FloatArray
from lawsmith.surface import priors
from lawsmith.surface.data import Points
from lawsmith.surface.member import Member

if TYPE_CHECKING:
    from lawsmith.surface.surface import Surface

NEAR = 0.005  # of the best loss: what counts as as good
N_DRAWS = 400
N_VALUES = 81  # of a hyperparameter that are looked at for what is near the best
BEYOND = 0.7  # how far beyond tried values and fitted optima one looks, in the coordinate of λ
# Log loss per squared e-fold of D/N beyond those of the data: a fifth of what curves of one compute
# usually bend by (`curve` in `prior` is per squared e-fold of the root of D/N). Enough to end a
# curve that is flat for want of data, and too little to hide an optimum that the runs point to.
RATIO_PRIOR = 0.001
LINE_SD, LINE_NEAR = 0.8, 1.0  # e-folds of D/N about the only line that was run; as good as it


class Range(NamedTuple):
    """A centre, the ends of its interval, and the least and largest value within 0.5 % of the best.

    ``near_low`` and ``near_high`` are what one decides by: values between them cost little.
    """

    centre: float
    low: float
    high: float
    near_low: float
    near_high: float


@dataclass(frozen=True)
class Where:
    """Of a best loss: scales by name (N, D, D/N, or the table's), numeric λ, categorical λ.

    at_edge   names whose best value is at the end of what was looked at: the optimum is further out
    """

    scales: Mapping[str, Range]
    hp: Mapping[str, Range]
    levels: Mapping[str, str]
    at_edge: tuple[str, ...]


def locate(
    surface: Surface, line: Mapping[str, AnyArray], places: list[Points], level: float
) -> Where:
    """Where the least loss on ``line`` is."""
    rng = np.random.default_rng(0)
    counts = np.maximum(np.round(N_DRAWS * surface.weight), 1).astype(int)
    curve = surface.weight @ score(surface, line, places)
    best = int(np.argmin(curve))
    prior = ratio_prior(surface, line)
    drawn = [
        draw_optima(member, at, prior, int(count), rng)
        for member, at, count in zip(surface.members, places, counts, strict=True)
    ]
    pick, bottoms = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
    near = np.flatnonzero(curve <= curve[best] + np.log1p(NEAR))
    scales = {}
    for name, values in with_ratio(line).items():
        centre, optima = _between(values, vertex(curve[None])), _between(values, pick)
        scales[name] = range_about(float(centre[0]), optima, values[near], level)
    edge = ["N"] if len(curve) > 1 and best in (0, len(curve) - 1) else []
    hp, more = _hyperparameters(surface, places, best, bottoms, level)
    return Where(scales, hp, _levels(surface, places, best), tuple(edge + more))


def about_line(where: Where, level: float) -> Where:
    """The same where only one line of N and D was run: a prior says how far off it the best is."""
    half = LINE_SD * float(ndtri(0.5 + level / 2))
    scales = {}
    for name, r in where.scales.items():
        # At one compute, ln N and ln D change by half as much as ln D/N.
        share = 1.0 if name == "D/N" else 0.5
        ends = r.centre * np.exp(share * np.array([-half, half, -LINE_NEAR, LINE_NEAR]))
        scales[name] = Range(r.centre, *ends.tolist())
    return replace(where, scales=scales)


def score(surface: Surface, line: Mapping[str, AnyArray], places: list[Points]) -> FloatArray:
    """(m, q) what members choose a place on a line by; see the module's notation."""
    found = [guarded(member, at) for member, at in zip(surface.members, places, strict=True)]
    return np.stack(found) + ratio_prior(surface, line)


def guarded(member: Member, at: Points) -> FloatArray:
    """(q,) mean log loss plus one SD: what little is known of does not win for that."""
    mean, sd = member.mean_and_sd(at)
    return np.asarray(mean + np.sqrt(priors.model_share(len(member.data))) * sd)


def ratio_prior(surface: Surface, line: Mapping[str, AnyArray]) -> FloatArray:
    """(q,) log loss that a prior adds where D/N is beyond those of the data."""
    ratio = with_ratio(line).get("D/N")
    if ratio is None:
        return np.zeros(len(next(iter(line.values()))))
    low, high = surface.frame.ratio
    beyond = np.log(ratio) - np.clip(np.log(ratio), low, high)
    return np.asarray(RATIO_PRIOR * beyond**2)


def draw_optima(
    member: Member, at: Points, prior: FloatArray, n: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """(n,) where on the line, as an index, each draw is best, and (n, h) its bottoms of bowls."""
    mean, cov = member.theta_and_residual(at)
    tail = np.sqrt(priors.DF / rng.chisquare(priors.DF, size=(n, 1)))
    # `priors.model_share` was learnt from losses; of where the best is, hold-outs tell nothing.
    drawn = mean + tail * (rng.standard_normal((n, len(mean))) @ root(cov).T)
    p = member.trend.p
    theta = member.trend.mean + member.trend.sd * np.clip(drawn[:, :p], -6.0, 6.0)
    laws = np.stack([member.trend.law(one, at.S) for one in theta])
    loss = laws + drawn[:, p:] + prior
    pick = vertex(loss)
    # What the residual adds to a bowl moves its bottom away from the trend's.
    moved = at.U - member.trend.centres(member.theta, at.S)
    bottoms = np.empty((n, member.trend.h))
    for i, j in enumerate(np.argmin(loss, axis=1)):
        bottoms[i] = member.trend.centres(theta[i], at.S[[j]])[0] + moved[j]
    return pick, bottoms


def vertex(curves: FloatArray) -> FloatArray:
    """(n,) where each of the curves (n, q) is least, as an index between the points."""
    i = np.argmin(curves, axis=1)
    q, rows = curves.shape[1], np.arange(len(curves))
    inner = (i > 0) & (i < q - 1)
    left, right = np.maximum(i - 1, 0), np.minimum(i + 1, q - 1)
    fall, rise = (curves[rows, side] - curves[rows, i] for side in (left, right))
    step = 0.5 * (fall - rise) / np.maximum(fall + rise, 1e-300)
    return np.asarray(i + np.where(inner, step, 0.0))


def _between(values: FloatArray, index: FloatArray) -> FloatArray:
    """Values (q,) of a line at indices between its points; a line is straight in logs."""
    if len(values) == 1:
        return np.full(len(index), values[0])
    return np.asarray(np.exp(np.interp(index, np.arange(len(values)), np.log(values))))


def with_ratio(line: Mapping[str, AnyArray]) -> dict[str, FloatArray]:
    """The scales of a line, and D/N where there are both."""
    scales = {name: np.asarray(values, dtype=np.float64) for name, values in line.items()}
    if {"N", "D"} <= set(scales):
        scales["D/N"] = scales["D"] / scales["N"]
    return scales


def range_about(centre: float, drawn: FloatArray, near: FloatArray, level: float) -> Range:
    low, high = np.quantile(drawn, [0.5 - level / 2, 0.5 + level / 2])
    return Range(
        float(centre),
        float(min(low, centre)),
        float(max(high, centre)),
        float(min(near.min(), centre)),
        float(max(near.max(), centre)),
    )


def _hyperparameters(
    surface: Surface, places: list[Points], best: int, drawn: FloatArray, level: float
) -> tuple[dict[str, Range], list[str]]:
    """λ* at the best point of the line, and which of them lie at the end of what was tried."""
    found, edge = {}, []
    at = [place.take(np.array([best])) for place in places]
    for j, axis in enumerate(surface.frame.numeric):
        bottoms = np.array([place.U[0, j] for place in at])
        low = min(axis.low, float(bottoms.min())) - BEYOND
        high = max(axis.high, float(bottoms.max())) + BEYOND
        grid = np.linspace(low, high, N_VALUES)
        curve = np.zeros(N_VALUES)
        for weight, member, place in zip(surface.weight, surface.members, at, strict=True):
            curve += weight * guarded(member, _along(place, j, grid))
        near = grid[curve <= curve.min() + np.log1p(NEAR)]
        centre = float(np.interp(vertex(curve[None])[0], np.arange(N_VALUES), grid))
        u = range_about(centre, drawn[:, j], near, level)
        found[axis.name] = Range(*(axis.value(v) for v in u))
        if not axis.is_inside(centre):
            edge.append(axis.name)
    return found, edge


def _along(place: Points, j: int, values: FloatArray) -> Points:
    """One point repeated with its jth numeric hyperparameter at each of ``values``."""
    rows = np.zeros(len(values), dtype=np.int64)
    many = place.take(rows)
    U = many.U.copy()
    U[:, j] = values
    return Points(many.S, U, many.G, many.c)


def _levels(surface: Surface, places: list[Points], best: int) -> dict[str, str]:
    """The level of each category that has the most weight among members."""
    share = sum(w * place.G[best] for w, place in zip(surface.weight, places, strict=True))
    found, start = {}, 0
    for axis in surface.frame.categorical:
        stop = start + len(axis.levels)
        found[axis.name] = axis.levels[int(np.argmax(np.asarray(share)[start:stop]))]
        start = stop
    return found


def root(cov: FloatArray) -> FloatArray:
    """(q, q) R with R Rᵀ = cov, for a covariance that may be singular."""
    values, vectors = np.linalg.eigh(0.5 * (cov + cov.T))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
