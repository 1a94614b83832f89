"""Warnings about a table: its loss, rows along runs, extra columns, implausible sizes.

An implausible size most often means that the unit of a column is not stated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np

from lawsmith.arrays import AnyArray, FloatArray, distinct, saturating
from lawsmith.datasets import cells
from lawsmith.datasets.column_names import TRAINING, plain, short, unit_name
from lawsmith.datasets.extra_columns import ExtraColumns
from lawsmith.datasets.roles import Schema
from lawsmith.formats import count, listed, number, scientific
from lawsmith.laws.diagnostics import Diagnostic

if TYPE_CHECKING:
    import pandas as pd

MANY = 5  # rows with one name: repeats with other seeds are fewer
MAX_LISTED = 8  # columns named in one warning
LEAST_N = 1e4  # a tenth of the smallest model of the catalogue
LEAST_RATIO = 0.01  # median D/N; those of the catalogue's studies are 16 to 170
NEAR_6ND = (0.2, 5.0)  # exact FLOPs of tinylm, with attention, are up to 1.5 times 6ND
_LETTERS = {1e3: "K", 1e6: "M", 1e9: "B", 1e12: "T"}


def table_warnings(
    frame: pd.DataFrame, table: Mapping[str, AnyArray], schema: Schema, extra: ExtraColumns
) -> Iterator[Diagnostic]:
    """The warnings to show before any result.

    frame   the runs in use; ``table`` has their values by role and axis. D may be C/(6N)
    """
    yield from _scale_warnings(table, schema.roles)
    yield from _loss_warnings(schema)
    if schema.runs and "D" in table:
        yield from _curve_warnings(frame[schema.runs[0]], table["D"])
    if extra.axes:
        yield _taken_as_axis(extra.axes, frame)
    if extra.unused:
        yield _not_used(extra.unused, {} if schema.guessed else schema.axes)


def _loss_warnings(schema: Schema) -> Iterator[Diagnostic]:
    """Another column may be the intended loss, or the loss is a training loss."""
    column, other = schema.roles["loss"], schema.other_loss
    if other is not None:
        text = f"The loss is {column!r}, not {other!r}. If it should be: --loss {quote(other)}."
        yield Diagnostic("another_loss", text, {"taken": column, "other": other})
    elif set(plain(column).split("_")) & set(TRAINING):
        text = f"The loss is {column!r}, of training. If data repeats, it is too low."
        yield Diagnostic("training_loss", text, {"taken": column})


def _curve_warnings(column: pd.Series[Any], D: FloatArray) -> Iterator[Diagnostic]:
    """The rows are points along runs, not finished runs."""
    runs, names = cells.factorize(column)
    sizes = np.bincount(runs + 1)  # the first is of rows without a name
    if np.median(sizes[sizes > 0]) >= MANY and len(distinct({"run": runs, "D": D})[0]) == len(D):
        text = (
            f"Each of the {len(names)} names in {str(column.name)!r} has many rows of different D. "
            "Losses along runs are no finished runs: keep the last row of each run here, and give "
            "this table as --curves."
        )
        yield Diagnostic("rows_along_runs", text, {"column": str(column.name)})


@saturating
def _scale_warnings(table: Mapping[str, AnyArray], columns: Mapping[str, str]) -> list[Diagnostic]:
    """Implausible N, D or C; ``columns`` are their names in the table."""
    N, D, C = (table.get(role) for role in ("N", "D", "C"))
    if N is None:
        return []
    warnings = _small_size(N, columns["N"])
    if D is not None:
        warnings += _few_tokens(N, D, columns)
    if D is not None and C is not None and "D" in columns:
        warnings += _not_6ND(C, N, D, columns["C"])
    return warnings


def _small_size(N: FloatArray, column: str) -> list[Diagnostic]:
    low, high = float(N.min()), float(N.max())
    fractional = low < 1e6 and bool((N % 1.0 != 0.0).any())
    if low >= LEAST_N and not fractional:
        return []
    factor = 1e9 if high < 100.0 else 1e6 if high < 1e6 else None
    text = f"N is {_range(N)}, too small for a count of parameters"
    return [_warning(text, "N", column, factor)]


def _few_tokens(N: FloatArray, D: FloatArray, columns: Mapping[str, str]) -> list[Diagnostic]:
    """Far too few tokens for the size of the models, by D or else by C."""
    ratio = float(np.median(D / N))
    if ratio >= LEAST_RATIO or float(N.min()) < LEAST_N:
        return []
    if "D" in columns:
        role, units = "D", [1e3, 1e6, 1e9, 1e12]
        text = f"D is {_range(D)}, less than a hundredth of N"
    else:
        role, units = "C", [1e9, 1e12, 1e15, 1e18, 1e21]
        text = f"C/(6N) is {_range(D)} tokens, less than a hundredth of N: C is not in FLOPs"
    factor = next((unit for unit in units if ratio * unit >= 0.5), None)
    return [_warning(text, role, columns[role], factor)]


def _not_6ND(C: FloatArray, N: FloatArray, D: FloatArray, column: str) -> list[Diagnostic]:
    ratio = float(np.median(C / (6.0 * N * D)))
    if not np.isfinite(ratio) or NEAR_6ND[0] <= ratio <= NEAR_6ND[1]:
        return []
    factor = 10.0 ** round(np.log10(1.0 / ratio)) if ratio < NEAR_6ND[0] else 0.0
    known = factor >= 1e3 and 0.1 < ratio * factor < 10.0
    text, more = f"C is {number(ratio, 2)} times 6ND", "; --compute 6ND counts C as 6ND"
    return [_warning(text, "C", column, factor if known else None, more)]


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


def _taken_as_axis(axes: Mapping[str, str], frame: pd.DataFrame) -> Diagnostic:
    items = [f"{axis} ({_levels(frame[column])})" for axis, column in axes.items()]
    what, other = "are taken as axes, because they vary", "For those that do not matter"
    if len(items) == 1:
        what, other = "is taken as an axis, because it varies", "If it does not matter"
    text = f"{_listed(items)} {what}. {other}: --ignore {','.join(map(quote, axes))}."
    return Diagnostic("taken_as_axis", text, {"columns": ", ".join(axes.values())})


def _not_used(unused: Mapping[str, str], axes: Mapping[str, str]) -> Diagnostic:
    items = [f"{column} ({reason})" for column, reason in unused.items()]
    what, it, they = "vary and are not used", "one", "they do"
    if len(items) == 1:
        what, it, they = "varies and is not used", "it", "it does"
    first = next(iter(unused))
    pairs = {**axes, short(first): first}
    flag = ",".join(f"{quote(axis)}={quote(column)}" for axis, column in pairs.items())
    ignored = ",".join(map(quote, unused))
    text = (
        f"{_listed(items)} {what}: runs that differ in nothing else are averaged. To use {it}: "
        f"--columns {flag}. If {they} not matter: --ignore {ignored}."
    )
    return Diagnostic("column_not_used", text, {"columns": ", ".join(unused)})


def _levels(column: pd.Series[Any]) -> str:
    levels = list(dict.fromkeys(cells.texts(column)))
    shown = ", ".join(level[:20] for level in levels[:3])
    return f"{shown}, …" if len(levels) > 3 else shown


def _listed(items: Sequence[str]) -> str:
    if 1 < len(items) <= MAX_LISTED:
        return f"{', '.join(items[:-1])} and {items[-1]}"
    return listed(items, MAX_LISTED)
