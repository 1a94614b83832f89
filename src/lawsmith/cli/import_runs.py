"""`lawsmith import`: show how a source of runs is read, write it, or import it into a study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import typer

from lawsmith.answer.text import warning_payload
from lawsmith.cli import console as out
from lawsmith.cli import options as read
from lawsmith.cli.commands import ImportRequest
from lawsmith.cli.views import show_study, write_rows
from lawsmith.datasets import ReadOptions, Study
from lawsmith.datasets.readers import read_curve_frame
from lawsmith.errors import LawsmithError
from lawsmith.files import write_output
from lawsmith.formats import count, number, plural
from lawsmith.runs import State
from lawsmith.spreadsheet import csv_text
from lawsmith.study import open_study
from lawsmith.study.importing import import_runs, read_columns


def import_source(request: ImportRequest) -> None:
    """Show how a source of runs is read, or import it into a live study."""
    sources, reading = request.sources, read.reading(request)
    if len(sources) > 2:
        got = f"{len(sources)} arguments"
        raise LawsmithError("import", got=got, want="a source, or a study and a source")
    if len(sources) == 1:
        preview(sources[0], reading, request)
        return
    given = {"--out": request.out, "--curves-out": request.curves_out, "--ignore": request.ignore}
    for option, value in given.items():
        if value:
            raise LawsmithError(option, got="a live study", want="a source alone")
    into_study(Path(sources[0]), sources[1], reading, as_json=request.as_json)


def preview(source: str, reading: ReadOptions, request: ImportRequest) -> None:
    """Show how a source is read, and write plain tables if requested."""
    study = read.load_study(source, reading)
    written = []
    if request.out is not None:
        written.append(write_rows(request.out, table_rows(study)))
    if request.curves_out is not None:
        frame = read_curve_frame(source).rename(columns=str).astype(object)
        rows: list[dict[Any, Any]] = frame.to_dict("records")
        text = csv_text(list(frame.columns), rows)
        written.append(write_output(request.curves_out, text, where="--curves-out"))
    if request.as_json:
        out.print_json(payload(study, written))
        return
    show_study(study, None)
    rows_shown = [(column, name, _values(study, name)) for name, column in study.columns.items()]
    title = "Columns, as they were understood"
    out.table(title, ("column", "is", "values"), rows_shown, align="lll")
    out.paths(written, "Written")
    if not written:
        out.heading("Next")
        next_ = f"lawsmith fit {source}, or with -o runs.csv write these runs as a table."
        out.prose(next_)


def _values(study: Study, name: str) -> str:
    """'7 values, 10M to 1.3B'."""
    if name == "run":
        return f"{plural(len(set(study.run_names)), 'name')}, such as {study.run_names[0]}"
    if name == "loss":
        done = study.runs.of(State.DONE).loss
        ends = [number(float(end(done))) for end in (np.min, np.max)] if len(done) else ["none"]
        return f"{plural(len(done), 'run')}, {' to '.join(ends)}"
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
    frame = study.to_frame().astype(object)
    frame.loc[frame["state"] != State.DONE.value, "loss"] = "nan"
    columns = [*(["run"] if study.run_names else []), *study.grid.names, "loss"]
    rows: list[dict[Any, Any]] = frame[columns].to_dict("records")
    return rows


def payload(study: Study, written: list[Path]) -> dict[str, Any]:
    """The preview as JSON."""
    log = study.log
    return {
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
        "written": written,
    }


def into_study(file: Path, source: str, reading: ReadOptions, *, as_json: bool) -> None:
    """Record past runs that are candidates of a live study."""
    study = open_study(file)
    metrics = [one.name for one in study.spec.metric]
    axes, where = list(study.spec.axes), reading.where
    table = read_columns(source, axes, reading.columns, where=where, metrics=metrics)
    study.begin()
    done = import_runs(study, table, source=Path(source).name or source)
    n_unfinished = sum(table.unfinished.values())
    counts = {"imported": len(done.events), "known": done.known, "unmatched": done.unmatched}
    if as_json:
        more = {"not_finished": dict(table.unfinished), "columns": dict(table.names)}
        typer.echo(json.dumps({**counts, **more}, ensure_ascii=False))
        return
    renamed = [f"{role} is '{name}'" for role, name in table.names.items() if role != name]
    if renamed:
        typer.echo(", ".join(renamed))
    typer.echo(
        f"{counts['imported']} imported, {counts['known']} known before, "
        f"{counts['unmatched']} that match no candidate left out"
        + (f", {n_unfinished} not finished left out" if n_unfinished else "")
    )
