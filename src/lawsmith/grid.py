"""Grid: the candidate runs of a study, with compute, levels, windows, unit cube and held-out part.

Notation and shapes
    m           candidates (rows), in a fixed order
    N, D, λ     named inputs, one column of shape (m,) each; λ is any number of hyperparameters
    C           (m,) cost of a run in FLOPs, 6ND unless said otherwise
    s           (m,) the variable that slices the study: C, or N (iso-parameter), or D (iso-token)
    s_0 < s_1 < …   levels, the distinct values of s
    τ           held-out threshold on C
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from lawsmith.arrays import AnyArray as AnyArray
from lawsmith.arrays import BoolArray as BoolArray
from lawsmith.arrays import FloatArray as FloatArray
from lawsmith.arrays import IntArray as IntArray
from lawsmith.arrays import (
    as_column,
    cell_ids,
    check_lengths,
    check_numbers,
    first_rows,
    frozen,
    row_index,
)
from lawsmith.errors import LawsmithError, unknown
from lawsmith.formats import flops
from lawsmith.numbers import as_float

AxisKind = Literal["log", "linear", "categorical"]
ComputeFormula = Callable[[Mapping[str, AnyArray]], npt.ArrayLike]


@dataclass(frozen=True)
class Axis:
    """One input of a configuration and the scale on which its values are compared."""

    name: str
    kind: AxisKind


@dataclass(frozen=True)
class HeldOut:
    """Which runs are held out to judge predictions; as text: '50%' or 'largest-N'.

    kind       'nothing', 'compute' or 'largest'
    fraction   of compute: 0.5 holds out the runs above half of the largest compute
    name       the column whose largest value is held out

    >>> HeldOut.parse("50%") == HeldOut.by_compute(0.5)
    True
    >>> str(HeldOut.largest("N"))
    'largest-N'
    """

    kind: Literal["nothing", "compute", "largest"]
    fraction: float
    name: str

    def __post_init__(self) -> None:
        if self.kind == "compute" and not 0.0 < self.fraction < 1.0:
            want = "a fraction between 0 and 1, such as 0.5"
            raise LawsmithError("hold-out", got=f"{self.fraction:g}", want=want)

    @classmethod
    def nothing(cls) -> HeldOut:
        """Hold out nothing."""
        return cls(kind="nothing", fraction=0.0, name="C")

    @classmethod
    def by_compute(cls, fraction: float) -> HeldOut:
        """Hold out C ≥ τ = (1 − fraction)·max C: 0.5 the upper half, 0.9 all above 10 %."""
        return cls(kind="compute", fraction=float(fraction), name="C")

    @classmethod
    def largest(cls, name: str) -> HeldOut:
        """Hold out the rows at the largest value of column ``name``."""
        return cls(kind="largest", fraction=0.0, name=name)

    @classmethod
    def parse(cls, text: str) -> HeldOut:
        """From '0.5' or '50%' (of compute), 'largest-N' (a column) or '0'."""
        word = text.strip()
        if word.startswith("largest-") and len(word) > len("largest-"):
            return cls.largest(word.removeprefix("largest-"))
        number = as_float(word.removesuffix("%"))
        if number is None:
            want = "a fraction of compute such as 0.5 or 50%, or largest-N, or largest-D"
            hint = "did you mean largest-N?" if word.lower().startswith("largest") else None
            raise LawsmithError("hold-out", got=repr(text), want=want, hint=hint)
        fraction = number / (100.0 if word.endswith("%") else 1.0)
        return cls.nothing() if fraction == 0.0 else cls.by_compute(fraction)

    def __str__(self) -> str:
        return f"largest-{self.name}" if self.kind == "largest" else f"{self.fraction:g}"

    def threshold(self, grid: Grid) -> float:
        """τ: the least held-out value of C (by compute) or of the column (largest)."""
        if self.kind == "nothing":
            return float("inf")
        top = float(np.max(grid.numbers(self.name)))
        # 1 − 0.7 is 0.30000000000000004: rounded, so that a run at exactly 0.3·max C is held out.
        return round(1.0 - self.fraction, 12) * top if self.kind == "compute" else top


@dataclass(frozen=True, eq=False, repr=False)
class Grid:
    """The candidates of a study: named columns, the axes of a configuration, and the cost C.

    columns    m rows each; float64, or str for text. Columns that are not axes are kept unused.
    axes       the columns that make a configuration, in order; configurations are distinct
    slice_by   'C' or a column: the variable that slices, which need not be the cost

    >>> Grid.from_columns({"N": [1e8, 3e8], "D": [2e9, 6e9], "lr": [1e-3, 1e-3]})
    Grid of 2 configurations: N (2), D (2), lr (1); 1.2e18 to 1.08e19 FLOPs
    """

    columns: Mapping[str, AnyArray]
    axes: tuple[Axis, ...]
    C: FloatArray
    slice_by: str = "C"

    def __post_init__(self) -> None:
        columns = {name: frozen(as_column(name, v)) for name, v in self.columns.items()}
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "C", frozen(as_column("C", self.C)))
        check_lengths({**columns, "C": self.C})
        _check_costs(columns, self.C)
        _check_axes(columns, self.axes)
        _check_distinct(columns, self.axes)
        self.numbers(self.slice_by)

    @classmethod
    def from_columns(
        cls,
        columns: Mapping[str, npt.ArrayLike],
        *,
        axes: Mapping[str, AxisKind] | None = None,
        compute: str | ComputeFormula | None = "6ND",
        slice_by: str = "C",
    ) -> Grid:
        """A grid of a table's distinct configurations.

        axes     scale of each axis by name; by default every column is an axis: categorical if
                 text, log if all values are positive, else linear (such as a factor of 0)
        compute  '6ND', the name of a column, or a function of the columns;
                 None for a table without compute: every run costs 1, so there is one level
        """
        table = {name: as_column(name, values) for name, values in columns.items()}
        check_lengths(table)
        kinds = axes if axes is not None else {n: axis_kind(v) for n, v in table.items()}
        return cls(
            columns=table,
            axes=tuple(Axis(name, kind) for name, kind in kinds.items()),
            C=_compute(table, compute),
            slice_by=slice_by,
        )

    def __repr__(self) -> str:
        axes = [f"{axis.name} ({len(np.unique(self.columns[axis.name]))})" for axis in self.axes]
        spent = f"{flops(float(self.C.min()))} to {flops(float(self.C.max()))} FLOPs"
        return f"Grid of {len(self)} configurations: {', '.join(axes)}; {spent}"

    def __len__(self) -> int:
        return len(self.C)

    @property
    def N(self) -> FloatArray:
        """(m,) parameters."""
        return self.numbers("N")

    @property
    def D(self) -> FloatArray:
        """(m,) training tokens."""
        return self.numbers("D")

    @property
    def hp(self) -> Mapping[str, AnyArray]:
        """λ: the axes other than N and D."""
        return {a.name: self.columns[a.name] for a in self.axes if a.name not in ("N", "D")}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(self.columns)

    def column(self, name: str) -> AnyArray:
        """(m,) the column ``name``; 'C' is the cost."""
        if name == "C":
            return self.C
        if name not in self.columns:
            raise unknown("column", name, dict.fromkeys([*self.columns, "C"]))
        return self.columns[name]

    def numbers(self, name: str) -> FloatArray:
        """(m,) the column ``name``, which must be numeric."""
        values = self.column(name)
        if values.dtype != np.float64:
            raise LawsmithError(f"column {name}", got="text", want="numbers")
        return values

    @property
    def slicer(self) -> FloatArray:
        """(m,) s, the variable that slices."""
        return self.numbers(self.slice_by)

    @cached_property
    def levels(self) -> FloatArray:
        """(n_levels,) the distinct values of s, ascending."""
        return frozen(np.unique(self.slicer))

    def reach_window(self, frontier: float, reach: float | None) -> BoolArray:
        """(m,) rows with s ≤ max(next level above ``frontier``, ``reach``·frontier).

        With ``reach`` None the window grows by one level; above the last level it is everything.
        """
        if reach is not None and not reach >= 1.0:
            raise LawsmithError("reach", got=reach, want="a factor of at least 1, or none")
        n_reached = int(np.searchsorted(self.levels, frontier, side="right"))
        limit = float(self.levels[min(n_reached, len(self.levels) - 1)])
        if reach is not None:
            limit = max(limit, reach * frontier)
        # Grids are often spaced by exactly the reach: rounding must not lose a level on the edge.
        return np.less_equal(self.slicer, limit * (1.0 + 1e-12))

    def unit(self) -> FloatArray:
        """(m, d) the unit cube: log and linear axes min–max scaled, categorical axes one-hot.

        A constant numeric axis is 0.5 everywhere. The scales are those of this grid: the same
        coordinates for a subset are ``grid.unit()[rows]``.
        """
        blocks = [_unit_axis(self.columns[axis.name], axis.kind) for axis in self.axes]
        return np.concatenate([np.empty((len(self), 0)), *blocks], axis=1)

    @property
    def unit_names(self) -> tuple[str, ...]:
        """(d,) the axis of each column of the unit cube."""
        widths = [_unit_axis(self.columns[axis.name], axis.kind).shape[1] for axis in self.axes]
        return tuple(a.name for a, n in zip(self.axes, widths, strict=True) for _ in range(n))

    def cells(self, names: Sequence[str]) -> IntArray:
        """(m,) cell of each row: rows equal in all of ``names`` share one.

        Cells are numbered from 0 in ascending order of the columns, for any order of rows.
        """
        return cell_ids([self.column(name) for name in names], len(self))

    def subset(self, rows: npt.ArrayLike) -> Grid:
        """The grid of ``rows`` (indices or a mask), in that order; levels are its own."""
        index = row_index(rows, len(self))
        columns = {name: values[index] for name, values in self.columns.items()}
        given = (columns, self.axes, self.C[index], self.slice_by)
        if not len(index) or np.bincount(index).max() > 1:
            return Grid(*given)  # raises the error
        for values in (*columns.values(), given[2]):
            values.setflags(write=False)
        subset = object.__new__(Grid)  # no checks: these rows have passed them
        vars(subset).update(zip(Grid.__dataclass_fields__, given, strict=True))
        return subset

    def split(self, hold_out: HeldOut) -> tuple[IntArray, IntArray]:
        """(pool rows, held-out rows), both ascending; empty only for `HeldOut.nothing`."""
        if hold_out.kind == "nothing":
            return np.arange(len(self)), np.arange(0)
        # τ is a product: a run at exactly the threshold must not fall below it by rounding.
        tau = hold_out.threshold(self)
        held = self.numbers(hold_out.name) >= tau - 1e-12 * abs(tau)
        if held.all():
            want = "a split that leaves rows to fit"
            got = f"{hold_out}, which holds out all {len(self)} rows"
            raise LawsmithError("hold-out", got=got, want=want)
        return np.flatnonzero(~held), np.flatnonzero(held)


def _check_costs(columns: Mapping[str, AnyArray], C: FloatArray) -> None:
    if "C" in columns and not np.array_equal(columns["C"], C):
        hint = "say compute='C' to use it as the cost, or rename it"
        raise LawsmithError("column C", got="values other than the compute", hint=hint)
    for name, values in {**columns, "C": C}.items():
        if name in ("N", "D", "C"):
            check_numbers(name, values, positive=True)


def _check_axes(columns: Mapping[str, AnyArray], axes: Sequence[Axis]) -> None:
    for axis in axes:
        if axis.name not in columns:
            raise unknown("axis", axis.name, columns)
        if axis.kind not in get_args(AxisKind):
            raise unknown(f"axis {axis.name}", axis.kind, get_args(AxisKind))
        if axis.kind != "categorical":
            check_numbers(axis.name, columns[axis.name], positive=axis.kind == "log")


def _check_distinct(columns: Mapping[str, AnyArray], axes: Sequence[Axis]) -> None:
    m = len(next(iter(columns.values())))
    ids = cell_ids([columns[axis.name] for axis in axes], m)
    if int(ids.max()) + 1 == m:
        return
    first = first_rows(ids)
    row = int(np.setdiff1d(np.arange(m), first)[0])
    got = f"one configuration in rows {int(first[ids[row]])} and {row}"
    hint = "repeats of a configuration are replicates and belong to Runs"
    raise LawsmithError("grid", got=got, want="distinct configurations", hint=hint)


def axis_kind(values: AnyArray) -> AxisKind:
    """The scale of a column: categorical if text, log if all is above 0, else linear."""
    if values.dtype != np.float64:
        return "categorical"
    return "log" if bool((values > 0.0).all()) else "linear"


def _compute(table: Mapping[str, AnyArray], compute: str | ComputeFormula | None) -> AnyArray:
    """(m,) cost of each row; see `Grid.from_columns`."""
    if compute is None:
        return np.ones(len(next(iter(table.values()))))
    if isinstance(compute, str) and compute != "6ND":
        if compute not in table:
            raise unknown("compute", compute, ["6ND", *table])
        return table[compute]
    with np.errstate(over="ignore"):  # an infinite cost is an error later, not a warning here
        return as_column("C", _six_n_d(table) if isinstance(compute, str) else compute(table))


def _six_n_d(table: Mapping[str, AnyArray]) -> AnyArray:
    """C = 6ND: forward and backward pass of a dense transformer (Kaplan et al. 2020, §2.1)."""
    missing = [name for name in ("N", "D") if name not in table]
    if missing:
        got = f"a table without {' and '.join(missing)}"
        hint = "name a compute column, or say compute=None for unit costs"
        raise LawsmithError("compute 6ND", got=got, want="N and D", hint=hint)
    for name in ("N", "D"):
        check_numbers(name, table[name], positive=True)
    return np.asarray(6.0 * table["N"] * table["D"])


def _unit_axis(values: AnyArray, kind: AxisKind) -> FloatArray:
    """(m, 1) in [0, 1] for a numeric axis, (m, n_values) one-hot for a categorical one."""
    if kind == "categorical":
        return np.eye(len(np.unique(values)))[np.unique(values, return_inverse=True)[1]]
    scaled = np.log(values) if kind == "log" else values
    low, high = float(scaled.min()), float(scaled.max())
    if low == high:
        return np.full((len(values), 1), 0.5)
    return np.asarray((scaled - low) / (high - low), dtype=np.float64)[:, None]
