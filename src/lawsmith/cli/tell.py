"""`lawsmith tell STUDY`: results of runs done by hand, one or a file of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lawsmith.cli.live_params import DEFAULT_FILE, Json, StudyFile


def tell(
    study: StudyFile = DEFAULT_FILE,
    results: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RESULTS]",
            show_default=False,
            help="A JSON, JSON-lines or CSV file with trial and loss of each run.",
        ),
    ] = None,
    trial: Annotated[
        str | None, typer.Option(metavar="t0004", help="Which run, where there is no file.")
    ] = None,
    loss: Annotated[
        str | None, typer.Option(metavar="2.31", help="Its loss; nan where it diverged.")
    ] = None,
    tokens: Annotated[
        str | None,
        typer.Option(metavar="1e9", help="After so many tokens: a loss on the way, not final."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Take a loss that is far from all others.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Tell results of runs that were asked for; a file is taken as a whole or not at all.

    For example: lawsmith tell study.toml --trial t0004 --loss 2.31
    """
    import json

    from lawsmith.errors import LawsmithError
    from lawsmith.study.live import open_study
    from lawsmith.study.telling import Told, doubts, number_of, read_results
    from lawsmith.study.telling import tell as put_on_record

    if (results is None) == (trial is None):
        raise LawsmithError("tell", got="neither" if trial is None else "both", want=_WANT)
    if trial is not None and loss is None:
        raise LawsmithError("--loss", got="nothing", want="a number, or nan for a divergence")
    if trial is None and (loss is not None or tokens is not None):
        raise LawsmithError("--loss, --tokens", got="a value and a file", want="one of the two")
    opened = open_study(study)
    opened.begin()
    if results is not None:
        told = read_results(results)
    else:
        reached = None if tokens is None else number_of(tokens, where="--tokens")
        told = [Told(str(trial), number_of(loss, where="--loss"), {}, reached)]
    if not force:
        _ask_back(doubts(opened, told))
    events = put_on_record(opened, told)
    if as_json:
        typer.echo(json.dumps([dict(event) for event in events], indent=2, ensure_ascii=False))
    else:
        known = len(told) - len(events)
        typer.echo(f"{len(events)} told" + (f", {known} known before" if known else ""))


def _ask_back(found: list[str]) -> None:
    """Ask a person whether odd losses are meant; refuse them where there is nobody to ask."""
    import sys

    from lawsmith.errors import LawsmithError

    if not found:
        return
    if sys.stdin.isatty() and sys.stderr.isatty():
        typer.echo("\n".join(found), err=True)
        typer.confirm("Is that right?", abort=True, err=True)
        return
    hint = "if it is right: --force; if the run diverged: --loss nan"
    raise LawsmithError("tell", got="; ".join(found[:3]), want="a loss near the others", hint=hint)


_WANT = "a file of results, or --trial and --loss"
