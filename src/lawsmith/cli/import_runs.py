"""`lawsmith import STUDY TABLE`: past runs of the study's candidates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lawsmith.cli.live import Json, StudyFile


def import_runs(
    study: StudyFile,
    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            show_default=False,
            help="A CSV, Parquet or JSON-lines file with one row per run, or a W&B export.",
        ),
    ],
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COLUMN,…", help="Which columns are N, D, loss and the study's axes."
        ),
    ] = None,
    where: Annotated[
        str | None, typer.Option(metavar="EXPR", help="Keep the rows where this holds.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Import past runs that are candidates of the study; known ones are left out.

    For example: lawsmith import study.toml old-runs.csv --columns N=params,loss=val_loss
    """
    import json

    from lawsmith.cli.options import columns as pairs
    from lawsmith.study.importing import import_runs as put_on_record
    from lawsmith.study.live import open_study
    from lawsmith.study.tables import read_columns

    opened = open_study(study)
    rows = read_columns(table, list(opened.spec.axes), pairs(columns or ()), where=where)
    opened.begin()
    done = put_on_record(opened, rows, source=table.name)
    counts = {"imported": len(done.events), "known": done.known, "strangers": done.strangers}
    if as_json:
        typer.echo(json.dumps(counts))
        return
    typer.echo(
        f"{counts['imported']} imported, {counts['known']} known before, "
        f"{counts['strangers']} of no candidate left out"
    )
