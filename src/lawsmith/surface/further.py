"""The best experts: the value of a further scale axis that has the least loss, with an interval.

Where a run costs more with more experts, a compute buys either those or parameters: the best value
is looked for along runs of one cost, each at its best N, D and λ. Where it costs no more, it is
looked for at the best N, D and λ. Repeated tokens are never better than fresh ones, so there is
nothing to look for: unique tokens that are not given are as many as a run needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lawsmith.arrays import AnyArray, FloatArray
from lawsmith.surface.axes import Axis
from lawsmith.surface.data import Frame, Points, stack
from lawsmith.surface.locate import (
    N_DRAWS,
    NEAR,
    Range,
    Where,
    draw_optima,
    guarded,
    range_about,
    score,
    vertex,
)

if TYPE_CHECKING:
    from lawsmith.surface.surface import Surface

N_FURTHER = 17  # values of a further axis that are looked at
FEW_RATIOS = 31  # of D/N, where the loss is wanted and not where it is
Given = Mapping[str, float | str]


@dataclass(frozen=True)
class Chosen:
    """Best values of further axes by name, and which lie at the end of what was tried."""

    ranges: Mapping[str, Range]
    at_edge: tuple[str, ...] = ()

    @property
    def centres(self) -> dict[str, float]:
        return {name: found.centre for name, found in self.ranges.items()}

    def added_to(self, where: Where) -> Where:
        if not self.ranges:
            return where
        edge = (*where.at_edge, *self.at_edge)
        return replace(where, hp={**where.hp, **self.ranges}, at_edge=edge)


def best_priced(surface: Surface, C: float, hp: Given, level: float = 0.95) -> Chosen:
    """The best value at one compute of each further axis that runs are paid for and is not given.

    At most one: a table has one column of experts.
    """
    free = [axis for axis in surface.frame.further if axis.price and axis.name not in hp]
    found, edge = {}, []
    for axis in free:
        families: list[list[Points]] = [[] for _ in surface.members]
        for v in _values(axis):
            given = {**hp, axis.name: axis.value(float(v))}
            line = surface.line(C, FEW_RATIOS, given)
            places = [surface.best_hp(member, line, given) for member in surface.members]
            best = np.array([int(np.argmin(surface.weight @ score(surface, line, places)))])
            for family, at in zip(families, places, strict=True):
                family.append(at.take(best))
        found[axis.name], ended = _along(surface, axis, [stack(f) for f in families], level)
        edge += [axis.name] if ended else []
    return Chosen(found, tuple(edge))


def with_further(
    surface: Surface,
    where: Where,
    line: Mapping[str, AnyArray],
    hp: Given,
    places: list[Points],
    level: float = 0.95,
) -> Where:
    """Where the least loss is, with the best experts too: at the best point of the line."""
    for axis in surface.frame.further:
        if axis.kind != "experts" or axis.name in hp:
            continue
        values = _values(axis)
        rows = np.full(N_FURTHER, int(np.argmin(surface.weight @ score(surface, line, places))))
        families = [moved_along(surface.frame, at.take(rows), axis, values) for at in places]
        found, ended = _along(surface, axis, families, level)
        where = Chosen({axis.name: found}, (axis.name,) if ended else ()).added_to(where)
    return where


def moved_along(frame: Frame, at: Points, axis: Axis, value: float | FloatArray) -> Points:
    """The points with a further scale axis at ``value``, one for all or (q,)."""
    j = frame.s + [a.name for a in frame.further].index(axis.name)
    S = at.S.copy()
    S[:, j] = value
    c = at.c + axis.price * (S[:, j] - at.S[:, j]) if axis.price else at.c
    return Points(S, at.U, at.G, c)


def _values(axis: Axis) -> FloatArray:
    return np.linspace(axis.low, axis.high, N_FURTHER)


def _along(
    surface: Surface, axis: Axis, families: list[Points], level: float
) -> tuple[Range, bool]:
    """The best value of a further axis, and whether it is at the end of what was tried.

    families   for each member the best points at each of the axis' values
    """
    rng, values = np.random.default_rng(1), _values(axis)
    found = [guarded(member, at) for member, at in zip(surface.members, families, strict=True)]
    curve = surface.weight @ np.stack(found)
    counts = np.maximum(np.round(N_DRAWS * surface.weight), 1).astype(int)
    picks = [
        draw_optima(member, at, np.zeros(N_FURTHER), int(count), rng)[0]
        for member, at, count in zip(surface.members, families, counts, strict=True)
    ]
    index = np.arange(N_FURTHER)
    drawn = np.interp(np.concatenate(picks), index, values)
    near = values[curve <= curve.min() + np.log1p(NEAR)]
    centre = float(np.interp(vertex(curve[None])[0], index, values))
    best = Range(*(axis.value(v) for v in range_about(centre, drawn, near, level)))
    dense = best.centre <= 1.0 + 1e-9  # no model has fewer experts than one
    return best, not (axis.is_inside(centre) or dense)
