"""Frames: how columns of runs become coordinates, and back.

Notation and shapes
    q   points
    S   (q, s + f) logs of the scale axes minus those of a reference: (N, D), or one of N, D, C;
        then one column for each of f further scales: ln experts, centred, or −ln epochs (0 for
        fresh data)
    U   (q, h) numeric hyperparameters, in the units of `lawsmith.surface.axes.Axis`
    G   (q, g) one 0/1 column for each level of each categorical hyperparameter
    c   (q,)   ln C minus ln C of the largest run (ln N or ln D where there is no C); 0 at the top

Where D is a function of N in the whole table (one D for each N), N and D cannot be told apart. The
surface is then a function of C, and N* at a C is read off that line. In the same way a
hyperparameter that follows N and D throughout (a recipe) is left out: its effect is part of theirs.
If it follows them in steps, the next step may come beyond the data; `mixture.STEP` allows for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lawsmith.arrays import AnyArray, BoolArray, FloatArray, IntArray
from lawsmith.errors import LawsmithError
from lawsmith.surface.axes import (
    FURTHER,
    NUMERIC,
    Axis,
    axis_of,
    further_axis,
    further_column,
    is_linear,
    is_recipe,
    range_of,
    residual_sd,
    with_price,
)

# D counts as a function of N if the SD of ln D about a line in ln N is below this: within 15 % of
# the line, the runs show too little of the effect of D alone.
COLLINEAR = 0.15


@dataclass(frozen=True, eq=False)
class Points:
    """Coordinates of points; see the module's notation."""

    S: FloatArray
    U: FloatArray
    G: FloatArray
    c: FloatArray

    def __len__(self) -> int:
        return len(self.c)

    def take(self, rows: IntArray | BoolArray) -> Points:
        return Points(self.S[rows], self.U[rows], self.G[rows], self.c[rows])

    @cached_property
    def X(self) -> FloatArray:
        """(q, s + h + g) all coordinates side by side, as the residual uses them."""
        return np.concatenate([self.S, self.U, self.G], axis=1)


def stack(parts: Sequence[Points]) -> Points:
    """The rows of all parts, in order."""
    columns = zip(*((p.S, p.U, p.G, p.c) for p in parts), strict=True)
    return Points(*map(np.concatenate, columns))


@dataclass(frozen=True, eq=False)
class Frame:
    """How values become coordinates, and back.

    names       scale columns of every point: ('N', 'D'), ('C',), ('N',) or ('D',)
    collinear   N and D are given, but only C is used; ``line`` is (a, b) of ln N = a + b·ln C
    reference   (s,) logs of the scale axes at the reference
    reach       (s,) the largest columns of S among the runs
    multiplier  C = multiplier·N·D, or ·N, or ·D; 1 where the scale is C itself
    log_top     ln C of the largest run
    ratio       least and largest ln(D/N) in the data, where there are both
    n_stepwise  hyperparameters left out that change with N or D in steps
    """

    names: tuple[str, ...]
    axes: tuple[Axis, ...]
    collinear: bool
    line: tuple[float, float]
    reference: FloatArray
    reach: FloatArray
    multiplier: float
    log_top: float
    ratio: tuple[float, float]
    n_stepwise: int

    @property
    def numeric(self) -> tuple[Axis, ...]:
        return tuple(a for a in self.axes if a.kind in NUMERIC)

    @property
    def further(self) -> tuple[Axis, ...]:
        return tuple(a for a in self.axes if a.kind in FURTHER)

    @property
    def experts(self) -> tuple[Axis, ...]:
        """One axis at most: a table has one column of experts."""
        return tuple(a for a in self.axes if a.kind == "experts")

    @property
    def categorical(self) -> tuple[Axis, ...]:
        return tuple(a for a in self.axes if a.kind == "categorical")

    @property
    def n_levels(self) -> int:
        """How many levels all categories have together: the columns of G."""
        return sum(len(axis.levels) for axis in self.categorical)

    @property
    def s(self) -> int:
        return len(self.reference)

    @property
    def of_compute(self) -> bool:
        """Whether the one scale axis is C."""
        return self.collinear or self.names == ("C",)

    def log_cost(self, logs: Mapping[str, FloatArray], hp: Mapping[str, AnyArray]) -> FloatArray:
        """(q,) ln C of points with these logs of scale columns and these hyperparameters."""
        cost = np.log(self.multiplier) + sum(logs.values())
        for axis in self.further:
            if axis.price:
                cost = cost + axis.price * np.log(np.asarray(hp[axis.name], dtype=np.float64))
        return np.asarray(cost)

    def points(self, scales: Mapping[str, AnyArray], hp: Mapping[str, AnyArray]) -> Points:
        """Coordinates of q points; every scale column and every hyperparameter must be given."""
        logs = {name: np.log(np.asarray(scales[name], dtype=np.float64)) for name in self.names}
        cost = self.log_cost(logs, hp)
        q = len(cost)
        columns = [cost] if self.collinear else [logs[name] for name in self.names]
        further = [further_column(axis, hp[axis.name], logs) for axis in self.further]
        S = np.column_stack([np.stack(columns, axis=1) - self.reference, *further])
        U = [axis.coordinate(hp[axis.name]) for axis in self.numeric]
        G = [
            (np.asarray(hp[axis.name]).astype(str) == level).astype(np.float64)
            for axis in self.categorical
            for level in axis.levels
        ]
        empty = np.empty((q, 0))
        return Points(
            S,
            np.stack(U, axis=1) if U else empty,
            np.stack(G, axis=1) if G else empty,
            cost - self.log_top,
        )

    def beyond(self, at: Points, made: Points | None = None) -> FloatArray:
        """(q,) how far points lie beyond the runs, in e-folds of C; 0 inside them.

        Along the best runs N and D each grow with the root of C. So an e-fold of N or of D alone
        beyond the largest run is as far as two of C, whatever the compute.

        made   for each point one further run, taken as made
        """
        top, reach = np.zeros(1), self.reach
        if made is not None:
            top, reach = np.maximum(made.c, 0.0), np.maximum(reach, made.S[:, : self.s])
        far = np.maximum(at.c - top, 0.0)
        if self.s < 2:
            return np.asarray(far)
        return np.asarray(np.maximum(far, 2.0 * (at.S[:, : self.s] - reach).max(axis=1)))

    def moved(self, at: Points, axis: Axis, u: float | FloatArray) -> Points:
        """The points with one axis at the coordinate ``u``, one for all or (q,).

        The coordinate of a category is the place of its level among the levels.
        """
        if axis.levels:
            before = self.categorical[: self.categorical.index(axis)]
            start, n = sum(len(a.levels) for a in before), len(axis.levels)
            G = at.G.copy()
            G[:, start : start + n] = np.arange(n) == u
            return replace(at, G=G)
        if axis.kind in FURTHER:
            j, S = self.s + self.further.index(axis), at.S.copy()
            S[:, j] = u
            return replace(at, S=S, c=at.c + axis.price * (S[:, j] - at.S[:, j]))
        U = at.U.copy()
        U[:, self.numeric.index(axis)] = u
        return replace(at, U=U)

    def hp_of(self, at: Points) -> dict[str, AnyArray]:
        """The hyperparameters (q,) of points by name, as `points` takes them."""
        coordinates = [*zip(self.numeric, at.U.T, strict=True)]
        coordinates += zip(self.further, at.S[:, self.s :].T, strict=True)
        hp = {axis.name: np.array([axis.value(u) for u in us]) for axis, us in coordinates}
        start = 0
        for axis in self.categorical:
            stop = start + len(axis.levels)
            hp[axis.name] = np.array(axis.levels)[np.argmax(at.G[:, start:stop], axis=1)]
            start = stop
        return hp


