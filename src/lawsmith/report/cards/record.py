"""Cards for reference: the table of all runs, and how to make the report again."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from lawsmith import __version__
from lawsmith.analysis import Analysis
from lawsmith.charts.runs import rounded
from lawsmith.formats import number, plural
from lawsmith.grid import AnyArray, FloatArray, Grid, IntArray
from lawsmith.report import parts
from lawsmith.report.parts import Card, RunColumn, RunTable
from lawsmith.report.source import Source

PACKAGES = ("numpy", "scipy", "pandas", "altair", "vl-convert-python")
Column = Sequence[float | str | None]
FORMS = {"N": "count", "D": "count", "C": "flops"}


def runs(source: Source) -> Card:
    """The table of all runs with their configuration, loss, and distance from the law."""
    n = source.runs.n_runs
    lead = (
        f"{plural(n, 'run')}. Click on the head of a column to sort; the filter takes words and "
        "comparisons."
    )
    part = source.runs if n else parts.Absent("runs", "no run has been made yet")
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
    """The table of runs on the rows ``index`` of ``grid``.

    loss          (k,) of each run, NaN if it has none
    analysis      its law's prediction is beside the loss
    first, last   columns before and after those of the grid, by name
    """
    scale = [name for name in ("N", "D") if name in grid.names]
    names = [*scale, "C", *grid.hp]
    columns = [RunColumn(name, _form(values), values) for name, values in first.items()]
    columns += [_column(name, grid.column(name)[index]) for name in names]
    columns.append(RunColumn("loss", "loss", _plain(loss)))
    if analysis is not None:
        law = analysis.fit.predict(analysis.law.inputs_at(grid, index))
        columns.append(RunColumn("law", "loss", _plain(law)))
        columns.append(RunColumn("above law (%)", "percent", _plain(100 * (loss / law - 1), 4)))
    columns += [RunColumn(name, _form(values), values) for name, values in last.items()]
    return RunTable(tuple(columns))


def _column(name: str, values: AnyArray) -> RunColumn:
    if values.dtype == np.float64:
        return RunColumn(name, FORMS.get(name, "number"), _plain(values))
    return RunColumn(name, "text", [str(value) for value in values])


def _plain(values: FloatArray, digits: int = 6) -> Column:
    """Rounded numbers, None for NaN and inf; whole numbers without a decimal point."""
    return [
        None if not np.isfinite(v) else int(v) if v == int(v) and abs(v) < 1e15 else float(v)
        for v in rounded(values, digits)
    ]


def _form(values: Column) -> str:
    return "text" if any(isinstance(value, str) for value in values) else "number"


def record(source: Source) -> Card:
    """How to make the report again: commands, settings, checksums, versions."""
    recorded = source.record
    shown: list[parts.Part] = [parts.Command(text) for text in recorded.commands]
    if recorded.settings:
        rows = tuple(
            (key.replace("_", " "), _text(value)) for key, value in recorded.settings.items()
        )
        shown.append(parts.Facts(tuple(row for row in rows if row[1])))
    if recorded.files:
        files = tuple((f.name, f.sha256, f"{f.n_bytes:,}") for f in recorded.files)
        shown.append(parts.Listing("files", ("file", "sha256", "bytes"), files, n_words=2))
    else:
        shown.append(parts.Paragraph("No file was read."))
    shown.append(parts.Facts(_versions(recorded.made)))
    return Card(
        "record", "How to reproduce it", "Commands, settings, checksums, versions.", tuple(shown)
    )


def _versions(made: str) -> tuple[tuple[str, str], ...]:
    versions = [("lawsmith", __version__), ("Python", platform.python_version())]
    for name in PACKAGES:
        try:
            versions.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return (*versions, *((("made", made),) if made else ()))


def _text(value: object) -> str:
    """A setting as text; '' if it is not set."""
    match value:
        case None | "" | [] | ():
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return number(value, 6)
        case list() | tuple():
            return ", ".join(_text(item) for item in value)
        case dict():
            return ", ".join(f"{key} = {_text(item)}" for key, item in value.items())
    return str(value)
