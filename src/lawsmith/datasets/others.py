"""The columns of a table that nobody named: settings become axes, and what is not used is said.

A column that varies is one of these. It is a name, a seed or a note on the run (a time, a host); it
follows from the columns in use (the width of each N, steps of D and batch); it is a measurement
(called like one, or another number in most runs); or it is a setting. Settings of few values are
axes, because runs that differ in them must not be averaged. All others are named in a warning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lawsmith.arrays import AnyArray, FloatArray
from lawsmith.datasets import cells, roles, words
from lawsmith.datasets.words import ALIASES, short

if TYPE_CHECKING:
    import pandas as pd

MOST_LEVELS = 12  # a grid has fewer values of one setting; more are measurements or labels
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
    frame: pd.DataFrame, schema: roles.Schema, table: Mapping[str, AnyArray], metrics: Sequence[str]
) -> Others:
    """What becomes of the columns of ``frame`` that nobody named; ``table`` has those in use.

    Settings become axes if the other axes were guessed as well.
    """
    axes: dict[str, str] = {}
    unused: dict[str, str] = {}
    measured: list[str] = []
    known = {name: values for name, values in table.items() if name != "loss"}
    for column in _unnamed(frame, schema, metrics):
        kind = _kind(frame[column], known)
        if kind == "setting" and schema.guessed:
            name = column if short(column) in (*known, "loss") else short(column)
            axes[name] = column
            known[name] = cells.axis(frame[column])[0]  # its twins follow from it
        elif kind == "measured":
            measured.append(column)
        elif kind:
            unused[column] = "other axes were named" if kind == "setting" else kind
    return Others(axes, unused, tuple(measured))


def _unnamed(frame: pd.DataFrame, schema: roles.Schema, metrics: Sequence[str]) -> list[str]:
    """The columns that play no part, and are not ignored."""
    if roles.EVERY in schema.ignored:
        return []
    names = list(map(str, frame.columns))
    skip = {*schema.roles.values(), *schema.axes.values(), *schema.runs, *metrics, *schema.ignored}
    skip |= {
        roles.state_column(frame),
        *(roles.find_column(role, names, "") for role in ("parent", "branch_at")),
    }
    # A second copy of a role (a rounded N, another count of compute) is no setting.
    copies = {c for c in names for role in roles.ROLES if roles.plays(role, c, ALIASES[role])}
    free = [name for name in names if name not in skip | copies]
    # Nor is what may be a role that is missing, misspelt: the law will ask for it.
    missed = {roles.closest(role, free) for role in ("N", "D") if role not in schema.roles}
    return [name for name in free if name not in missed]


def _kind(column: pd.Series[Any], used: Mapping[str, AnyArray]) -> str:
    """'setting', 'measured', '' for what needs no warning, or why a setting is not used."""
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
