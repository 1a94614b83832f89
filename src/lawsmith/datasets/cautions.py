"""Warnings about a table: its loss, rows that are no runs, columns that nobody named, odd sizes.

A size that no training run has is most often a unit that nobody said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lawsmith.arrays import AnyArray, FloatArray, saturating
from lawsmith.datasets import cells
from lawsmith.datasets.others import Others
from lawsmith.datasets.schema import Schema
from lawsmith.datasets.words import TRAINING, plain, quoted, short, unit_name
from lawsmith.formats import count, number, scientific
from lawsmith.laws.diagnostics import Diagnostic

if TYPE_CHECKING:
    import pandas as pd

MANY = 5  # rows of one name
MAX_LISTED = 8
LEAST_N = 1e4
LEAST_RATIO = 0.01  # D below N/100
NEAR_6ND = (0.2, 5.0)
_LETTERS = {1e3: "K", 1e6: "M", 1e9: "B", 1e12: "T"}


def table_warnings(
    frame: pd.DataFrame,
    table: Mapping[str, AnyArray],
    schema: Schema,
    others: Others,
) -> list[Diagnostic]:
    """What is to be said of a table before any result.

    frame   the runs in use, and ``table`` their values by role and axis; D may be C/(6N)
    """
    found = _of_scales(table, schema.roles)
    found += [_of_loss(schema), _of_curves(frame, schema, table)]
    if others.axes:
        found.append(_taken(others.axes, frame))
    if others.unused:
        found.append(_not_used(others.unused, {} if schema.guessed else schema.axes))
    return [warning for warning in found if warning is not None]


def _of_loss(schema: Schema) -> Diagnostic | None:
    """A loss that was passed over, or one of training."""
    column = schema.roles["loss"]
    if schema.passed is not None:
        other = schema.passed
        text = f"The loss is {column!r}, not {other!r}. If it should be: --loss {quoted(other)}."
        return Diagnostic("another_loss", text, {"taken": column, "other": schema.passed})
    if set(plain(column).split("_")) & set(TRAINING):
        text = f"The loss is {column!r}, of training. If data repeats, it is too low."
        return Diagnostic("training_loss", text, {"taken": column})
    return None


def _of_curves(
    frame: pd.DataFrame, schema: Schema, table: Mapping[str, AnyArray]
) -> Diagnostic | None:
    """A table with many moments of each run, which are no runs of their own."""
    if not schema.runs or "D" not in table:
        return None
    groups: dict[str, list[float]] = {}
    for name, tokens in zip(cells.texts(frame[schema.runs[0]]), table["D"].tolist(), strict=True):
        groups.setdefault(name, []).append(tokens)
    sizes = [len(moments) for moments in groups.values()]
    apart = all(len(set(moments)) == len(moments) for moments in groups.values())
    if np.median(sizes) < MANY or not apart:
        return None
    text = (
        f"Each of the {len(groups)} names in {schema.runs[0]!r} has many rows of different D. "
        "Losses along runs are no finished runs: keep the last row of each run here, and give "
        "this table as --curves."
    )
    return Diagnostic("rows_along_runs", text, {"column": schema.runs[0]})


def _of_scales(
    table: Mapping[str, AnyArray], columns: Mapping[str, str]
) -> list[Diagnostic | None]:
    """What is odd about N, D and C; ``columns`` are their names in the table."""
    N, D, C = (table.get(role) for role in ("N", "D", "C"))
    if N is None:
        return []
    found = [_small_size(N, columns["N"])]
    if D is not None:
        role = "D" if "D" in columns else "C"
        found.append(_few_tokens(N, D, role, columns[role]))
        if C is not None and role == "D":
            found.append(_not_6ND(C, N, D, columns["C"]))
    return found


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


def _taken(axes: Mapping[str, str], frame: pd.DataFrame) -> Diagnostic:
    items = [f"{axis} ({_levels(frame[column])})" for axis, column in axes.items()]
    what, other = "are taken as axes, because they vary", "For those that do not matter"
    if len(items) == 1:
        what, other = "is taken as an axis, because it varies", "If it does not matter"
    text = f"{_listed(items)} {what}. {other}: --ignore {_flag(axes)}."
    return Diagnostic("taken_as_axis", text, {"columns": ", ".join(axes.values())})


def _not_used(unused: Mapping[str, str], axes: Mapping[str, str]) -> Diagnostic:
    items = [f"{column} ({reason})" for column, reason in unused.items()]
    what, it, they = "vary and are not used", "one", "they do"
    if len(items) == 1:
        what, it, they = "varies and is not used", "it", "it does"
    pairs = {**axes, short(next(iter(unused))): next(iter(unused))}
    flag = ",".join(f"{quoted(axis)}={quoted(column)}" for axis, column in pairs.items())
    text = (
        f"{_listed(items)} {what}: runs that differ in nothing else are averaged. To use {it}: "
        f"--columns {flag}. If {they} not matter: --ignore {_flag(unused)}."
    )
    return Diagnostic("column_not_used", text, {"columns": ", ".join(unused)})


def _levels(column: pd.Series[Any]) -> str:
    levels = list(dict.fromkeys(cells.texts(column)))
    shown = ", ".join(level[:20] for level in levels[:3])
    return f"{shown}, …" if len(levels) > 3 else shown


def _flag(columns: Iterable[str]) -> str:
    return ",".join(map(quoted, columns))


def _listed(items: Sequence[str]) -> str:
    more = len(items) - MAX_LISTED
    if more > 0:
        return f"{', '.join(items[:MAX_LISTED])} and {more} more"
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
