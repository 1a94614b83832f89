"""A table of finished runs to a Study: the grid of its configurations and the runs on it.

Replicates (repeated configurations) and diverged runs are kept; what was left out is on record.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lawsmith.arrays import saturating
from lawsmith.datasets import cells
from lawsmith.datasets.assemble import assemble
from lawsmith.datasets.records import Branches, ReadOptions, Study
from lawsmith.datasets.run_names import name_text, run_names
from lawsmith.datasets.schema import RUN, Schema, find_column, resolve
from lawsmith.errors import LawsmithError, unknown
from lawsmith.expressions import mask
from lawsmith.grid import AnyArray, BoolArray, FloatArray

if TYPE_CHECKING:
    import pandas as pd


def study_from_frame(
    frame: pd.DataFrame,
    options: ReadOptions | None = None,
    *,
    name: str = "table",
    title: str | None = None,
) -> Study:
    """The study in a table with one row per run; ``name`` opens every error message."""
    options = options or ReadOptions()
    frame = frame.set_axis(range(1, len(frame) + 1)).rename(columns=str)
    schema = _resolve(frame, options, source=name)
    kept = _filtered(frame, schema, options, source=name)
    schema = _varying(kept, schema)
    table, faults = _table(kept, schema, options)
    if not options.skip_bad_rows:
        cells.raise_first(faults, source=name)
    good = ~np.isin(kept.index, [fault.row for fault in faults])
    dropped = _largest(table["loss"], good, options, source=name)
    rows = np.flatnonzero(good & ~dropped)
    if not len(rows):
        raise LawsmithError(name, got="no usable run left", want="at least one run")
    clean = {column: values[rows] for column, values in table.items()}
    others = kept.iloc[rows].drop(columns=[*schema.roles.values(), *schema.axes.values()])
    target = _target(kept, schema, options)[rows]
    study = assemble(clean, others, target, options, name=name)
    log = replace(
        study.log,
        n_rows=len(frame),
        n_filtered=len(frame) - len(kept),
        bad=tuple(faults),
        dropped=tuple(kept.index[dropped].tolist()),
    )
    columns = {**schema.roles, **schema.axes}
    column, named = run_names(kept.iloc[rows], schema.runs, told=RUN in options.columns)
    if column is not None:
        columns[RUN] = column
    branches = _branches(kept.iloc[rows], source=name)
    metrics = _metrics(kept.iloc[rows], options, source=name)
    study = replace(study, columns=columns, run_names=named, branches=branches, metrics=metrics)
    return replace(study, title=title or name, log=log)


def _metrics(frame: pd.DataFrame, options: ReadOptions, *, source: str) -> dict[str, FloatArray]:
    """The further columns asked for; a cell that is no number is refused."""
    found = {}
    for column in options.metrics:
        if column not in frame.columns:
            raise unknown(f"{source}: metric", column, list(frame.columns))
        found[column], faults = cells.metric(frame[column])
        cells.raise_first(faults, source=source)
    return found


def _branches(frame: pd.DataFrame, *, source: str) -> Branches | None:
    """What the columns 'parent' and 'branch_at' say; None where there is neither."""
    names = list(frame.columns)
    parent, at = (find_column(role, names, source) for role in ("parent", "branch_at"))
    if parent is None and at is None:
        return None
    tokens: FloatArray = np.full(len(frame), np.nan)
    faults: list[cells.Fault] = []
    if at is not None:
        tokens, faults = cells.optional(frame[at])
    named: tuple[str, ...] = ()
    if parent is not None:
        gone = frame[parent].isna()
        pairs = zip(gone, frame[parent], strict=True)
        named = tuple("" if missing else name_text(value) for missing, value in pairs)
    return Branches(named, tokens, tuple(faults))


def _resolve(frame: pd.DataFrame, options: ReadOptions, *, source: str) -> Schema:
    """The schema, with a compute column named by the options."""
    asked = dict(options.columns)
    if options.compute not in ("auto", "6ND"):
        if options.compute not in frame.columns:
            raise unknown(f"{source}: compute", options.compute, ["auto", "6ND", *frame.columns])
        asked["C"] = options.compute
    schema = resolve(list(frame.columns), asked, source=source)
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
    axes = {a: c for a, c in schema.axes.items() if cells.is_varying_number(frame[c])}
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
        N, D = (cells.positive(frame[schema.roles[role]])[0] for role in ("N", "D"))
        columns["C"] = 6.0 * N * D
    return {**columns, **{str(name): frame[name].to_numpy() for name in frame.columns}}


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
            table[role], found = cells.positive(frame[column])
        faults += found
    for axis, column in schema.axes.items():
        table[axis], found = cells.axis(frame[column])
        faults += found
    return table, faults


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
