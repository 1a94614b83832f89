"""The place of the best loss: N*, D*, D/N and λ* with intervals, and the range within 0.5 % of it.

Notation and shapes
    line    q points of one cost, from few to many parameters; one point where N and D are given
    places  for each member the q points of the line, each at that member's best λ
    score   (m, q) criterion for a place: the member's mean log loss, plus one SD, so that no place
            wins because it is uncertain, plus a prior on D/N
    draw    theta and the residual along the line, jointly, from a member's posterior; the place of
            its least loss is a draw of N* and D*, the bottoms of its bowls there are draws of λ*

An optimum lies at the bottom of the parabola through the least point and its two neighbours.
Centres come from the weighted mean of the members' scores. An interval always contains its centre.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri

from lawsmith.arrays import AnyArray, FloatArray
from lawsmith.surface.axes import Axis
from lawsmith.surface.frame import Points
from lawsmith.surface.member import Member
from lawsmith.surface.mixture import DF

if TYPE_CHECKING:
    from lawsmith.surface.surface import Given, Surface

NEAR = 0.005  # of the best loss: losses this close count as equally good
N_DRAWS = 400  # ends of 95 % intervals then err by 7 % of the half-width
N_VALUES = 81  # of a hyperparameter that are tried for the range near the best
N_EXPERTS = 17  # values of experts that are tried: up to 64, about three for each doubling
# Log loss per squared e-fold of D/N beyond those of the data: a fifth of what curves of one compute
# usually bend by (`curve` in `prior` is per squared e-fold of the root of D/N). This ends a curve
# that is flat because there are no data, and is too little to hide an optimum that runs show.
RATIO_PRIOR = 0.001
# If only one line of N and D was run: SD of ln D/N of the best about it, and the distance from it
# that costs little. The SD is by judgement (95 % within a factor of 5). An e-fold costs NEAR, if
# curves bend as usual (five times RATIO_PRIOR).
LINE_SD, LINE_NEAR = 0.8, 1.0
# Draws of λ* may lie this many times as far again: an axis that runs say nothing of has no bottom.
FURTHER_DRAWN = 2.0


class Range(NamedTuple):
    """A centre, the ends of its interval, and the least and largest value within 0.5 % of the best.

    Decisions may use ``near_low`` and ``near_high``: values between them cost little.
    """

    centre: float
    low: float
    high: float
    near_low: float
    near_high: float


# Ranges of scales, ranges of λ, levels of categories, names at an edge: as an `Estimate` has them.
Where = tuple[dict[str, Range], dict[str, Range], dict[str, str], tuple[str, ...]]


def locate(
    surface: Surface, line: Mapping[str, AnyArray], places: list[Points], hp: Given, level: float
) -> Where:
    """The place of the least loss on ``line``; values in ``hp`` stay as given."""
    curve = surface.weight @ score(surface, line, places)
    pick, bottoms = _drawn(surface, places, _ratio_prior(surface, line), seed=0)
    scales = {
        name: _best_range(partial(_between, values), curve, _between(values, pick), level)
        for name, values in _with_ratio(line).items()
    }
    best = int(np.argmin(curve))
    at = [place.take(np.array([best])) for place in places]
    edge = ["N"] if len(curve) > 1 and best in (0, len(curve) - 1) else []
    best_hp: dict[str, Range] = {}
    for drawn, axis in zip(bottoms.T, surface.frame.numeric, strict=True):
        if axis.name in hp:
            best_hp[axis.name] = Range(*[float(hp[axis.name])] * 5)
            continue
        best_hp[axis.name], ended = _of_hyperparameter(surface, at, axis, drawn, level)
        edge += [axis.name] if ended else []
    for axis in surface.frame.experts:
        if axis.name not in hp:
            values, rows = expert_values(axis), np.zeros(N_EXPERTS, dtype=np.int64)
            moved = [surface.frame.moved(place.take(rows), axis, values) for place in at]
            best_hp[axis.name], ended = best_experts(surface, axis, moved, level)
            edge += [axis.name] if ended else []
    return scales, best_hp, _levels(surface, at), tuple(edge)


def about_line(scales: Mapping[str, Range], level: float) -> dict[str, Range]:
    """Scales if only one line of N and D was run: the distance of the best from it is a prior's."""
    half = LINE_SD * float(ndtri(0.5 + level / 2))
    ranges = {}
    for name, r in scales.items():
        # At one compute, ln N and ln D change by half as much as ln D/N.
        share = 1.0 if name == "D/N" else 0.5
        ends = r.centre * np.exp(share * np.array([-half, half, -LINE_NEAR, LINE_NEAR]))
        ranges[name] = Range(r.centre, *ends.tolist())
    return ranges


def best_experts(
    surface: Surface, axis: Axis, places: list[Points], level: float
) -> tuple[Range, bool]:
    """The best experts, and whether they are at the end of what was tried.

    places   for each member its best point at each of `expert_values`
    """
    values = expert_values(axis)
    pick = _drawn(surface, places, np.zeros(N_EXPERTS), seed=1)[0]
    at = partial(_at_index, values)
    u = _best_range(at, surface.weight @ _mean_plus_sd_of_each(surface, places), at(pick), level)
    best = Range(*map(axis.value, u))
    dense = best.centre <= 1.0 + 1e-9  # no model has fewer experts than one
    return best, not (axis.is_inside(u.centre) or dense)


def expert_values(axis: Axis) -> FloatArray:
    """(N_EXPERTS,) coordinates of the experts that are tried."""
    return np.linspace(axis.low, axis.high, N_EXPERTS)


