"""What `lawsmith import` shows and writes: a source as it was understood, and what a study took."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import typer

from lawsmith.answer.payload import warning_payload
from lawsmith.cli import console as out
from lawsmith.cli.payload import plain
from lawsmith.cli.study_view import show_study
from lawsmith.datasets import ReadOptions, Study, load
from lawsmith.datasets.readers import read_curve_frame
from lawsmith.files import write_told
from lawsmith.formats import count, number, plural
from lawsmith.runs import State
from lawsmith.spreadsheet import csv_text

MOST_ROWS = 5


def preview(
    source: str,
    reading: ReadOptions,
    runs_file: Path | None,
    curves_file: Path | None,
    *,
    as_json: bool,
) -> None:
    """Read, say what was understood, and write plain tables where they are asked for."""
    with out.downloads() as progress:
        study = load(source, reading, progress=progress)
    written = []
    if runs_file is not None:
        rows = table_rows(study)
        written.append(write_told(runs_file, csv_text(list(rows[0]), rows), where="--out"))
    if curves_file is not None:
        frame = read_curve_frame(source).rename(columns=str)
        moments = [dict(zip(frame.columns, row, strict=True)) for row in frame.to_numpy(object)]
        text = csv_text(list(frame.columns), moments)
        written.append(write_told(curves_file, text, where="--curves-out"))
    if as_json:
        typer.echo(json.dumps(payload(study, written), indent=2, ensure_ascii=False))
        return
    console = out.stdout()
    show_study(console, study, None, 0)
    out.heading(console, "Columns, as they were understood")
    table = out.table("column", "is", "values", words=3)
    for name, column in study.columns.items():
        table.add_row(column, name, _values(study, name))
    out.show(console, table)
    if written:
        out.heading(console, "Written")
        out.paths(console, written)
    else:
        out.heading(console, "Next")
        out.prose(
            console, f"lawsmith fit {source}, or with -o runs.csv write these runs as a table."
        )


def _values(study: Study, name: str) -> str:
    """'7 values, 10M to 1.3B'."""
    if name == "run":
        return f"{plural(len(set(study.run_names)), 'name')}, such as {study.run_names[0]}"
    if name == "loss":
        done = study.runs.of(State.DONE).loss
        ends = (
            f"{number(float(done.min()))} to {number(float(done.max()))}" if len(done) else "none"
        )
        return f"{plural(len(done), 'run')}, {ends}"
    values = study.grid.column(name)
    levels = np.unique(values)
    if values.dtype != np.float64:
        shown = ", ".join(levels[:4].tolist())
        return f"{plural(len(levels), 'level')}: {shown}{', …' if len(levels) > 4 else ''}"
    form = count if name in ("N", "D") else number
    both = dict.fromkeys([form(float(levels[0])), form(float(levels[-1]))])
    return f"{plural(len(levels), 'value')}, {' to '.join(both)}"


def table_rows(study: Study) -> list[dict[str, Any]]:
    """One row a run, under the names that lawsmith knows; a run that diverged has no loss."""
    names = list(study.grid.names)
    rows = []
    for i, row in enumerate(study.runs.index.tolist()):
        run: dict[str, Any] = {"run": study.run_names[i]} if study.run_names else {}
        run |= {name: study.grid.columns[name][row].item() for name in names}
        loss = float(study.runs.loss[i])
        diverged = study.runs.state[i] != State.DONE.value
        rows.append({**run, "loss": "nan" if diverged else loss})
    return rows


def payload(study: Study, written: list[Path]) -> dict[str, Any]:
    """The preview for machines."""
    log = study.log
    made: dict[str, Any] = plain(
        {
            "name": study.name,
            "rows": log.n_rows,
            "runs": study.runs.counts(),
            "not_finished": dict(log.unfinished),
            "configurations": len(study.grid),
            "columns": dict(study.columns),
            "units": dict(study.units),
            "axes": {axis.name: axis.kind for axis in study.grid.axes},
            "measured": list(study.measured),
            "warnings": [warning_payload(w) for w in study.warnings],
            "written": [str(path) for path in written],
        }
    )
    return made


def into_study(
    study: Path, source: str, asked: Mapping[str, str], where: str | None, *, as_json: bool
) -> None:
    """Put past runs on record that are candidates of a live study."""
    from lawsmith.study.importing import import_runs
    from lawsmith.study.live import open_study
    from lawsmith.study.tables import read_columns

    opened = open_study(study)
    metrics = [one.name for one in opened.spec.metric]
    table = read_columns(source, list(opened.spec.axes), asked, where=where, metrics=metrics)
    opened.begin()
    done = import_runs(opened, table, source=Path(source).name or source)
    n_unfinished = sum(table.unfinished.values())
    counts = {"imported": len(done.events), "known": done.known, "strangers": done.strangers}
    if as_json:
        told = {**counts, "not_finished": dict(table.unfinished), "columns": dict(table.found)}
        typer.echo(json.dumps(told, ensure_ascii=False))
        return
    renamed = [f"{role} is '{name}'" for role, name in table.found.items() if role != name]
    if renamed:
        typer.echo(", ".join(renamed))
    typer.echo(
        f"{counts['imported']} imported, {counts['known']} known before, "
        f"{counts['strangers']} of no candidate left out"
        + (f", {n_unfinished} not finished left out" if n_unfinished else "")
    )
