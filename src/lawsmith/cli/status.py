"""`lawsmith status STUDY`: where a live study stands."""

from __future__ import annotations

from typing import Annotated

import typer

from lawsmith.cli.live_params import DEFAULT_FILE, Json, StudyFile, at_least_one


def status(
    study: StudyFile = DEFAULT_FILE,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show it again whenever it changes, until Ctrl-C.")
    ] = False,
    n_next: Annotated[
        int | None,
        typer.Option(
            "--next",
            parser=at_least_one,
            metavar="N",
            help="Proposals shown; 3 by default, none in a large study, where they take a while.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say where a study stands: spend, runs, the law so far with its interval, what comes next."""
    from lawsmith.cli.status_view import print_status, watch_status
    from lawsmith.study import open_study

    opened = open_study(study)
    if watch:
        watch_status(opened, as_json=as_json, n_next=n_next)
    else:
        print_status(opened, as_json=as_json, n_next=n_next)
