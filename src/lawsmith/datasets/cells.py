"""Cells of a table to numbers or categories, with the row and column of every bad cell.

Rows are counted from 1 below the header. A missing or non-finite loss is not a fault: that run
diverged. Any other cell is a fault if it is missing, not a number, not above 0 where it must be, or
not plausible for a training run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lawsmith.errors import LawsmithError
from lawsmith.grid import AnyArray, BoolArray, FloatArray, IntArray
from lawsmith.numbers import as_amount, as_float, short_repr
from lawsmith.plausible import LOSS, RATE, SCALE, SETTING, SIGNED_LOSS, Bounds

if TYPE_CHECKING:
    import pandas as pd

    Read = tuple[FloatArray, list["Fault"]]  # the values of a column, and its bad cells
    Reader = Callable[[pd.Series[Any]], Read]

_NUMERIC = "biuf"


@dataclass(frozen=True)
class Fault:
    """One bad cell; ``axis`` if the column may be left out instead."""

    row: int
    column: str
    got: str
    want: str
    axis: bool = False

    def __str__(self) -> str:
        return f"row {self.row}, column {self.column}: got {self.got}, want {self.want}"


def number_rows(frame: pd.DataFrame, *, source: str) -> pd.DataFrame:
    """The table with rows numbered from 1, as errors name them, and column names as text."""
    frame = frame.set_axis(range(1, len(frame) + 1)).rename(columns=str)
    if not frame.columns.is_unique:
        got = f"the column {frame.columns[frame.columns.duplicated()][0]!r} twice"
        raise LawsmithError(source, got=got, want="distinct column names")
    return frame


def positive(column: pd.Series[Any], unit: float = 1.0) -> Read:
    """N, D or C: a finite number above 0 in every row.

    ``unit`` is what the column counts in, such as 1e6; a unit in the cell itself (125M) wins.
    """
    return _checked(column, SCALE, unit=unit)


def loss(column: pd.Series[Any], *, diverged_above: float = math.inf, signed: bool = False) -> Read:
    """A loss above 0; a ``signed`` one, such as one relative to a baseline, may be negative.

    It is missing, infinite or above ``diverged_above`` if the run diverged.
    """
    bounds = SIGNED_LOSS if signed else LOSS
    values, faults = _checked(
        column, bounds, lambda x: ~np.isfinite(x) | (x > diverged_above), read=as_float
    )
    if math.isfinite(diverged_above):
        return values, faults
    hint = f"{bounds.want}; --diverged-above is for runs that blew up"
    return values, [replace(f, want=hint) if f.want == bounds.want else f for f in faults]


def optional(column: pd.Series[Any], unit: float = 1.0) -> Read:
    """A number above 0, or blank."""
    return _checked(column, SCALE, np.isnan, unit=unit)


def rate(column: pd.Series[Any]) -> Read:
    """A learning rate from 0 up, or blank."""
    return _checked(column, RATE, np.isnan)


def metric(column: pd.Series[Any]) -> Read:
    """A further metric of a run, such as an accuracy; blank if it was not measured."""
    return _checked(column, SETTING, lambda x: ~np.isfinite(x))


def axis(column: pd.Series[Any]) -> tuple[AnyArray, list[Fault]]:
    """A hyperparameter: finite numbers, or text if most of its values are text; '' if missing."""
    if column.dtype.kind == "b":
        return np.array([str(value) for value in column], np.str_), []
    if column.dtype.kind not in _NUMERIC:
        objects = _objects(column)
        known = {_text(value): as_amount(value) for value in objects if value is not None}
        if 2 * sum(number is not None for number in known.values()) < len(known):
            return np.array(["" if v is None else _text(v) for v in objects], np.str_), []
    values, faults = _checked(column, SETTING)
    return values, [replace(fault, axis=True) for fault in faults]


def factorize(column: pd.Series[Any]) -> tuple[IntArray, list[Any]]:
    """(index of each cell's value, −1 if missing; the distinct values)."""
    try:
        codes, values = column.factorize()
    except TypeError:  # a cell of JSON may hold a list
        codes, values = column.map(str, na_action="ignore").factorize()
    return codes.astype(np.int64), values.tolist()


def map_cells(column: pd.Series[Any], text: Callable[[Any], str]) -> list[str]:
    """``text`` of every cell, '' if missing; computed once for each distinct value."""
    codes, values = factorize(column)
    texts = [*map(text, values), ""]  # index −1 is missing
    return [texts[code] for code in codes.tolist()]


def texts(column: pd.Series[Any]) -> list[str]:
    """The cells as text, '' if missing or blank; equal numbers have equal texts."""
    return map_cells(column, _comparable)


def _comparable(value: object) -> str:
    number = as_float(value)
    return f"{number:.12g}" if number is not None else "" if _is_blank(value) else _text(value)


def varies(column: pd.Series[Any]) -> bool:
    """Whether the column has more than one value, blanks aside."""
    return len({*map(_comparable, factorize(column)[1])} - {""}) > 1


def raise_first(faults: Sequence[Fault], *, source: str) -> None:
    """Raise the error for the first bad row, if there is one."""
    if not faults:
        return
    first = min(faults, key=lambda fault: fault.row)
    n_rows = len({fault.row for fault in faults})
    rows = "that row" if n_rows == 1 else f"the {n_rows} such rows"
    where = f"{source}: row {first.row}, column {first.column}"
    hint = f"--skip-bad-rows leaves out {rows}"
    if first.axis:
        hint += f"; --ignore {first.column} leaves out the column"
    raise LawsmithError(where, got=first.got, want=first.want, hint=hint)


def _checked(
    column: pd.Series[Any],
    bounds: Bounds,
    allowed: Callable[[FloatArray], BoolArray] | None = None,
    *,
    unit: float = 1.0,
    read: Callable[[object], float | None] = as_amount,
) -> Read:
    """The column as float64, and its faults: text, and numbers outside ``bounds``.

    allowed   numbers that are not faults although outside, such as NaN for a missing one
    """
    values, text = numbers(column, read)
    if unit != 1.0:
        values = _scaled(column, values, unit)
    inside = (
        bounds.contains(values) if allowed is None else bounds.contains(values) | allowed(values)
    )
    bad = np.flatnonzero(text | ~inside).tolist()
    return values, [
        Fault(
            int(column.index[i]),
            str(column.name),
            _shown(column.iloc[i]) + (f" × {unit:g}" if unit != 1.0 and values[i] > 0.0 else ""),
            bounds.want_for(float(values[i])),
        )
        for i in bad
    ]


def _scaled(column: pd.Series[Any], values: FloatArray, unit: float) -> FloatArray:
    """The values times the unit of the column, except cells with a unit of their own."""
    texts = (isinstance(value, str) and as_float(value) is None for value in column)
    own = [text and any(map(str.isalpha, value)) for text, value in zip(texts, column, strict=True)]
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = values * unit
        whole = np.round(scaled)  # 0.07 billion is 70000000, not 70000000.00000001
        scaled = np.where(np.abs(scaled - whole) <= 1e-12 * scaled, whole, scaled)
    return np.where(own, values, scaled)


def numbers(
    column: pd.Series[Any], read: Callable[[object], float | None] = as_float
) -> tuple[FloatArray, BoolArray]:
    """The column as float64, NaN if missing, and which cells are not numbers."""
    if column.dtype.kind in _NUMERIC:
        values = column.to_numpy(dtype=np.float64, na_value=math.nan)
        return values, np.zeros(len(values), dtype=np.bool_)
    found = [math.nan if value is None else read(value) for value in _objects(column)]
    text = np.array([number is None for number in found], dtype=np.bool_)
    return np.array([math.nan if x is None else x for x in found], dtype=np.float64), text


def _objects(column: pd.Series[Any]) -> list[Any]:
    """The cells, None if missing or blank."""
    missing = column.isna().tolist()
    return [None if gone or _is_blank(v) else v for v, gone in zip(column, missing, strict=True)]


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


def _shown(value: object) -> str:
    """A bad cell for an error message."""
    number = as_float(value)
    if _is_blank(value) or value is None or (number is not None and math.isnan(number)):
        return "nothing"
    if number is not None:
        return f"{number:g}"
    return short_repr(value, 40) if isinstance(value, str) else f"a {type(value).__name__}"


def _text(value: object) -> str:
    return value if isinstance(value, str) else short_repr(value, 1000)
