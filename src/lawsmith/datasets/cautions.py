"""Warnings about a table: its loss, rows that are no runs, and sizes that no training run has.

Such a size is most often a unit that nobody said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lawsmith.arrays import AnyArray, FloatArray, saturating
from lawsmith.datasets import cells
from lawsmith.datasets.schema import Schema
from lawsmith.datasets.units import unit_name
from lawsmith.datasets.words import TRAINING, plain, quoted
from lawsmith.formats import count, number, scientific
from lawsmith.laws.diagnostics import Diagnostic

if TYPE_CHECKING:
    import pandas as pd

MANY = 5  # rows of one name
LEAST_N = 1e4
LEAST_RATIO = 0.01  # D below N/100
NEAR_6ND = (0.2, 5.0)
_LETTERS = {1e3: "K", 1e6: "M", 1e9: "B", 1e12: "T"}


def loss_warnings(schema: Schema) -> list[Diagnostic]:
    """A loss that was passed over, or one of training."""
    column = schema.roles["loss"]
    if schema.passed is not None:
        other = schema.passed
        text = f"The loss is {column!r}, not {other!r}. If it should be: --loss {quoted(other)}."
        return [Diagnostic("another_loss", text, {"taken": column, "other": schema.passed})]
    if set(plain(column).split("_")) & set(TRAINING):
        text = f"The loss is {column!r}, of training. If data repeats, it is too low."
        return [Diagnostic("training_loss", text, {"taken": column})]
    return []


def curve_warnings(
    frame: pd.DataFrame, schema: Schema, table: Mapping[str, AnyArray]
) -> list[Diagnostic]:
    """A table with many moments of each run, which are no runs of their own."""
    if not schema.runs or "D" not in table:
        return []
    groups: dict[str, list[float]] = {}
    for name, tokens in zip(cells.texts(frame[schema.runs[0]]), table["D"].tolist(), strict=True):
        groups.setdefault(name, []).append(tokens)
    sizes = [len(moments) for moments in groups.values()]
    apart = all(len(set(moments)) == len(moments) for moments in groups.values())
    if np.median(sizes) < MANY or not apart:
        return []
    text = (
        f"Each of the {len(groups)} names in {schema.runs[0]!r} has many rows of different D. "
        "Losses along runs are no finished runs: keep the last row of each run here, and give "
        "this table as --curves."
    )
    return [Diagnostic("rows_along_runs", text, {"column": schema.runs[0]})]


def scale_warnings(
    table: Mapping[str, AnyArray], columns: Mapping[str, str], *, from_compute: bool
) -> list[Diagnostic]:
    """What is odd about N, D and C; ``columns`` are their names in the table.

    from_compute   the table has no D: it is C/(6N)
    """
    found = [_size(table, columns), _tokens(table, columns), _compute(table, columns)]
    if from_compute and len(table["N"]):
        found.append(_too_little(table["N"], table["C"], columns["C"]))
    return [warning for warning in found if warning is not None]


def _size(table: Mapping[str, AnyArray], columns: Mapping[str, str]) -> Diagnostic | None:
    N = table.get("N")
    if N is None or not len(N):
        return None
    low, high = float(N.min()), float(N.max())
    fractional = low < 1e6 and bool((N % 1.0 != 0.0).any())
    if low >= LEAST_N and not fractional:
        return None
    factor = 1e9 if high < 100.0 else 1e6 if high < 1e6 else None
    text = f"N is {_range(low, high)}, too small for a count of parameters"
    return _warning(text, "N", columns["N"], factor)


def _tokens(table: Mapping[str, AnyArray], columns: Mapping[str, str]) -> Diagnostic | None:
    N, D = table.get("N"), table.get("D")
    if N is None or D is None or not len(N) or "D" not in columns:
        return None
    ratio = float(np.median(D / N))
    if ratio >= LEAST_RATIO or float(N.min()) < LEAST_N:
        return None
    factor = next((f for f in (1e3, 1e6, 1e9, 1e12) if ratio * f >= 0.5), None)
    low, high = float(D.min()), float(D.max())
    text = f"D is {_range(low, high)}, less than a hundredth of N"
    return _warning(text, "D", columns["D"], factor)


@saturating
def _too_little(N: FloatArray, C: FloatArray, column: str) -> Diagnostic | None:
    """A compute that leaves no tokens to train on."""
    D: FloatArray = C / (6.0 * N)
    ratio = float(np.median(D / N))
    if ratio >= LEAST_RATIO or float(N.min()) < LEAST_N:
        return None
    factor = next((10.0**k for k in (9, 12, 15, 18, 21) if ratio * 10.0**k >= 0.5), None)
    low, high = float(D.min()), float(D.max())
    text = f"C/(6N) is {_range(low, high)} tokens, less than a hundredth of N: C is not in FLOPs"
    return _warning(text, "C", column, factor)


@saturating
def _compute(table: Mapping[str, AnyArray], columns: Mapping[str, str]) -> Diagnostic | None:
    """C against 6ND, where the table has all three."""
    if not {"N", "D", "C"} <= set(table) or "D" not in columns or not len(table["N"]):
        return None
    ratio: FloatArray = table["C"] / (6.0 * table["N"] * table["D"])
    middle = float(np.median(ratio))
    if not np.isfinite(middle) or NEAR_6ND[0] <= middle <= NEAR_6ND[1]:
        return None
    text = f"C is {number(middle, 2)} times 6ND"
    factor = 10.0 ** round(np.log10(1.0 / middle)) if middle < NEAR_6ND[0] else None
    if factor is not None and (factor < 1e3 or not 0.1 < middle * factor < 10.0):
        factor = None
    return _warning(text, "C", columns["C"], factor, "; --compute 6ND counts C as 6ND")


def _warning(text: str, role: str, column: str, factor: float | None, more: str = "") -> Diagnostic:
    hint = f"If its unit is another one, say so: --columns {role}={column}:UNIT"
    if factor is not None:
        unit = _LETTERS.get(factor, scientific(factor, 1))
        what = unit_name(factor) if factor in _LETTERS else f"units of {unit} FLOPs"
        hint = f"If it counts {what}, say --columns {role}={column}:{unit}"
    numbers: dict[str, float | str] = {"role": role, "column": column}
    if factor is not None:
        numbers["factor"] = factor
    return Diagnostic("implausible_scale", f"{text}. {hint}{more}.", numbers)


def _range(low: float, high: float) -> str:
    return count(low) if low == high else f"{count(low)} to {count(high)}"
