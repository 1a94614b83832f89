"""`lawsmith cancel STUDY t0004`: stop runs that are under way."""

from __future__ import annotations

from typing import Annotated

import typer

from lawsmith.cli.live_params import StudyFile


def cancel(
    study: StudyFile,
    trials: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TRIAL]…", show_default=False, help="Their names."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All that are under way, those asked by hand too.")
    ] = False,
) -> None:
    """Stop runs; one that ends before it can be stopped keeps its result.

    For example: lawsmith cancel study.toml t0004 t0007
    """
    from lawsmith.errors import LawsmithError
    from lawsmith.runners import make_runner
    from lawsmith.study.changing import cancel as stop
    from lawsmith.study.live import open_study

    if everything == bool(trials):
        got = "both" if everything else "neither"
        raise LawsmithError("cancel", got=got, want="names of trials, or --all")
    opened = open_study(study)
    ledger = opened.begin()
    names = [trial.name for trial in ledger.open()] if everything else list(trials or ())
    told = opened.spec.runner
    launched = any(t.by == "run" and t.handle for n in names if (t := ledger.trials.get(n)))
    runner = make_runner(told.kind, told.options, opened.layout.folder) if launched else None
    events = stop(opened, runner, names)
    for event in events:
        typer.echo(f"{event['trial']} {event['event']}")
    if not events:
        typer.echo("nothing was under way" if not names else "still stopping: see lawsmith status")
