"""The table of runs, to be sorted and filtered: what each was, its loss, how far from the law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lawsmith.analysis import Analysis
from lawsmith.charts.runs import short
from lawsmith.formats import plural
from lawsmith.grid import AnyArray, FloatArray, Grid, IntArray
from lawsmith.report.parts import Absent, Card, RunColumn, RunTable
from lawsmith.report.source import Source

Column = Sequence[float | str | None]
FORMS = {"N": "count", "D": "count", "C": "flops"}


def runs(source: Source) -> Card:
    """All runs with their configuration, loss, and distance from the law."""
    n = source.runs.n_runs
    lead = (
        f"{plural(n, 'run')}. Click on a column's head to sort by it; the filter takes words and "
        "comparisons."
    )
    part = source.runs if n else Absent("runs", "no run has been made yet")
    return Card("runs", "Every run", lead, (part,))


def run_table(
    grid: Grid,
    index: IntArray,
    loss: FloatArray,
    analysis: Analysis | None,
    *,
    first: Mapping[str, Column],
    last: Mapping[str, Column],
) -> RunTable:
    """One row a run on the rows ``index`` of ``grid``.

    loss          (k,) of each run, NaN where there is none
    analysis      the law whose prediction stands beside the loss
    first, last   columns before and after those of the grid, by name
    """
    scale = [name for name in ("N", "D") if name in grid.names]
    names = [*scale, "C", *grid.hp]
    columns = [RunColumn(name, _form(values), values) for name, values in first.items()]
    columns += [_column(name, grid.column(name)[index]) for name in names]
    columns.append(RunColumn("loss", "loss", _plain(loss)))
    if analysis is not None:
        inputs = {name: grid.numbers(name)[index] for name in analysis.law.inputs}
        law = analysis.fit.predict(inputs)
        columns.append(RunColumn("law", "loss", _plain(law)))
        columns.append(RunColumn("above law (%)", "percent", _plain(100 * (loss / law - 1), 4)))
    columns += [RunColumn(name, _form(values), values) for name, values in last.items()]
    return RunTable(tuple(columns))


def _column(name: str, values: AnyArray) -> RunColumn:
    if values.dtype == np.float64:
        return RunColumn(name, FORMS.get(name, "number"), _plain(values))
    return RunColumn(name, "text", [str(value) for value in values])


def _plain(values: FloatArray, digits: int = 6) -> Column:
    """Numbers of a few digits, None where there is none; whole ones without a point."""
    return [
        None if not np.isfinite(v) else int(v) if v == int(v) and abs(v) < 1e15 else float(v)
        for v in short(values, digits)
    ]


def _form(values: Column) -> str:
    return "text" if any(isinstance(value, str) for value in values) else "number"
