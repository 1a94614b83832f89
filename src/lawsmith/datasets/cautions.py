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
from lawsmith.datasets.words import TRAINING, plain, quoted, unit_name
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
    N, D, C = (table.get(role) for role in ("N", "D", "C"))
    found: list[Diagnostic | None] = []
    if N is not None:
        found.append(_small_size(N, columns["N"]))
    if N is not None and D is not None:
        found.append(_few_tokens(N, D, "D", columns["D"]))
    if N is not None and D is not None and C is not None:
        found.append(_not_6ND(C, N, D, columns["C"]))
    if from_compute and N is not None and C is not None:
        found.append(_few_tokens(N, C / (6.0 * N), "C", columns["C"]))
    return [warning for warning in found if warning is not None]


def _small_size(N: FloatArray, column: str) -> Diagnostic | None:
    low, high = float(N.min()), float(N.max())
    fractional = low < 1e6 and bool((N % 1.0 != 0.0).any())
    if low >= LEAST_N and not fractional:
        return None
    factor = 1e9 if high < 100.0 else 1e6 if high < 1e6 else None
    text = f"N is {_range(N)}, too small for a count of parameters"
    return _warning(text, "N", column, factor)


@saturating
def _few_tokens(N: FloatArray, D: FloatArray, role: str, column: str) -> Diagnostic | None:
    """Next to no tokens to train on, as the table's D says, or its C."""
    ratio = float(np.median(D / N))
    if ratio >= LEAST_RATIO or float(N.min()) < LEAST_N:
        return None
    units = (1e3, 1e6, 1e9, 1e12) if role == "D" else (1e9, 1e12, 1e15, 1e18, 1e21)
    factor = next((unit for unit in units if ratio * unit >= 0.5), None)
    text = f"D is {_range(D)}, less than a hundredth of N"
    if role == "C":
        text = f"C/(6N) is {_range(D)} tokens, less than a hundredth of N: C is not in FLOPs"
    return _warning(text, role, column, factor)


@saturating
def _not_6ND(C: FloatArray, N: FloatArray, D: FloatArray, column: str) -> Diagnostic | None:
    ratio = float(np.median(C / (6.0 * N * D)))
    if not np.isfinite(ratio) or NEAR_6ND[0] <= ratio <= NEAR_6ND[1]:
        return None
    factor = 10.0 ** round(np.log10(1.0 / ratio)) if ratio < NEAR_6ND[0] else 0.0
    known = factor >= 1e3 and 0.1 < ratio * factor < 10.0
    text, more = f"C is {number(ratio, 2)} times 6ND", "; --compute 6ND counts C as 6ND"
    return _warning(text, "C", column, factor if known else None, more)


def _warning(text: str, role: str, column: str, factor: float | None, more: str = "") -> Diagnostic:
    hint = f"If its unit is another one, say so: --columns {role}={column}:UNIT"
    numbers: dict[str, float | str] = {"role": role, "column": column}
    if factor is not None:
        unit = _LETTERS.get(factor, scientific(factor, 1))
        what = unit_name(factor) if factor in _LETTERS else f"units of {unit} FLOPs"
        hint = f"If it counts {what}, say --columns {role}={column}:{unit}"
        numbers["factor"] = factor
    return Diagnostic("implausible_scale", f"{text}. {hint}{more}.", numbers)


def _range(values: FloatArray) -> str:
    low, high = float(values.min()), float(values.max())
    return count(low) if low == high else f"{count(low)} to {count(high)}"
