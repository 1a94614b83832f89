"""The values of one axis of a study file: a list, a range spaced in logs or evenly, or categories.

lr = [1e-3, 2e-3, 4e-3]
lr = { from = 1e-4, to = 1e-2, n = 5 }                    spaced in logs
shrink = { from = 0.0, to = 1.0, n = 5, scale = "linear" }
batch = { from = 32, to = 512, n = 5, whole = true }
optimizer = ["adamw", "muon"]
tokens = { per_param = [5, 10, 20, 40] }                  tokens only: D = k·N
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, cast

import numpy as np
from pydantic import AfterValidator, Field

from lawsmith.arrays import as_column
from lawsmith.errors import LawsmithError
from lawsmith.grid import AxisKind, axis_kind
from lawsmith.numbers import as_finite, short_repr
from lawsmith.plausible import SETTING
from lawsmith.spec.reading import Table, read_table, within

Value = float | int | str
MAX_VALUES = 10_000  # of one axis; more is a mistake in the file


@dataclass(frozen=True)
class AxisValues:
    """The values of an axis and the scale on which they are compared.

    per_param  tokens only: the values are tokens per parameter
    """

    values: tuple[Value, ...]
    kind: AxisKind
    per_param: bool = False


class _Range(Table):
    """A range as the file writes it."""

    low: Annotated[float, Field(alias="from"), AfterValidator(within(SETTING))]
    high: Annotated[float, Field(alias="to"), AfterValidator(within(SETTING))]
    n: Annotated[int, Field(ge=2, le=MAX_VALUES)]
    scale: Literal["log", "linear"] = "log"
    whole: bool = False


def read_axis(value: object, *, tokens: bool = False) -> AxisValues:
    """The axis written as ``value``; errors say what is wrong within it."""
    if isinstance(value, AxisValues):
        return value
    table = {"values": value} if isinstance(value, list) else value
    if not isinstance(table, dict):
        want = "a list of values, or a range { from = …, to = …, n = … }"
        raise LawsmithError("", got=short_repr(value), want=want)
    ways = ("values", "per_param", "from") if tokens else ("values", "from")
    given = [way for way in ways if way in table]
    if given == ["from"]:
        return _range(read_table(_Range, table))
    if len(given) != 1:
        want = "one of values, per_param (of tokens), or from, to and n"
        raise LawsmithError("", got=" and ".join(given or table) or "nothing", want=want)
    for key in table:
        if key not in (*given, "scale"):
            raise LawsmithError(key, got=f"a key beside {given[0]}", want="scale, or nothing")
    values = _values(table[given[0]], given[0])
    kind = _kind(values, table.get("scale"))
    if tokens and (kind == "categorical" or min(cast(Sequence[float], values)) <= 0):
        raise LawsmithError("", got=short_repr(list(values)), want="numbers above 0")
    return AxisValues(values, kind, per_param=given == ["per_param"])


def _values(listed: object, key: str) -> tuple[Value, ...]:
    if not isinstance(listed, list) or not listed:
        raise LawsmithError(key, got=short_repr(listed), want="a list of numbers, or of text")
    if len(listed) > MAX_VALUES:
        raise LawsmithError(key, got=f"{len(listed)} values", want=f"at most {MAX_VALUES}")
    for value in listed:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise LawsmithError(key, got=short_repr(value), want="numbers, or text")
        if not isinstance(value, str) and not SETTING.contains(as_finite(value, where=key)):
            raise LawsmithError(key, got=short_repr(value), want=SETTING.want)
        if isinstance(value, int) and abs(value) > 2**53:
            raise LawsmithError(key, got=short_repr(value), want="numbers below 9e15")
    if len({isinstance(value, str) for value in listed}) > 1:
        raise LawsmithError(key, got=short_repr(listed), want="numbers alone, or text alone")
    if len(set(listed)) < len(listed):
        raise LawsmithError(key, got=short_repr(listed), want="each value once")
    return tuple(listed)


def _kind(values: Sequence[Value], scale: object) -> AxisKind:
    """The scale that was asked for, or the usual one of such values."""
    usual = axis_kind(as_column("", values))
    if scale is None:
        return usual
    if scale not in ("log", "linear", "categorical"):
        raise LawsmithError("scale", got=short_repr(scale), want="log, linear or categorical")
    if usual == "categorical" != scale:
        raise LawsmithError("scale", got=short_repr(scale), want="none: text is categorical")
    if scale == "log" != usual:
        raise LawsmithError("scale", got="log with a value of 0 or less", want="values above 0")
    return scale


def _range(spec: _Range) -> AxisValues:
    low, high, n, log = spec.low, spec.high, spec.n, spec.scale == "log"
    if not low < high or (log and low <= 0):
        want = "from below to" + (", both above 0 for a log scale" if log else "")
        raise LawsmithError("from, to", got=f"{low:g}, {high:g}", want=want)
    spaced = np.geomspace(low, high, n) if log else np.linspace(low, high, n)
    # Four digits, as a person would choose them; whole numbers where tokens or batches are meant.
    values: list[Value] = [round(x) if spec.whole else float(f"{x:.4g}") for x in spaced]
    if len(set(values)) < n:
        raise LawsmithError("n", got=n, want="fewer values: some are the same once rounded")
    return AxisValues(tuple(values), spec.scale)
