"""The columns of a table that nobody named: settings become axes, and what is not used is said.

A column that varies is one of these. It is a name, a seed or a note on the run (a time, a host); it
follows from the columns in use (the width of each N, steps of D and batch); it is a measurement
(called like one, or another number in most runs); or it is a setting. Settings of few values are
axes, because runs that differ in them must not be averaged. All others are named in a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lawsmith.arrays import AnyArray, FloatArray
from lawsmith.datasets import cells, words
from lawsmith.datasets.words import quoted, short
from lawsmith.laws.diagnostics import Diagnostic

if TYPE_CHECKING:
    import pandas as pd

EVERY = "*"  # --ignore '*': all columns that are neither told nor well known
MOST_LEVELS = 12
MAX_LISTED = 8
_FOLLOWS = 0.02  # of a logarithm: steps are rounded


@dataclass(frozen=True)
class Others:
    """What became of the columns that nobody named, in the order of the table.

    axes      settings that are taken as axes: name → column
    unused    settings that are not used, each with the reason
    measured  measurements, which nothing is done with
    """

    axes: Mapping[str, str]
    unused: Mapping[str, str]
    measured: tuple[str, ...]


def sort_others(
    frame: pd.DataFrame,
    used: Mapping[str, AnyArray],
    columns: Sequence[str],
    *,
    take: bool,
) -> Others:
    """Sort ``columns`` of ``frame``; ``used`` are the columns in use, without the loss.

    take   whether settings become axes, or are all unused
    """
    axes: dict[str, str] = {}
    unused: dict[str, str] = {}
    measured: list[str] = []
    known = dict(used)
    for column in columns:
        kind = _kind(frame[column], known)
        if kind == "measured":
            measured.append(column)
        elif kind == "setting" and take:
            name = column if short(column) in known else short(column)
            axes[name] = column
            known[name] = cells.axis(frame[column])[0]  # its twins follow from it
        elif kind == "setting":
            unused[column] = "other axes were named"
        elif kind:
            unused[column] = kind
    return Others(axes, unused, tuple(measured))


def _kind(column: pd.Series[Any], used: Mapping[str, AnyArray]) -> str:
    """'setting', 'measured', '' for what need not be told, or why a setting is not used."""
    name = str(column.name)
    values, faults = cells.axis(column)
    texts = cells.texts(column)
    levels = set(texts) - {""}
    blank = texts.count("")
    numeric = values.dtype == np.float64
    if len(levels) < 2 and not (levels and blank):
        return ""
    if words.is_run_name(name) or words.is_seed(name) or words.is_noted(name):
        return ""
    if numeric and words.is_measured(name):
        return "measured"
    if not numeric and len(levels) == len(texts):
        return ""  # a label of each run
    if not blank and _follows(values, used):
        return ""
    if numeric and len(levels) > max(MOST_LEVELS, len(texts) // 2):
        return "measured"
    if blank:
        return f"blank in {blank} of {len(texts)} rows"
    if faults:
        return f"row {faults[0].row}: got {faults[0].got}"
    if len(levels) > max(MOST_LEVELS, len(texts) // 8):
        return f"{len(levels)} values"
    return "setting"


def _follows(values: AnyArray, used: Mapping[str, AnyArray]) -> bool:
    """Whether the values follow from one column in use, or are a product of powers of them.

    D may tell the tokenizer apart without setting it, and most things seem to follow from a column
    of nearly as many values as rows. Then the values must also rise or fall with that column.
    """
    for name, other in used.items():
        pairs = sorted(set(zip(other.tolist(), values.tolist(), strict=True)))
        if len(pairs) != len(set(other.tolist())) or len(pairs) == len(values):
            continue
        along = [value for _, value in pairs]
        strict = (name in ("D", "C") and values.dtype == np.float64) or 2 * len(pairs) > len(values)
        if not strict or along in (sorted(along), sorted(along)[::-1]):
            return True
    if not _has_logs(values):
        return False
    logs = [np.log(other) for other in used.values() if _has_logs(other)]
    design = np.stack([np.ones(len(values)), *logs], axis=1)
    if len(values) < len(logs) + 4:
        return False
    target: FloatArray = np.log(values)
    fit = design @ np.linalg.lstsq(design, target, rcond=None)[0]
    return bool(np.abs(fit - target).max() < _FOLLOWS)


def _has_logs(values: AnyArray) -> bool:
    return values.dtype == np.float64 and bool((np.isfinite(values) & (values > 0.0)).all())


def other_warnings(found: Others, frame: pd.DataFrame, axes: Mapping[str, str]) -> list[Diagnostic]:
    """What is to be said of them, with the flag to type; ``axes`` are those that were told."""
    warnings = []
    if found.axes:
        warnings.append(_taken(found.axes, frame))
    if found.unused:
        warnings.append(_not_used(found.unused, axes))
    return warnings


def _taken(axes: Mapping[str, str], frame: pd.DataFrame) -> Diagnostic:
    told = [f"{axis} ({_levels(frame[column])})" for axis, column in axes.items()]
    what, other = "are taken as axes, because they vary", "For those that do not matter"
    if len(told) == 1:
        what, other = "is taken as an axis, because it varies", "If it does not matter"
    text = f"{_listed(told)} {what}. {other}: --ignore {_flag(axes)}."
    return Diagnostic("taken_as_axis", text, {"columns": ", ".join(axes.values())})


def _not_used(unused: Mapping[str, str], axes: Mapping[str, str]) -> Diagnostic:
    told = [f"{column} ({reason})" for column, reason in unused.items()]
    what, it, they = "vary and are not used", "one", "they do"
    if len(told) == 1:
        what, it, they = "varies and is not used", "it", "it does"
    pairs = {**axes, short(next(iter(unused))): next(iter(unused))}
    flag = ",".join(f"{quoted(axis)}={quoted(column)}" for axis, column in pairs.items())
    text = (
        f"{_listed(told)} {what}: runs that differ in nothing else are averaged. To use {it}: "
        f"--columns {flag}. If {they} not matter: --ignore {_flag(unused)}."
    )
    return Diagnostic("column_not_used", text, {"columns": ", ".join(unused)})


def _levels(column: pd.Series[Any]) -> str:
    levels = list(dict.fromkeys(cells.texts(column)))
    shown = ", ".join(level[:20] for level in levels[:3])
    return f"{shown}, …" if len(levels) > 3 else shown


def _flag(columns: Iterable[str]) -> str:
    return ",".join(map(quoted, columns))


def _listed(told: Sequence[str]) -> str:
    more = len(told) - MAX_LISTED
    if more > 0:
        return f"{', '.join(told[:MAX_LISTED])} and {more} more"
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"
