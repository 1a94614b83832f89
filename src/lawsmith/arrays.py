"""Columns of numbers or text: array types, checks that name the column and row, distinct rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lawsmith.errors import LawsmithError
from lawsmith.plausible import SCALE, SETTING

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]

# For functions whose numbers may overflow, such as a law fitted to runs that do not determine it:
# they give infinity or NaN, without a warning on the user's terminal.
saturating = np.errstate(all="ignore")


def robust_sd(residuals: FloatArray) -> float:
    """The SD of normal residuals from their median size, which is robust to outliers."""
    return 1.4826 * float(np.median(np.abs(residuals)))


def evenly_spaced(n: int, most: int) -> IntArray:
    """Indices of at most ``most`` of n items, evenly spaced, both ends included."""
    if n <= most:
        return np.arange(n)
    return np.linspace(0, n - 1, most).round().astype(np.int64)


def as_column(name: str, values: npt.ArrayLike) -> AnyArray:
    """A column of float64, or of str."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise LawsmithError(f"column {name}", got=f"shape {array.shape}", want="one value a row")
    if array.dtype.kind in "biuf":
        return array.astype(np.float64, copy=False)
    if array.dtype.kind in "UT":
        return array.astype(np.str_, copy=False)
    if any(isinstance(value, str) for value in array):
        for row, value in enumerate(array):
            if not isinstance(value, str):
                got = f"{value!r} among text in row {row}"
                raise LawsmithError(f"column {name}", got=got, want="text in every row")
        return array.astype(np.str_)
    try:
        # Only objects are cast: numpy would also turn dates into numbers.
        return array.astype(np.float64, casting="unsafe" if array.dtype.kind == "O" else "no")
    except (TypeError, ValueError, OverflowError):
        raise LawsmithError(f"column {name}", got=array.dtype, want="numbers or text") from None


def check_lengths(columns: Mapping[str, AnyArray]) -> None:
    lengths = {name: len(values) for name, values in columns.items()}
    if not lengths or 0 in lengths.values():
        raise LawsmithError("grid", got="no rows", want="at least one row")
    if len(set(lengths.values())) > 1:
        got = ", ".join(f"{name} {n}" for name, n in lengths.items())
        raise LawsmithError("grid", got=f"columns of lengths {got}", want="one length")


def check_numbers(name: str, values: AnyArray, *, positive: bool) -> None:
    """Refuse numbers that are not finite and plausible, or not above 0 if ``positive``."""
    want = "finite numbers above 0" if positive else "finite numbers"
    if values.dtype != np.float64:
        hint = None if name in ("N", "D", "C") else "make it a categorical axis"
        raise LawsmithError(f"column {name}", got=repr(str(values[0])), want=want, hint=hint)
    bad = ~np.isfinite(values) | ((values <= 0.0) if positive else False)
    if not bad.any():
        bounds = SCALE if name in ("N", "D", "C") else SETTING
        bad, want = ~bounds.contains(values), bounds.want
    if bad.any():
        row = int(np.argmax(bad))
        raise LawsmithError(f"column {name}", got=f"{values[row]:g} in row {row}", want=want)


def cell_ids(columns: Sequence[AnyArray], m: int) -> IntArray:
    """(m,) rank of each row among the distinct rows of ``columns``, in lexicographic order."""
    ids, n_ids = np.zeros(m, dtype=np.int64), 1
    for column in columns:
        values, code = np.unique(column, return_inverse=True)
        ids, n_ids = ids * len(values) + code, n_ids * len(values)
        # Renumbering after each column keeps ids below m², far from overflow.
        if n_ids <= 4 * m:  # counting is faster than sorting
            rank = np.cumsum(np.bincount(ids, minlength=n_ids) > 0) - 1
            ids, n_ids = rank[ids], int(rank[-1]) + 1
        else:
            kept, ids = np.unique(ids, return_inverse=True)
            n_ids = len(kept)
    return ids.astype(np.int64, copy=False)


def distinct(columns: Mapping[str, npt.ArrayLike]) -> tuple[IntArray, IntArray]:
    """(first, index): a table's distinct configurations, and the configuration of each row.

    ``first`` has the row where each configuration first appears, ascending: the rows of a
    `Grid`. ``index`` (m,) numbers each row's configuration in that order: the index of `Runs`.
    """
    table = {name: as_column(name, values) for name, values in columns.items()}
    check_lengths(table)
    ids = cell_ids(list(table.values()), len(next(iter(table.values()))))
    first = first_rows(ids)
    order = np.argsort(first)
    rank = np.empty(len(first), dtype=np.int64)
    rank[order] = np.arange(len(first))
    return first[order], rank[ids]


def first_rows(ids: IntArray) -> IntArray:
    """The first row of each of the ids 0, 1, …, all of which must occur."""
    first = np.empty(int(ids.max()) + 1, dtype=np.int64)
    first[ids[::-1]] = np.arange(len(ids))[::-1]  # of equal ids the last one written remains
    return first


def frozen(values: AnyArray) -> AnyArray:
    values = values.copy() if values.flags.writeable or values.base is not None else values
    values.setflags(write=False)
    return values


def row_index(rows: npt.ArrayLike, m: int) -> IntArray:
    """Row indices of a mask (m,) or of indices, within 0 … m − 1."""
    array = np.asarray(rows)
    if array.dtype == np.bool_:
        if array.shape != (m,):
            raise LawsmithError("rows", got=f"a mask of shape {array.shape}", want=f"({m},)")
        return np.flatnonzero(array)
    index = array.astype(np.int64)
    if index.ndim != 1 or not bool(((index >= 0) & (index < m)).all()):
        raise LawsmithError("rows", got="rows outside the grid", want=f"indices 0 to {m - 1}")
    return index
