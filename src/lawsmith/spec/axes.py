"""The values of one axis of a study file: a list, a range spaced in logs or evenly, or categories.

lr = [1e-3, 2e-3, 4e-3]
lr = { from = 1e-4, to = 1e-2, n = 5 }                    spaced in logs
shrink = { from = 0.0, to = 1.0, n = 5, scale = "linear" }
batch = { from = 32, to = 512, n = 5, whole = true }
optimizer = ["adamw", "muon"]
tokens = { per_param = [5, 10, 20, 40] }                  tokens only: D = k·N
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from lawsmith.errors import LawsmithError, suggest
from lawsmith.grid import AxisKind
from lawsmith.numbers import finite, shown
from lawsmith.plausible import SETTING

Value = float | int | str
MAX_VALUES = 10_000
_KEYS = ("values", "from", "to", "n", "scale", "whole", "per_param")


@dataclass(frozen=True)
class AxisValues:
    """The values of an axis and the scale on which they are compared.

    per_param  tokens only: the values are tokens per parameter
    """

    values: tuple[Value, ...]
    kind: AxisKind
    per_param: bool = False


def read_axis(value: object, *, tokens: bool = False) -> AxisValues:
    """The axis written as ``value``; errors say what is wrong within it."""
    if isinstance(value, AxisValues):
        return value
    if isinstance(value, list):
        value = {"values": value}
    if not isinstance(value, dict):
        want = "a list of values, or a range { from = …, to = …, n = … }"
        raise LawsmithError("", got=shown(value), want=want)
    table: dict[str, Any] = dict(value)
    known = _KEYS if tokens else _KEYS[:-1]
    for key in table:
        if key not in known:
            hint = suggest(str(key), known)
            raise LawsmithError(
                str(key), got="an unknown key", want="one of " + ", ".join(known), hint=hint
            )
    axis = _from_table(table)
    if tokens and (axis.kind == "categorical" or min(cast(Sequence[float], axis.values)) <= 0):
        raise LawsmithError("", got=shown(list(axis.values)), want="numbers above 0")
    return axis


def _from_table(table: dict[str, Any]) -> AxisValues:
    ways = [key for key in ("values", "per_param", "from") if key in table]
    if len(ways) != 1:
        want = "one of values, per_param, or from, to and n"
        raise LawsmithError("", got=" and ".join(ways) or "nothing", want=want)
    if ways == ["from"]:
        return _range(table)
    allowed = {*ways, "scale"}
    for key in table:
        if key not in allowed:
            raise LawsmithError(key, got="a key of a range", want=f"none beside {ways[0]}")
    values = _values(table[ways[0]], ways[0])
    return AxisValues(values, _kind(values, table.get("scale")), per_param=ways == ["per_param"])


def _values(listed: object, key: str) -> tuple[Value, ...]:
    if not isinstance(listed, list) or not listed:
        raise LawsmithError(key, got=shown(listed), want="a list of numbers, or of text")
    if len(listed) > MAX_VALUES:
        raise LawsmithError(key, got=f"{len(listed)} values", want=f"at most {MAX_VALUES}")
    for value in listed:
        bad = isinstance(value, bool) or not isinstance(value, int | float | str)
        if bad or (isinstance(value, float) and not math.isfinite(value)):
            raise LawsmithError(key, got=shown(value), want="finite numbers, or text")
        if isinstance(value, int) and abs(value) > 2**53:
            raise LawsmithError(key, got=shown(value), want="numbers below 9e15")
        if isinstance(value, int | float) and not SETTING.hold(value):
            raise LawsmithError(key, got=shown(value), want=SETTING.want)
    if len({isinstance(value, str) for value in listed}) > 1:
        raise LawsmithError(key, got=shown(listed), want="numbers alone, or text alone")
    if len(set(listed)) < len(listed):
        raise LawsmithError(key, got=shown(listed), want="each value once")
    return tuple(listed)


def _kind(values: Sequence[Value], scale: object) -> AxisKind:
    if isinstance(values[0], str):
        if scale not in (None, "categorical"):
            raise LawsmithError("scale", got=shown(scale), want="none: text is categorical")
        return "categorical"
    if scale is None:
        return "log" if min(cast(Sequence[float], values)) > 0 else "linear"
    if scale not in ("log", "linear", "categorical"):
        raise LawsmithError("scale", got=shown(scale), want="log, linear or categorical")
    if scale == "log" and min(cast(Sequence[float], values)) <= 0:
        raise LawsmithError("scale", got="log with a value of 0 or less", want="values above 0")
    return scale


def _range(table: dict[str, Any]) -> AxisValues:
    low, high = (_end(table, key) for key in ("from", "to"))
    n, whole = table.get("n"), table.get("whole", False)
    scale: Literal["log", "linear"] = table.get("scale", "log")
    if isinstance(n, bool) or not isinstance(n, int) or not 2 <= n <= MAX_VALUES:
        raise LawsmithError("n", got=shown(n), want=f"a count from 2 to {MAX_VALUES}")
    if not isinstance(whole, bool):
        raise LawsmithError("whole", got=shown(whole), want="true or false")
    if scale not in ("log", "linear"):
        raise LawsmithError("scale", got=shown(scale), want="log or linear")
    if not low < high or (scale == "log" and low <= 0):
        want = "from below to" + (", both above 0 for a log scale" if scale == "log" else "")
        raise LawsmithError("from, to", got=f"{low:g}, {high:g}", want=want)
    spaced = np.geomspace(low, high, n) if scale == "log" else np.linspace(low, high, n)
    # Four digits, as a person would choose them; whole numbers where tokens or batches are meant.
    rounded = [float(f"{x:.4g}") for x in spaced]
    values: list[Value] = [round(x) for x in spaced] if whole else list(rounded)
    if len(set(values)) < n:
        raise LawsmithError("n", got=n, want="fewer values: some are the same once rounded")
    return AxisValues(tuple(values), scale)


def _end(table: dict[str, Any], key: str) -> float:
    value = table.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise LawsmithError(key, got=shown(value), want="a number")
    number = finite(value, where=key)
    if not SETTING.hold(number):
        raise LawsmithError(key, got=shown(value), want=SETTING.want)
    return number
