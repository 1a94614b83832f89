"""`lawsmith exclude STUDY`: leave candidates alone, or take a result back, on record."""

from __future__ import annotations

from typing import Annotated

import typer

from lawsmith.cli.live_params import DEFAULT_FILE, Because, StudyFile


def exclude(
    study: StudyFile = DEFAULT_FILE,
    where: Annotated[
        str | None,
        typer.Option(metavar="EXPR", help="Candidates to be left alone: batch == 512 and N > 1e9"),
    ] = None,
    trial: Annotated[
        list[str] | None,
        typer.Option(metavar="t0004", help="Trials whose results are not to be used."),
    ] = None,
    because: Because = "",
) -> None:
    """Drop candidates in the middle of a study, or results that turned out wrong.

    For example: lawsmith exclude study.toml --where "batch == 512" --because "out of memory"
    """
    from lawsmith.errors import LawsmithError
    from lawsmith.study.changing import exclude as leave_alone
    from lawsmith.study.changing import take_back
    from lawsmith.study.live import open_study

    if (where is None) == (not trial):
        got = "neither" if where is None else "both"
        raise LawsmithError("exclude", got=got, want="--where or --trial")
    opened = open_study(study)
    opened.begin()
    if where is not None:
        n = leave_alone(opened, where, because=because)
        typer.echo(f"{n} of {len(opened.grid)} candidates excluded")
    else:
        events = take_back(opened, trial or (), because=because or "excluded by hand")
        typer.echo(f"{len(events)} results taken back")
