"""Columns without a role: settings become axes, and a warning names those that are not used.

A column that varies is one of four kinds. It is metadata: a name, a seed, a time, a host. Or it
follows from the columns in use: the width from N, the steps from D and batch size. Or it is a
measurement: by its name, or because most runs have different numbers. Or it is a setting. Settings
with few values become axes, because runs that differ in them must not be averaged. A warning names
all other settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lawsmith.arrays import AnyArray, FloatArray
from lawsmith.datasets import cells, column_names, roles

if TYPE_CHECKING:
    import pandas as pd

MOST_LEVELS = 12  # grids rarely have more values of a setting, except those known by name (lr)
_FOLLOWS = 0.02  # largest residual in logs: widths and steps are rounded numbers


@dataclass(frozen=True)
class ExtraColumns:
    """The columns without a role, in the order of the table.

    axes      settings that become axes: name → column
    unused    settings that are not used, each with the reason
    measured  measurements, which are not used
    """

    axes: Mapping[str, str]
    unused: Mapping[str, str]
    measured: tuple[str, ...]


def sort_extra_columns(
    frame: pd.DataFrame, schema: roles.Schema, table: Mapping[str, AnyArray], metrics: Sequence[str]
) -> ExtraColumns:
    """Sort the columns of ``frame`` that have no role; ``table`` has the columns in use.

    Settings become axes only if the user gave no axis.
    """
    axes: dict[str, str] = {}
    unused: dict[str, str] = {}
    measured: list[str] = []
    known = {name: values for name, values in table.items() if name != "loss"}
    for column in _without_role(frame, schema, metrics):
        kind = _kind(frame[column], known)
        if kind == "setting" and schema.guessed:
            short = column_names.short(column)
            name = column if short in (*known, "loss") else short
            axes[name] = column
            known[name] = cells.axis(frame[column])[0]  # its copies follow from it
        elif kind == "measured":
            measured.append(column)
        elif kind:
            unused[column] = "other axes were named" if kind == "setting" else kind
    return ExtraColumns(axes, unused, tuple(measured))


def _without_role(frame: pd.DataFrame, schema: roles.Schema, metrics: Sequence[str]) -> list[str]:
    """The columns that have no role and are not ignored."""
    if roles.EVERY in schema.ignored:
        return []
    names = list(map(str, frame.columns))
    skip: set[str | None] = {*schema.roles.values(), *schema.axes.values(), *schema.ignored}
    skip |= {*schema.runs, *metrics, roles.state_column(frame)}
    skip |= {roles.find_column(role, names, "") for role in ("parent", "branch_at")}
    # A second column for a role (a rounded N, another count of compute) is no setting.
    for role, aliases in column_names.ALIASES.items():
        skip |= {name for name in names if roles.may_be(role, name, aliases)}
    free = [name for name in names if name not in skip]
    # Neither is a column that may be N or D with a misspelt name: an error asks about it.
    misspelt = {roles.closest(role, free) for role in ("N", "D") if role not in schema.roles}
    return [name for name in free if name not in misspelt]


def _kind(column: pd.Series[Any], used: Mapping[str, AnyArray]) -> str:
    """'setting', 'measured', '' if no warning is needed, or the reason why it is not used."""
    name = str(column.name)
    values, faults = cells.axis(column)
    texts = cells.texts(column)
    levels = set(texts) - {""}
    blank = texts.count("")
    numeric = values.dtype == np.float64
    if len(levels) < 2 and not (levels and blank):
        return ""
    known = (*column_names.RUN_NAMES, *column_names.SEEDS)
    if column_names.base_name(name) in known or column_names.is_metadata(name):
        return ""
    if numeric and column_names.is_measurement(name):
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
    """Whether the values follow from one column in use, or from a product of powers of several.

    If D or C, or a column with almost as many values as there are rows, determines the values, this
    may be chance. Then the values must also rise or fall with that column.
    """
    for name, other in used.items():
        pairs = sorted(set(zip(other.tolist(), values.tolist(), strict=True)))
        if len(pairs) != len(set(other.tolist())) or len(pairs) == len(values):
            continue
        along = [value for _, value in pairs]
        strict = (name in ("D", "C") and values.dtype == np.float64) or 2 * len(pairs) > len(values)
        if not strict or along in (sorted(along), sorted(along)[::-1]):
            return True
    logs = [np.log(other) for other in used.values() if _has_logs(other)]
    if not _has_logs(values) or len(values) < len(logs) + 4:
        return False
    design = np.stack([np.ones(len(values)), *logs], axis=1)
    target: FloatArray = np.log(values)
    fit = design @ np.linalg.lstsq(design, target, rcond=None)[0]
    return bool(np.abs(fit - target).max() < _FOLLOWS)


def _has_logs(values: AnyArray) -> bool:
    return values.dtype == np.float64 and bool((np.isfinite(values) & (values > 0.0)).all())