def score(surface: Surface, line: Mapping[str, AnyArray], places: list[Points]) -> FloatArray:
    """(m, q) the criterion for a place on a line; see the module's notation."""
    return _mean_plus_sd_of_each(surface, places) + _ratio_prior(surface, line)


def _mean_plus_sd_of_each(surface: Surface, places: list[Points]) -> FloatArray:
    """(m, q) `mean_plus_sd` of each member, at its own places."""
    both = zip(surface.members, places, strict=True)
    return np.stack([mean_plus_sd(member, at) for member, at in both])


def mean_plus_sd(member: Member, at: Points) -> FloatArray:
    """(q,) mean log loss plus one SD, so that no point wins because it is uncertain."""
    mean, sd = member.mean_and_sd(at)
    return mean + sd


def _ratio_prior(surface: Surface, line: Mapping[str, AnyArray]) -> FloatArray:
    """(q,) log loss that a prior adds beyond the D/N of the data."""
    ratio = _with_ratio(line).get("D/N")
    if ratio is None:
        return np.zeros(len(next(iter(line.values()))))
    low, high = surface.frame.ratio
    beyond = np.log(ratio) - np.clip(np.log(ratio), low, high)
    return np.asarray(RATIO_PRIOR * beyond**2)


def _drawn(
    surface: Surface, places: list[Points], prior: FloatArray, *, seed: int
) -> tuple[FloatArray, FloatArray]:
    """`draw_optima` of all members, as many from each as its weight."""
    rng = np.random.default_rng(seed)
    counts = np.maximum(np.round(N_DRAWS * surface.weight), 1).astype(int).tolist()
    each = zip(surface.members, places, counts, strict=True)
    drawn = [draw_optima(member, at, prior, count, rng) for member, at, count in each]
    pick, bottoms = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
    return pick, bottoms


def draw_optima(
    member: Member, at: Points, prior: FloatArray, n: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """(n,) where on the line, as an index, each draw is best, and (n, h) its bottoms of bowls."""
    mean, cov = member.theta_and_residual(at)
    tail = np.sqrt(DF / rng.chisquare(DF, size=(n, 1)))
    drawn = mean + tail * (rng.standard_normal((n, len(mean))) @ root(cov).T)
    p = member.trend.p
    theta = member.trend.mean + member.trend.sd * np.clip(drawn[:, :p], -6.0, 6.0)
    laws = np.stack([member.trend.law(one, at.S) for one in theta])
    loss = laws + drawn[:, p:] + prior
    pick = vertex(loss)
    # The residual moves the bottom of a bowl away from the trend's.
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
    """Values of a line (q,) at indices between its points; a line is straight in logs."""
    if len(values) == 1:
        return np.full(len(index), values[0])  # as given, to the last digit
    return np.asarray(np.exp(_at_index(np.log(values), index)))


def _at_index(values: FloatArray, index: FloatArray) -> FloatArray:
    return np.interp(index, np.arange(len(values)), values)


def _with_ratio(line: Mapping[str, AnyArray]) -> dict[str, FloatArray]:
    """The scales of a line, and D/N where there are both."""
    scales = {name: np.asarray(values, dtype=np.float64) for name, values in line.items()}
    if {"N", "D"} <= set(scales):
        scales["D/N"] = scales["D"] / scales["N"]
    return scales


def _best_range(
    at: Callable[[FloatArray], FloatArray], curve: FloatArray, drawn: FloatArray, level: float
) -> Range:
    """The place where a curve of losses (q,) is least.

    at      values at indices between the points of the curve
    drawn   (n,) values at which draws of the curve are least
    """
    centre = float(at(vertex(curve[None]))[0])
    near = at(np.flatnonzero(curve <= curve.min() + np.log1p(NEAR)).astype(np.float64))
    low, high = np.quantile(drawn, [0.5 - level / 2, 0.5 + level / 2])
    return Range(
        centre,
        float(min(low, centre)),
        float(max(high, centre)),
        float(min(near.min(), centre)),
        float(max(near.max(), centre)),
    )


def _of_hyperparameter(
    surface: Surface, at: list[Points], axis: Axis, drawn: FloatArray, level: float
) -> tuple[Range, bool]:
    """λ* at the best point of the line, and whether it is at the end of the tried range.

    drawn   (n,) coordinates of bottoms of its bowl
    """
    frame = surface.frame
    j, rows = frame.numeric.index(axis), np.zeros(N_VALUES, dtype=np.int64)
    ends = [axis.low, axis.high, *(float(place.U[0, j]) for place in at)]
    low, high = min(ends) - axis.beyond, max(ends) + axis.beyond
    grid = axis.possible(np.linspace(low, high, N_VALUES))
    places = [frame.moved(place.take(rows), axis, grid) for place in at]
    curve = surface.weight @ _mean_plus_sd_of_each(surface, places)
    more = FURTHER_DRAWN * axis.beyond
    drawn = axis.possible(np.clip(drawn, low - more, high + more))
    u = _best_range(partial(_at_index, grid), curve, drawn, level)
    return Range(*map(axis.value, u)), not axis.is_inside(u.centre)


def _levels(surface: Surface, at: list[Points]) -> dict[str, str]:
    """The level of each category that has the most weight among members."""
    share = surface.weight @ np.concatenate([place.G for place in at])
    most = Points(at[0].S, at[0].U, share[None], at[0].c)
    levels = surface.frame.hp_of(most)
    return {axis.name: str(levels[axis.name][0]) for axis in surface.frame.categorical}


def root(cov: FloatArray) -> FloatArray:
    """(q, q) R with R Rᵀ = cov, for a covariance that may be singular."""
    values, vectors = np.linalg.eigh(0.5 * (cov + cov.T))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
