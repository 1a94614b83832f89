"""A table of finished runs to a Study: the grid of its configurations and the runs on it.

Replicates (repeated configurations) and diverged runs are kept; what was left out is on record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from lawsmith.arrays import distinct, saturating
from lawsmith.datasets import cells, roles
from lawsmith.datasets.cautions import table_warnings
from lawsmith.datasets.column_names import short
from lawsmith.datasets.extra_columns import ExtraColumns, sort_extra_columns
from lawsmith.datasets.records import ReadLog, ReadOptions, Study
from lawsmith.errors import LawsmithError, unknown
from lawsmith.expressions import mask
from lawsmith.grid import AnyArray, BoolArray, FloatArray, Grid, IntArray, axis_kind
from lawsmith.plausible import SCALE
from lawsmith.runs import Runs, State

if TYPE_CHECKING:
    import pandas as pd

# Measured compute of two seeds of one configuration may differ a little; more is another run.
SAME_COMPUTE = 0.01
_MAX_LISTED = 5  # columns named in a note


def study_from_frame(
    frame: pd.DataFrame,
    options: ReadOptions | None = None,
    *,
    name: str = "table",
    title: str | None = None,
) -> Study:
    """The study in a table with one row per run; ``name`` opens every error message."""
    options = options or ReadOptions()
    kept, schema, log = _select_rows(frame, options, source=name)
    table, faults, schema, extra = _values(kept, schema, options)
    if not options.skip_bad_rows:
        cells.raise_first(faults, source=name)
    good = ~np.isin(kept.index, [fault.row for fault in faults])
    dropped = _largest_losses(table["loss"], good, options, source=name)
    rows = np.flatnonzero(good & ~dropped)
    if not len(rows):
        raise LawsmithError(name, got="no usable run left", want="at least one run")
    used, table = kept.iloc[rows], {column: values[rows] for column, values in table.items()}
    grid, index = _grid(table)
    runs = Runs.from_losses(index, table["loss"], diverged_above=options.diverged_above)
    repeats = _repeats(index)
    columns = {**schema.roles, **schema.axes}
    notes = ["the table has no tokens: D is C/(6N)"] if "D" in table and "D" not in columns else []
    if repeats:
        notes.append(_repeat_note(used.drop(columns=[*columns.values()]), repeats))
    target = np.zeros(len(grid), dtype=np.bool_)
    if options.target is not None:
        target[index[_where(options.target, used, schema)]] = True
    warnings = table_warnings(used, table, schema, extra)
    numbers = used.index.to_numpy()  # an index of pandas takes a hundred times as long to look up
    column, run_names = roles.run_names(used, schema.runs, given=roles.RUN in options.columns)
    return Study(
        name=name,
        title=title or name,
        grid=grid,
        runs=runs,
        log=replace(
            log,
            bad=tuple(faults),
            dropped=tuple(kept.index[dropped].tolist()),
            diverged=tuple(numbers[runs.state == State.DIVERGED.value].tolist()),
            replicates=tuple(tuple(numbers[same].tolist()) for same in repeats),
        ),
        target=target,
        default_law=_default_law(table),
        notes=tuple(notes),
        columns=columns if column is None else {**columns, roles.RUN: column},
        run_names=run_names,
        branches=roles.branches(used, source=name),
        metrics=_metrics(used, options, source=name),
        units=dict(schema.units),
        measured=extra.measured,
        warnings=() if roles.EVERY in options.ignore else tuple(warnings),
    )


@dataclass(frozen=True, eq=False)
class FinishedRows:
    """Finished runs of a table, to be matched with the candidates of a live study.

    columns      N, D, loss and axes by the study's names; 'row' counts from 1
    names        each of them → its name in the table
    unfinished   number of runs in each other state, which are left out
    metrics      by name, (k,) numbers of the runs, NaN where a run has none
    """

    columns: Mapping[str, AnyArray]
    names: Mapping[str, str]
    unfinished: Mapping[str, int]
    metrics: Mapping[str, FloatArray] = field(default_factory=dict)


def read_finished_rows(
    frame: pd.DataFrame, options: ReadOptions, axes: Sequence[str], *, source: str
) -> FinishedRows:
    """Finished runs with those of ``axes`` that the table has; a bad size or axis is NaN."""
    given = dict(options.columns)
    for axis in axes:
        names = [str(name) for name in frame.columns if axis in (str(name), short(str(name)))]
        if axis not in given and names:
            given[axis] = axis if axis in names else names[0]
    kept, schema, log = _select_rows(frame, replace(options, columns=given), source=source)
    loss, bad = cells.numbers(kept[schema.roles["loss"]])
    if bad.any():
        where = f"{source}: row {kept.index[int(np.argmax(bad))]}, loss"
        raise LawsmithError(where, got="text", want="numbers")
    used = {**schema.roles, **{axis: schema.axes[axis] for axis in axes if axis in given}}
    table: dict[str, AnyArray] = {"loss": loss, "row": kept.index.to_numpy(dtype=np.float64)}
    for role, column in used.items():
        if role in roles.SCALES:
            table[role] = _scale(kept, schema, role)[0]
        elif role != "loss":
            table[role] = cells.axis(kept[column])[0]
    return FinishedRows(table, used, log.unfinished)


def _select_rows(
    frame: pd.DataFrame, options: ReadOptions, *, source: str
) -> tuple[pd.DataFrame, roles.Schema, ReadLog]:
    """The finished runs that --where keeps, numbered from 1, and what the columns are."""
    frame = cells.number_rows(frame, source=source)
    frame = frame[~frame.isna().all(axis=1)]
    if frame.empty:
        raise LawsmithError(source, got="no row with a value", want="at least one run")
    schema = _resolve(frame, options, source=source)
    roles.check_headers(frame, schema, source=source)
    finished, unfinished = _finished(frame, schema, options)
    kept = finished
    if options.where is not None:
        kept = kept[_where(options.where, kept, schema)]
    if kept.empty:
        got = f"{options.where!r}, which keeps none of {len(finished)} rows"
        raise LawsmithError(f"{source}: --where", got=got, want="some rows")
    return kept, schema, ReadLog(len(frame), len(finished) - len(kept), unfinished)


def _resolve(frame: pd.DataFrame, options: ReadOptions, *, source: str) -> roles.Schema:
    """The schema, with the compute column that the options name."""
    given = dict(options.columns)
    if options.compute not in ("auto", "6ND"):
        if options.compute not in frame.columns:
            raise unknown(f"{source}: compute", options.compute, ["auto", "6ND", *frame.columns])
        given["C"] = options.compute
    names = list(frame.columns)
    schema = roles.resolve(names, given, source=source, ignored=options.ignore)
    if "loss" not in schema.roles:
        raise roles.missing("loss", names, source, "--columns")
    if not {*roles.SCALES} & {*schema.roles} and not {*given} - {*roles.ROLES, roles.RUN}:
        raise roles.missing("N", names, source, "--columns")
    if options.compute != "6ND":
        return schema
    for role in {"N", "D"} - set(schema.roles):
        raise LawsmithError(f"{source}: compute 6ND", got=f"no {role}", want="N and D")
    return replace(schema, roles={role: c for role, c in schema.roles.items() if role != "C"})


def _finished(
    frame: pd.DataFrame, schema: roles.Schema, options: ReadOptions
) -> tuple[pd.DataFrame, dict[str, int]]:
    """The rows of finished runs, and the number of runs in each other state."""
    column = roles.state_column(frame)
    named = (*schema.roles.values(), *schema.axes.values(), *schema.ignored)
    # A filter that mentions the state decides by itself.
    if column is None or column in named or (options.where and column in options.where):
        return frame, {}
    kept, diverged, unfinished = roles.finished(frame[column])
    if not kept.any():
        counts = ", ".join(f"{n} {state}" for state, n in unfinished.items())
        hint = f"to fit them all the same: --ignore {column}"
        raise LawsmithError(column, got=f"no finished run ({counts})", want="some", hint=hint)
    if diverged.any():
        losses = dict.fromkeys((schema.roles["loss"], *options.metrics))
        measures = [name for name in losses if name in frame.columns]
        frame = frame.astype(dict.fromkeys(measures, object))
        frame.loc[diverged, measures] = np.nan
    return frame[kept], unfinished


@saturating
def _where(text: str, frame: pd.DataFrame, schema: roles.Schema) -> BoolArray:
    """The rows for which an expression holds.

    It may name columns as the file does, or by the roles and axes they play; C is 6ND if none.
    """
    columns: dict[str, AnyArray] = {
        role: _scale(frame, schema, role)[0] if role in roles.SCALES else frame[column].to_numpy()
        for role, column in {**schema.roles, **schema.axes}.items()
    }
    if "C" not in columns and {"N", "D"} <= set(columns):
        columns["C"] = 6.0 * columns["N"] * columns["D"]
    own = {str(name): frame[name].to_numpy() for name in frame.columns}
    return mask(text, {**{short(name): v for name, v in own.items()}, **columns, **own})


def _values(
    frame: pd.DataFrame, schema: roles.Schema, options: ReadOptions
) -> tuple[dict[str, AnyArray], list[cells.Fault], roles.Schema, ExtraColumns]:
    """The columns in use by role and axis, their bad cells, the schema with all axes, the rest.

    Guessed axes that do not vary are dropped, and settings among the other columns are added.
    """
    if schema.guessed:
        varying = {axis: c for axis, c in schema.axes.items() if cells.varies(frame[c])}
        schema = replace(schema, axes=varying)
    table: dict[str, AnyArray] = {}
    faults: list[cells.Fault] = []
    signed = options.loss_sign == "any"
    for name, column in {**schema.roles, **schema.axes}.items():
        if name == "loss":
            read = cells.loss(frame[column], diverged_above=options.diverged_above, signed=signed)
        elif name in roles.SCALES:
            read = _scale(frame, schema, name)
        else:
            read = cells.axis(frame[column])
        table[name] = read[0]
        faults += read[1]
    extra = sort_extra_columns(frame, schema, table, options.metrics)
    table |= {axis: cells.axis(frame[column])[0] for axis, column in extra.axes.items()}
    faults += _derive(frame, table, options)
    return table, faults, replace(schema, axes={**schema.axes, **extra.axes}), extra


def _scale(frame: pd.DataFrame, schema: roles.Schema, role: str) -> cells.Read:
    """N, D or C in units of one."""
    return cells.positive(frame[schema.roles[role]], schema.units.get(role, 1.0))


@saturating
def _derive(
    frame: pd.DataFrame, table: dict[str, AnyArray], options: ReadOptions
) -> list[cells.Fault]:
    """Put D = C/(6N) into a table without D; rows where it, or else 6ND, is not plausible."""
    match given := [name for name in roles.SCALES if name in table]:
        case ["N", "D"]:
            formula, values = "C = 6ND", 6.0 * table["N"] * table["D"]
        # A compute column that the user names may be any cost; one found by its name is 6ND.
        case ["N", "C"] if options.compute == "auto":
            formula, values = "D = C/6N", table["C"] / (6.0 * table["N"])
            table["D"] = values
        case _:
            return []
    plausible = [SCALE.contains(table[name]) for name in given]
    bad = np.flatnonzero(np.logical_and.reduce(plausible) & ~SCALE.contains(values)).tolist()
    rows = frame.index
    return [cells.Fault(int(rows[i]), formula, f"{values[i]:g}", SCALE.want) for i in bad]


def _metrics(frame: pd.DataFrame, options: ReadOptions, *, source: str) -> dict[str, FloatArray]:
    """The further columns that the user named; a cell that is not a number is refused."""
    values = {}
    for column in options.metrics:
        if column not in frame.columns:
            raise unknown(f"{source}: metric", column, list(frame.columns))
        values[column], faults = cells.metric(frame[column])
        cells.raise_first(faults, source=source)
    return values


def _largest_losses(
    loss: FloatArray, good: BoolArray, options: ReadOptions, *, source: str
) -> BoolArray:
    """The K finished runs with the largest losses, as a mask."""
    done = np.flatnonzero(good & (loss <= options.diverged_above) & np.isfinite(loss))
    k = options.drop_largest_loss
    if k and k >= len(done):
        where = f"{source}: --drop-largest-loss"
        raise LawsmithError(where, got=k, want=f"fewer than the {len(done)} finished runs")
    dropped = np.zeros(len(loss), dtype=np.bool_)
    dropped[done[np.argsort(loss[done], kind="stable")[len(done) - k :]]] = True
    return dropped


def _default_law(table: Mapping[str, AnyArray]) -> str | None:
    """The law for what the table has: compute, else N or D alone."""
    if "C" in table or {"N", "D"} <= set(table):
        return "LC"
    return "LN" if "N" in table else "LD" if "D" in table else None


def _grid(table: Mapping[str, AnyArray]) -> tuple[Grid, IntArray]:
    """The distinct configurations, and (k,) the configuration of each run."""
    inputs = {column: values for column, values in table.items() if column != "loss"}
    axes = _axes(inputs)
    first, index = distinct({axis: inputs[axis] for axis in axes})
    columns = {column: values[first] for column, values in inputs.items()}
    kinds = {axis: axis_kind(columns[axis]) for axis in axes}
    compute = "C" if "C" in inputs else "6ND" if {"N", "D"} <= set(inputs) else None
    return Grid.from_columns(columns, axes=kinds, compute=compute), index


def _axes(inputs: Mapping[str, AnyArray]) -> list[str]:
    """The columns that make a configuration; C only if the others do not determine it."""
    axes = [name for name in inputs if name != "C"]
    if "C" not in inputs:
        return axes
    if not axes:
        return ["C"]
    _, index = distinct({axis: inputs[axis] for axis in axes})
    low, high = np.full(index.max() + 1, np.inf), np.zeros(index.max() + 1)
    np.minimum.at(low, index, inputs["C"])
    np.maximum.at(high, index, inputs["C"])
    return axes if bool((high <= (1.0 + SAME_COMPUTE) * low).all()) else ["C", *axes]


def _repeats(index: IntArray) -> list[IntArray]:
    """The runs of each configuration that has more than one."""
    repeated = np.bincount(index) > 1
    runs = np.flatnonzero(repeated[index])
    order = runs[np.argsort(index[runs], kind="stable")]
    return np.split(order, np.flatnonzero(np.diff(index[order])) + 1) if len(order) else []


def _repeat_note(others: pd.DataFrame, repeats: Sequence[IntArray]) -> str:
    """How many configurations repeat, and in which ``others`` their runs differ."""
    runs = np.concatenate(repeats)
    part = others.iloc[runs].astype(str)
    group = np.repeat(np.arange(len(repeats)), [len(rows) for rows in repeats])
    within = part.groupby(group).nunique().max() > 1
    # A column with another value in every run (a job's name, a loss) is no explanation.
    differing = [str(c) for c in part.columns if within[c] and part[c].nunique() < len(part)]
    n = "1 configuration was" if len(repeats) == 1 else f"{len(repeats)} configurations were"
    note = f"{n} run more than once ({len(runs)} runs)"
    if not differing:
        return note
    listed = ", ".join(differing[:_MAX_LISTED])
    return f"{note}; these runs differ in {listed}: an axis if it matters, else replicates"
