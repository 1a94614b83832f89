"""`lawsmith import`: what was understood of a source of runs, as a table, or into a live study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lawsmith.cli import params
from lawsmith.cli.live import Json


def import_runs(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="[STUDY] SOURCE",
            show_default=False,
            help=f"Runs: {params.FORMS}. With the file of a live study before it, its candidates "
            "among them are put on record.",
        ),
    ],
    columns: params.Columns = None,
    ignore: params.Ignore = None,
    where: params.Where = None,
    skip_bad_rows: params.SkipBadRows = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE.csv", help="Write the runs as a plain table."),
    ] = None,
    curves_out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="Write the losses along the runs, for --curves."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what lawsmith understands of runs, before anything is fitted; or import them.

    For example: lawsmith import wandb/ -o runs.csv, or lawsmith import study.toml old-runs.csv
    """
    from lawsmith.cli.import_view import into_study, preview
    from lawsmith.cli.options import columns as pairs
    from lawsmith.cli.options import ignored
    from lawsmith.datasets import ReadOptions
    from lawsmith.errors import LawsmithError

    asked = pairs(columns or ())
    if len(sources) > 2:
        got = f"{len(sources)} arguments"
        raise LawsmithError("import", got=got, want="a source, or a study and a source")
    if len(sources) == 2:
        for option, given in {"--out": out, "--curves-out": curves_out, "--ignore": ignore}.items():
            if given:
                raise LawsmithError(option, got="a live study", want="a source alone")
        into_study(Path(sources[0]), sources[1], asked, where, as_json=as_json)
        return
    reading = ReadOptions(
        columns=asked, ignore=ignored(ignore), where=where, skip_bad_rows=skip_bad_rows
    )
    preview(sources[0], reading, out, curves_out, as_json=as_json)
