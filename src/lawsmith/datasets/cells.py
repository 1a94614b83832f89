"""Cells of a table to numbers or categories, and every bad one on record with its row and column.

Rows are counted from 1 below the header. A missing or non-finite loss is no fault: that run
diverged. Anything else that is missing, not a number, not above 0 where it must be, or not what a
training run can have, is one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lawsmith.errors import LawsmithError
from lawsmith.grid import AnyArray, BoolArray, FloatArray
from lawsmith.numbers import as_float, shown
from lawsmith.plausible import LOSS, SCALE, SETTING, SIGNED_LOSS, Bounds

if TYPE_CHECKING:
    import pandas as pd

Check = tuple[Callable[[FloatArray], BoolArray], str]  # what must hold, and what is wanted
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
    above: Check = (lambda x: np.isfinite(x) & (x > 0.0), "a number above 0")
    return _checked(column, above, (SCALE.hold, SCALE.want))


def loss(
    column: pd.Series[Any], *, diverged_above: float = math.inf
) -> tuple[FloatArray, list[Fault]]:
    """A loss above 0; missing, infinite or beyond ``diverged_above`` where the run diverged."""
    above: Check = (lambda x: ~np.isfinite(x) | (x > 0.0), "a loss above 0")
    return _checked(column, above, _unless_diverged(LOSS, diverged_above))


def optional(column: pd.Series[Any]) -> tuple[FloatArray, list[Fault]]:
    """A number above 0, or nothing."""
    above: Check = (lambda x: np.isnan(x) | (np.isfinite(x) & (x > 0.0)), "a number above 0")
    return _checked(column, above, (lambda x: np.isnan(x) | SCALE.hold(x), SCALE.want))


def rate(column: pd.Series[Any]) -> tuple[FloatArray, list[Fault]]:
    """A learning rate from 0 up, or nothing."""
    above: Check = (lambda x: np.isnan(x) | (np.isfinite(x) & (x >= 0.0)), "a rate from 0")
    return _checked(column, above, (lambda x: np.isnan(x) | SETTING.hold(x), SETTING.want))


def signed_loss(
    column: pd.Series[Any], *, diverged_above: float = math.inf
) -> tuple[FloatArray, list[Fault]]:
    """A loss of either sign, such as one relative to a baseline; missing where it diverged."""
    anything: Check = (lambda x: np.ones(len(x), dtype=np.bool_), "a loss")
    return _checked(column, anything, _unless_diverged(SIGNED_LOSS, diverged_above))


def _unless_diverged(bounds: Bounds, diverged_above: float) -> Check:
    want = bounds.want
    if not math.isfinite(diverged_above):
        want += "; --diverged-above is for runs that blew up"
    return lambda x: ~np.isfinite(x) | (x > diverged_above) | bounds.hold(x), want


def metric(column: pd.Series[Any]) -> tuple[FloatArray, list[Fault]]:
    """A further measure of a run, such as an accuracy; missing where it was not taken."""
    anything: Check = (lambda x: np.ones(len(x), dtype=np.bool_), "a number")
    return _checked(column, anything, (lambda x: ~np.isfinite(x) | SETTING.hold(x), SETTING.want))


def axis(column: pd.Series[Any]) -> tuple[AnyArray, list[Fault]]:
    """A hyperparameter: finite numbers, or text if most of its values are (missing text is '')."""
    if column.dtype.kind not in _NUMERIC:
        values = _objects(column)
        known = {_text(value): as_float(value) for value in values if value is not None}
        if 2 * sum(number is not None for number in known.values()) < len(known):
            return np.array(["" if v is None else _text(v) for v in values], np.str_), []
    return _checked(column, (np.isfinite, "a number"), (SETTING.hold, SETTING.want))


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


def _checked(column: pd.Series[Any], *checks: Check) -> tuple[FloatArray, list[Fault]]:
    """The column as float64, and its faults: text, or numbers that fail one of ``checks``."""
    values, bad = _numbers(column)
    faults: dict[int, Fault] = {}
    for check, want in checks:
        for i in np.flatnonzero(bad | ~check(values)).tolist():
            told = Fault(int(column.index[i]), str(column.name), _shown(column.iloc[i]), want)
            faults.setdefault(i, told)
    return values, [faults[i] for i in sorted(faults)]


def _numbers(column: pd.Series[Any]) -> tuple[FloatArray, BoolArray]:
    """The column as float64, NaN where missing, and where it holds something else."""
    if column.dtype.kind in _NUMERIC:
        values = column.to_numpy(dtype=np.float64, na_value=math.nan)
        return values, np.zeros(len(values), dtype=np.bool_)
    numbers = [math.nan if value is None else as_float(value) for value in _objects(column)]
    text = np.array([number is None for number in numbers], dtype=np.bool_)
    return np.array([math.nan if x is None else x for x in numbers], dtype=np.float64), text


def _objects(column: pd.Series[Any]) -> list[Any]:
    """The cells, None where missing or blank."""
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
    return shown(value, 40) if isinstance(value, str) else f"a {type(value).__name__}"


def _text(value: object) -> str:
    return value if isinstance(value, str) else shown(value, 1000)
