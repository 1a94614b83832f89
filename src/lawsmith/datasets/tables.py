"""A table of finished runs to a Study: the grid of its configurations and the runs on it.

Replicates (repeated configurations) and diverged runs are kept; what was left out is on record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lawsmith.arrays import saturating
from lawsmith.datasets import cells
from lawsmith.datasets.assemble import assemble
from lawsmith.datasets.cautions import curve_warnings, loss_warnings, scale_warnings
from lawsmith.datasets.others import EVERY, Others, other_warnings, sort_others
from lawsmith.datasets.records import ReadOptions, Study
from lawsmith.datasets.run_columns import branches, finished, run_names, state_column
from lawsmith.datasets.schema import (
    ROLES,
    RUN,
    Schema,
    closest,
    find_column,
    full_name,
    plays,
    resolve,
)
from lawsmith.datasets.units import unit_name
from lawsmith.datasets.words import ALIASES, short
from lawsmith.errors import LawsmithError, unknown
from lawsmith.expressions import mask
from lawsmith.formats import count
from lawsmith.grid import AnyArray, BoolArray, FloatArray

if TYPE_CHECKING:
    import pandas as pd

MOST_IN_A_UNIT = 1e5  # 100,000 million parameters: the header cannot mean it


def study_from_frame(
    frame: pd.DataFrame,
    options: ReadOptions | None = None,
    *,
    name: str = "table",
    title: str | None = None,
) -> Study:
    """The study in a table with one row per run; ``name`` opens every error message."""
    options = _with_full_names(options or ReadOptions(), [str(c) for c in frame.columns])
    frame, schema = understood(frame, options, source=name)
    kept, unfinished = _finished(frame, schema, options)
    kept = _filtered(kept, schema, options, source=name)
    schema, others = _with_settings(kept, _varying(kept, schema), options)
    table, faults = _table(kept, schema, options)
    if not options.skip_bad_rows:
        cells.raise_first(faults, source=name)
    good = ~np.isin(kept.index, [fault.row for fault in faults])
    dropped = _largest(table["loss"], good, options, source=name)
    rows = np.flatnonzero(good & ~dropped)
    if not len(rows):
        raise LawsmithError(name, got="no usable run left", want="at least one run")
    clean = {column: values[rows] for column, values in table.items()}
    rest = kept.iloc[rows].drop(columns=[*schema.roles.values(), *schema.axes.values()])
    target = _target(kept, schema, options)[rows]
    study, has_D = assemble(clean, rest, target, options, name=name), "D" in clean
    log = replace(
        study.log,
        n_rows=len(frame),
        n_filtered=len(frame) - len(kept) - sum(unfinished.values()),
        unfinished=unfinished,
        bad=tuple(faults),
        dropped=tuple(kept.index[dropped].tolist()),
    )
    columns = {**schema.roles, **schema.axes}
    column, named = run_names(kept.iloc[rows], schema.runs, told=RUN in options.columns)
    if column is not None:
        columns[RUN] = column
    warnings = [
        *scale_warnings(clean, schema.roles, from_compute="D" in study.grid.names and not has_D),
        *loss_warnings(schema),
        *curve_warnings(kept.iloc[rows], schema, clean),
        *other_warnings(others, kept, {a: c for a, c in schema.axes.items() if not schema.guessed}),
    ]
    return replace(
        study,
        title=title or name,
        log=log,
        columns=columns,
        run_names=named,
        branches=branches(kept.iloc[rows], source=name),
        metrics=_metrics(kept.iloc[rows], options, source=name),
        units=dict(schema.units),
        measured=others.measured,
        warnings=() if EVERY in options.ignore else tuple(warnings),
    )


def _with_full_names(options: ReadOptions, names: Sequence[str]) -> ReadOptions:
    """The options with ignored columns as the table calls them: optimizer is config.optimizer."""
    return replace(options, ignore=tuple(full_name(name, names) for name in options.ignore))


@dataclass(frozen=True, eq=False)
class FinishedRows:
    """Runs of a table that are put on a grid of candidates.

    columns   roles and axes by name, and 'row', their numbers in the table
    found     each of them → its column
    """

    columns: Mapping[str, AnyArray]
    found: Mapping[str, str]
    unfinished: Mapping[str, int]


def read_rows(
    frame: pd.DataFrame, options: ReadOptions, axes: Sequence[str], *, source: str
) -> FinishedRows:
    """Finished runs with those of ``axes`` that the table has; a bad size or axis is NaN."""
    asked = dict(options.columns)
    for axis in axes:
        names = [str(name) for name in frame.columns if axis in (str(name), short(str(name)))]
        if axis not in asked and names:
            asked[axis] = axis if axis in names else names[0]
    frame, schema = understood(frame, replace(options, columns=asked), source=source)
    kept, unfinished = _finished(frame, schema, options)
    kept = _filtered(kept, schema, options, source=source)
    loss, bad = cells.numbers(kept[schema.roles["loss"]])
    if bad.any():
        where = f"{source}: row {kept.index[int(np.argmax(bad))]}, loss"
        raise LawsmithError(where, got="text", want="numbers")
    found = {**schema.roles, **{axis: asked[axis] for axis in axes if axis in asked}}
    table: dict[str, AnyArray] = {"loss": loss, "row": kept.index.to_numpy(dtype=np.float64)}
    for role, column in found.items():
        if role in ("N", "D", "C"):
            table[role] = _scale(kept, schema, role)[0]
        elif role != "loss":
            table[role] = cells.axis(kept[column])[0]
    return FinishedRows(table, found, unfinished)


def understood(
    frame: pd.DataFrame, options: ReadOptions, *, source: str
) -> tuple[pd.DataFrame, Schema]:
    """The table with its rows numbered from 1 and without empty ones, and what its columns are."""
    frame = frame.set_axis(range(1, len(frame) + 1)).rename(columns=str)
    if not frame.columns.is_unique:
        twice = str(frame.columns[frame.columns.duplicated()][0])
        want = "distinct column names"
        raise LawsmithError(source, got=f"the column {twice!r} twice", want=want)
    blank = frame.isna().all(axis=1)
    if bool(blank.all()):
        raise LawsmithError(source, got="no row with a value", want="at least one run")
    for column in options.ignore:
        if column != EVERY and column not in frame.columns:
            raise unknown(f"{source}: --ignore", column, list(frame.columns))
    frame = frame[~blank]
    schema = _resolve(frame, options, source=source)
    _check_headers(frame, schema, source=source)
    return frame, schema


def _check_headers(frame: pd.DataFrame, schema: Schema, *, source: str) -> None:
    """A header that says millions above numbers that are counted singly is asked about."""
    for role in schema.by_header:
        unit, column = schema.units[role], schema.roles[role]
        values = cells.positive(frame[column])[0]
        if not np.isfinite(values).any() or np.nanmedian(values) < MOST_IN_A_UNIT:
            continue
        most = count(float(np.nanmax(values)))
        got = f"{column!r}, whose name says {unit_name(unit)}, with values up to {most}"
        flag = f"--columns {role}={column}"
        hint = f"say {flag}:1 if they are counted singly, {flag}:{unit:g} if not"
        raise LawsmithError(f"{source}: {role}", got=got, want="a unit", hint=hint)


def _finished(
    frame: pd.DataFrame, schema: Schema, options: ReadOptions
) -> tuple[pd.DataFrame, dict[str, int]]:
    """The rows whose run finished, and how many of each other state there are."""
    column = state_column(frame)
    told = (*schema.roles.values(), *schema.axes.values(), *options.ignore)
    # A filter that speaks of the state has decided.
    if column is None or column in told or (options.where and column in options.where):
        return frame, {}
    kept, diverged, unfinished = finished(frame[column])
    if diverged.any():
        named = dict.fromkeys((schema.roles["loss"], *options.metrics))
        measures = [column for column in named if column in frame.columns]
        frame = frame.astype(dict.fromkeys(measures, object))
        frame.loc[diverged, measures] = np.nan
    if not kept.any():
        counts = ", ".join(f"{n} {state}" for state, n in unfinished.items())
        hint = f"to fit them all the same: --ignore {column}"
        raise LawsmithError(column, got=f"no finished run ({counts})", want="some", hint=hint)
    return frame[kept], unfinished


def _with_settings(
    frame: pd.DataFrame, schema: Schema, options: ReadOptions
) -> tuple[Schema, Others]:
    """The schema with the settings that nobody named as axes, and what became of other columns."""
    played = {*schema.roles.values(), *schema.axes.values(), *schema.runs, *options.metrics}
    known = {
        find_column(role, list(map(str, frame.columns)), "") for role in ("parent", "branch_at")
    }
    skip = {*played, *known, *options.ignore, state_column(frame)}
    free = [] if EVERY in options.ignore else [c for c in frame.columns if c not in skip]
    # A second copy of a role (a rounded N, another count of compute) is no setting.
    free = [c for c in free if not any(plays(role, c, ALIASES[role]) for role in ROLES)]
    # Nor is what may be a role that is missing, misspelt: the law will ask for it.
    missed = {closest(role, free) for role in ("N", "D") if role not in schema.roles}
    free = [c for c in free if c not in missed]
    table, _ = _table(frame, schema, options)
    used = {name: values for name, values in table.items() if name != "loss"}
    others = sort_others(frame, used, free, take=schema.guessed)
    return replace(schema, axes={**schema.axes, **others.axes}), others


def _metrics(frame: pd.DataFrame, options: ReadOptions, *, source: str) -> dict[str, FloatArray]:
    """The further columns asked for; a cell that is no number is refused."""
    found = {}
    for column in options.metrics:
        if column not in frame.columns:
            raise unknown(f"{source}: metric", column, list(frame.columns))
        found[column], faults = cells.metric(frame[column])
        cells.raise_first(faults, source=source)
    return found


def _resolve(frame: pd.DataFrame, options: ReadOptions, *, source: str) -> Schema:
    """The schema, with a compute column named by the options."""
    asked = dict(options.columns)
    if options.compute not in ("auto", "6ND"):
        if options.compute not in frame.columns:
            raise unknown(f"{source}: compute", options.compute, ["auto", "6ND", *frame.columns])
        asked["C"] = options.compute
    schema = resolve(list(frame.columns), asked, source=source, ignored=options.ignore)
    roles = dict(schema.roles)
    if options.compute == "6ND":
        roles.pop("C", None)
        for role in {"N", "D"} - set(roles):
            raise LawsmithError(f"{source}: compute 6ND", got=f"no {role}", want="N and D")
    return replace(schema, roles=roles)


def _varying(frame: pd.DataFrame, schema: Schema) -> Schema:
    """The schema without the guessed axes that are text or have one value only."""
    if not schema.guessed:
        return schema
    axes = {a: c for a, c in schema.axes.items() if cells.varies(frame[c])}
    return replace(schema, axes=axes)


def _filtered(
    frame: pd.DataFrame, schema: Schema, options: ReadOptions, *, source: str
) -> pd.DataFrame:
    """The rows that --where keeps."""
    if options.where is None:
        return frame
    kept = frame[mask(options.where, _named(frame, schema))]
    if kept.empty:
        got = f"{options.where!r}, which keeps none of {len(frame)} rows"
        raise LawsmithError(f"{source}: --where", got=got, want="some rows")
    return kept


@saturating
def _named(frame: pd.DataFrame, schema: Schema) -> dict[str, AnyArray]:
    """Columns by their names in the file, and by the roles and axes they play; C is 6ND if none."""
    played = {**schema.roles, **schema.axes}
    columns = {role: frame[column].to_numpy() for role, column in played.items()}
    if "C" not in columns and {"N", "D"} <= set(columns):
        N, D = (_scale(frame, schema, role)[0] for role in ("N", "D"))
        columns["C"] = 6.0 * N * D
    for role in ("N", "D", "C"):
        if role in schema.roles:
            columns[role] = _scale(frame, schema, role)[0]
    own = {str(name): frame[name].to_numpy() for name in frame.columns}
    return {**{short(name): values for name, values in own.items()}, **columns, **own}


def _table(
    frame: pd.DataFrame, schema: Schema, options: ReadOptions
) -> tuple[dict[str, AnyArray], list[cells.Fault]]:
    """Columns by role and axis, and the bad cells among them."""
    loss = cells.loss if options.loss_sign == "positive" else cells.signed_loss
    faults: list[cells.Fault] = []
    table: dict[str, AnyArray] = {}
    for role, column in schema.roles.items():
        if role == "loss":
            table[role], found = loss(frame[column], diverged_above=options.diverged_above)
        else:
            table[role], found = _scale(frame, schema, role)
        faults += found
    for axis, column in schema.axes.items():
        table[axis], found = cells.axis(frame[column])
        faults += found
    return table, faults


def _scale(frame: pd.DataFrame, schema: Schema, role: str) -> tuple[FloatArray, list[cells.Fault]]:
    """N, D or C, counted singly."""
    return cells.positive(frame[schema.roles[role]], schema.units.get(role, 1.0))


def _target(frame: pd.DataFrame, schema: Schema, options: ReadOptions) -> BoolArray:
    """The rows of the source's own target region."""
    if options.target is None:
        return np.zeros(len(frame), dtype=np.bool_)
    return mask(options.target, _named(frame, schema))


def _largest(loss: FloatArray, good: BoolArray, options: ReadOptions, *, source: str) -> BoolArray:
    """The K good, done runs of largest loss."""
    done = np.flatnonzero(good & (loss <= options.diverged_above) & np.isfinite(loss))
    k = options.drop_largest_loss
    if k and k >= len(done):
        where = f"{source}: --drop-largest-loss"
        raise LawsmithError(where, got=k, want=f"fewer than the {len(done)} finished runs")
    dropped = np.zeros(len(loss), dtype=np.bool_)
    dropped[done[np.argsort(loss[done], kind="stable")[len(done) - k :]]] = True
    return dropped
