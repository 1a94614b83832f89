"""`lawsmith export STUDY`: the record as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lawsmith.cli.live_params import DEFAULT_FILE, StudyFile


def export(
    study: StudyFile = DEFAULT_FILE,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="runs.csv or runs.jsonl; CSV on stdout by default."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Trials without a result as well.")
    ] = False,
    curves: Annotated[
        bool, typer.Option("--curves", help="The losses along trunks instead, for fit --curves.")
    ] = False,
) -> None:
    """Write the runs as a table that `lawsmith fit` reads.

    For example: lawsmith export study.toml --out runs.csv; lawsmith fit runs.csv
    """
    from lawsmith.errors import LawsmithError
    from lawsmith.files import write_told
    from lawsmith.study.exporting import csv_text, curve_rows, json_lines, rows_of
    from lawsmith.study.live import open_study

    if out is not None and out.suffix not in (".csv", ".jsonl"):
        raise LawsmithError("--out", got=repr(str(out)), want="a name that ends in .csv or .jsonl")
    opened = open_study(study)
    rows = (curve_rows if curves else rows_of)(opened, opened.read())
    write = json_lines if out is not None and out.suffix == ".jsonl" else csv_text
    text = write(rows, finished=not everything and not curves)
    if out is None:
        typer.echo(text, nl=False)
        return
    write_told(out, text, where="--out")
