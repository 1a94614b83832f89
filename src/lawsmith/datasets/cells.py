"""Cells of a table to numbers or categories, and every bad one on record with its row and column.

Rows are counted from 1 below the header. A missing or non-finite loss is no fault: that run
diverged. Anything else that is missing, not a number, or not above 0 where it must be, is one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lawsmith.errors import LawsmithError
from lawsmith.grid import AnyArray, BoolArray, FloatArray

if TYPE_CHECKING:
    import pandas as pd

Check = Callable[[FloatArray], BoolArray]
_NUMERIC = "biuf"


@dataclass(frozen=True)
class Fault:
    """One bad cell."""

    row: int
    column: str
    got: str
    want: str

    def __str__(self) -> str:
        return f"row {self.row}, column {self.column}: got {self.got}, want {self.want}"


def positive(column: pd.Series[Any]) -> tuple[FloatArray, list[Fault]]:
    """N, D or C: a finite number above 0 in every row."""
    return _checked(column, lambda x: np.isfinite(x) & (x > 0.0), "a number above 0")


def loss(column: pd.Series[Any]) -> tuple[FloatArray, list[Fault]]:
    """A loss above 0; missing or infinite where the run diverged."""
    return _checked(column, lambda x: ~np.isfinite(x) | (x > 0.0), "a loss above 0")


def signed_loss(column: pd.Series[Any]) -> tuple[FloatArray, list[Fault]]:
    """A loss of either sign, such as one relative to a baseline; missing where it diverged."""
    return _checked(column, lambda x: np.ones(len(x), dtype=np.bool_), "a loss")


def axis(column: pd.Series[Any]) -> tuple[AnyArray, list[Fault]]:
    """A hyperparameter: finite numbers, or text if most of its values are (missing text is '')."""
    if column.dtype.kind not in _NUMERIC:
        values = _objects(column)
        known = {str(value): _number(value) for value in values if value is not None}
        if 2 * sum(number is not None for number in known.values()) < len(known):
            return np.array(["" if v is None else str(v) for v in values], np.str_), []
    return _checked(column, np.isfinite, "a number")


def is_varying_number(column: pd.Series[Any]) -> bool:
    """Whether the column holds numbers of more than one value."""
    values, faults = axis(column)
    return values.dtype == np.float64 and not faults and len(np.unique(values)) > 1


def raise_first(faults: Sequence[Fault], *, source: str) -> None:
    """The error for the first bad row, if there is any."""
    if not faults:
        return
    first = min(faults, key=lambda fault: fault.row)
    n_rows = len({fault.row for fault in faults})
    rows = "that row" if n_rows == 1 else f"the {n_rows} such rows"
    where = f"{source}: row {first.row}, column {first.column}"
    hint = f"--skip-bad-rows leaves out {rows}"
    raise LawsmithError(where, got=first.got, want=first.want, hint=hint)


def _checked(column: pd.Series[Any], check: Check, want: str) -> tuple[FloatArray, list[Fault]]:
    """The column as float64, and its faults: text, or numbers that fail ``check``."""
    values, text = _numbers(column)
    faults = [
        Fault(int(column.index[i]), str(column.name), _shown(column.iloc[i]), want)
        for i in np.flatnonzero(text | ~check(values)).tolist()
    ]
    return values, faults


def _numbers(column: pd.Series[Any]) -> tuple[FloatArray, BoolArray]:
    """The column as float64, NaN where missing, and where it holds something else."""
    if column.dtype.kind in _NUMERIC:
        values = column.to_numpy(dtype=np.float64, na_value=math.nan)
        return values, np.zeros(len(values), dtype=np.bool_)
    numbers = [math.nan if value is None else _number(value) for value in _objects(column)]
    text = np.array([number is None for number in numbers], dtype=np.bool_)
    return np.array([math.nan if x is None else x for x in numbers], dtype=np.float64), text


def _objects(column: pd.Series[Any]) -> list[Any]:
    """The cells, None where missing or blank."""
    missing = column.isna().tolist()
    return [None if gone or _is_blank(v) else v for v, gone in zip(column, missing, strict=True)]


def _number(value: Any) -> float | None:
    """The value as a float, None if it is no number: '1e9' is one, '70M' is not."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


def _shown(value: object) -> str:
    """A bad cell for an error message."""
    number = _number(value)
    if _is_blank(value) or value is None or (number is not None and math.isnan(number)):
        return "nothing"
    if number is not None:
        return f"{number:g}"
    text = repr(value) if isinstance(value, str) else f"a {type(value).__name__}"
    return text if len(text) <= 40 else text[:39] + "…"