def frame_of(
    scales: Mapping[str, AnyArray],
    hp: Mapping[str, AnyArray],
    done: IntArray,
    kinds: Mapping[str, str],
) -> Frame:
    """The frame of n rows. The rows ``done`` give the reference and the largest run."""
    names = tuple(name for name in ("N", "D") if name in scales and np.ptp(scales[name]) > 0.0)
    if {"N", "D"} <= set(scales):
        names = ("N", "D")
    elif not names and "C" in scales and np.ptp(scales["C"]) > 0.0:
        names = ("C",)
    if not names:
        raise LawsmithError("surface", got="no scale that varies", want="N, D or C that varies")
    logs = {name: np.log(scales[name]) for name in names}
    collinear, line, ratio = False, (0.0, 0.0), (0.0, 0.0)
    axes = [further_axis(name, values, logs) for name, values in hp.items()]
    further = {a.name: with_price(a, scales, hp, logs) for a in axes if a is not None}
    powers = {name: hp[name] ** axis.price for name, axis in further.items() if axis.price}
    multiplier = _multiplier({**scales, **powers}, (*names, *powers), done)
    cost = np.log(multiplier) + sum(logs.values()) + sum(np.log(v) for v in powers.values())
    if names == ("N", "D"):
        collinear = residual_sd(logs["N"] - logs["D"], cost) < COLLINEAR
        ratio = range_of(logs["D"] - logs["N"])
        if collinear and np.ptp(cost) > 0.0:
            b, a = np.polyfit(cost, logs["N"], 1)
            line = (float(a), float(b))
    columns = [cost] if collinear else [logs[name] for name in names]
    upper = cost[done] >= np.quantile(cost[done], 0.67)
    reference = np.array([np.median(column[done][upper]) for column in columns])
    kept, n_stepwise = _axes_of(hp, kinds, {} if collinear else further, columns)
    return Frame(
        names,
        kept,
        collinear,
        line,
        reference,
        reach=np.array([column[done].max() for column in columns]) - reference,
        multiplier=multiplier,
        log_top=float(cost[done].max()),
        ratio=ratio,
        n_stepwise=n_stepwise,
    )


def _axes_of(
    hp: Mapping[str, AnyArray],
    kinds: Mapping[str, str],
    further: Mapping[str, Axis],
    columns: list[FloatArray],
) -> tuple[tuple[Axis, ...], int]:
    """The axes that vary and are no recipe, and the number of recipes that change in steps."""
    kept: list[Axis] = []
    n_stepwise = 0
    for name, values in hp.items():
        axis = further.get(name) or axis_of(name, values, kinds.get(name, ""))
        if axis is None:
            continue
        if axis.kind in ("unique_tokens", "epochs"):
            kept += [axis] if axis.low < axis.high else []
        elif axis.kind not in NUMERIC or not is_recipe(axis.coordinate(values), columns):
            kept.append(axis)
        elif not is_linear(axis.coordinate(values), columns):
            n_stepwise += 1
    return tuple(kept), n_stepwise


def _multiplier(scales: Mapping[str, AnyArray], names: tuple[str, ...], done: IntArray) -> float:
    """C/(ND) of the larger runs, C/N or C/D where there is no other; 6 or 1 without a C."""
    if "C" not in scales or names == ("C",):
        return 6.0 if names == ("N", "D") else 1.0
    C = np.asarray(scales["C"], dtype=np.float64)[done]
    each = C / np.prod([scales[name][done] for name in names], axis=0)
    larger = np.quantile(C, 0.67) <= C
    return float(np.median(each[larger]))
