"""Clean columns, one value per run, to configurations, replicates and diverged runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lawsmith.arrays import AnyArray, IntArray, distinct
from lawsmith.datasets.records import ReadOptions
from lawsmith.grid import Grid, axis_kind
from lawsmith.runs import Runs, State

if TYPE_CHECKING:
    import pandas as pd

# Measured compute of two seeds of one run may differ in the last digits; more is another run.
SAME_COMPUTE = 0.01
_MAX_LISTED = 5


@dataclass(frozen=True, eq=False)
class Assembled:
    """Configurations and their runs; of the rows of the table, diverged ones and replicates."""

    grid: Grid
    runs: Runs
    diverged: tuple[int, ...]
    replicates: tuple[tuple[int, ...], ...]
    default_law: str | None
    notes: tuple[str, ...]


def assemble(
    table: Mapping[str, AnyArray], others: pd.DataFrame, options: ReadOptions
) -> Assembled:
    """The configurations of k runs.

    table   loss, N, D, C and axes, (k,) each
    others  the file's other columns, the row numbers of the k runs as index
    """
    inputs = {column: values for column, values in table.items() if column != "loss"}
    notes = []
    # A compute column that was asked for may be any cost; one found as FLOPs is 6ND.
    if options.compute == "auto" and "D" not in inputs and {"N", "C"} <= set(inputs):
        inputs["D"] = inputs["C"] / (6.0 * inputs["N"])
        notes.append("the table has no tokens: D is C/(6N)")
    axes = _axes(inputs)
    first, index = distinct({axis: inputs[axis] for axis in axes})
    columns = {column: values[first] for column, values in inputs.items()}
    kinds = {axis: axis_kind(columns[axis]) for axis in axes}
    compute = "C" if "C" in inputs else "6ND" if {"N", "D"} <= set(inputs) else None
    law = "LC" if compute else "LN" if "N" in inputs else "LD" if "D" in inputs else None
    runs = Runs.from_losses(index, table["loss"], diverged_above=options.diverged_above)
    repeats = _repeats(index)
    if repeats:
        notes.append(_repeat_note(others, repeats))
    rows = others.index.to_numpy()  # an index of pandas takes a hundred times as long to look up
    return Assembled(
        Grid.from_columns(columns, axes=kinds, compute=compute),
        runs,
        tuple(rows[runs.state == State.DIVERGED.value].tolist()),
        tuple(tuple(rows[same].tolist()) for same in repeats),
        law,
        tuple(notes),
    )


def _axes(inputs: Mapping[str, AnyArray]) -> list[str]:
    """The columns that make a configuration: C is one only where nothing else tells runs apart."""
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
    """For each configuration with more than one run, its runs."""
    repeated = np.bincount(index) > 1
    runs = np.flatnonzero(repeated[index])
    order = runs[np.argsort(index[runs], kind="stable")]
    return np.split(order, np.flatnonzero(np.diff(index[order])) + 1) if len(order) else []


def _repeat_note(frame: pd.DataFrame, repeats: Sequence[IntArray]) -> str:
    """How many configurations repeat, and which columns tell their runs apart."""
    runs = np.concatenate(repeats)
    part = frame.iloc[runs].astype(str)
    group = np.repeat(np.arange(len(repeats)), [len(rows) for rows in repeats])
    within = part.groupby(group).nunique().max() > 1
    # A column with another value in every run (a job's name, a loss) says nothing.
    telling = [str(c) for c in part.columns if within[c] and part[c].nunique() < len(part)]
    n = "1 configuration was" if len(repeats) == 1 else f"{len(repeats)} configurations were"
    note = f"{n} run more than once ({len(runs)} runs)"
    if not telling:
        return note
    listed = ", ".join(telling[:_MAX_LISTED])
    return f"{note}; these runs differ in {listed}: an axis if it matters, else replicates"
