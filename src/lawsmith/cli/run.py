"""`lawsmith run STUDY`: start a live study, or go on with it."""

from __future__ import annotations

from typing import Annotated

import typer

from lawsmith.cli.codes import INTERRUPTED
from lawsmith.cli.live_params import DEFAULT_FILE, Json, StudyFile


def run(
    study: StudyFile = DEFAULT_FILE,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="No line a run on stderr, only the result.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try failed trials once more.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run a study until its budget is committed or its answer known; Ctrl-C, then run to go on.

    For example: lawsmith run study.toml
    """
    from lawsmith.cli.run_live import drive_study
    from lawsmith.cli.status_view import print_status
    from lawsmith.study import open_study

    opened = open_study(study)
    interrupted = drive_study(opened, quiet=quiet, retry=retry_failed)
    if not interrupted:
        print_status(opened, as_json=as_json, n_next=0)
    else:
        raise typer.Exit(INTERRUPTED)
