"""The commands of live studies: their options and help. What they do is in the modules they import.

Imports stand inside the commands, so that `--help` answers at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lawsmith.cli.codes import INTERRUPTED
from lawsmith.cli.params import whole

StudyFile = Annotated[
    Path,
    typer.Argument(metavar="STUDY", show_default=False, help="Study file. Default: study.toml."),
]
DEFAULT_FILE = Path("study.toml")
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Because = Annotated[
    str, typer.Option(metavar="TEXT", help="Reason, kept in the record.", show_default=False)
]


def at_least_one(text: str) -> int:
    """A whole number from 1."""
    value = whole(text)
    if value < 1:
        raise typer.BadParameter(f"got {text!r}, want a whole number from 1")
    return value


def check(study: StudyFile = DEFAULT_FILE, as_json: Json = False) -> None:
    """Check a study file: its candidates, what the budget buys, and what looks wrong."""
    from lawsmith.cli.check import check_study
    from lawsmith.study import open_study

    check_study(open_study(study), as_json=as_json)


def plan(
    study: StudyFile = DEFAULT_FILE,
    draws: Annotated[
        int, typer.Option(parser=at_least_one, metavar="N", help="Simulated studies.")
    ] = 3,
    as_json: Json = False,
) -> None:
    """Simulate a study before paying for it: the interval to expect against the spend."""
    from lawsmith.cli.plan import run_plan
    from lawsmith.study import open_study

    run_plan(open_study(study), draws=draws, as_json=as_json)


def run(
    study: StudyFile = DEFAULT_FILE,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print only the result, not a line per run.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run failed trials again.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run a study until its budget is spent or its answer known; after Ctrl-C, run it again.

    For example: lawsmith run study.toml
    """
    from lawsmith.cli.run import drive_study
    from lawsmith.cli.status import print_status
    from lawsmith.study import open_study

    opened = open_study(study)
    if drive_study(opened, quiet=quiet, retry=retry_failed):
        raise typer.Exit(INTERRUPTED)
    print_status(opened, as_json=as_json, n_next=0)


def status(
    study: StudyFile = DEFAULT_FILE,
    watch: Annotated[
        bool, typer.Option("--watch", help="Print again whenever something changes, until Ctrl-C.")
    ] = False,
    n_next: Annotated[
        int | None,
        typer.Option(
            "--next",
            parser=at_least_one,
            metavar="N",
            help="How many proposals to show. Default: 3, or none in a large study (slow).",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show where a study stands: spend, runs, the answer with its interval, what comes next."""
    from lawsmith.cli.status import print_status, watch_status
    from lawsmith.study import open_study

    opened = open_study(study)
    if watch:
        watch_status(opened, as_json=as_json, n_next=n_next)
    else:
        print_status(opened, as_json=as_json, n_next=n_next)


def serve(
    study: StudyFile = DEFAULT_FILE,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(parser=whole, metavar="PORT", help="Port; 0 picks a free one.")
    ] = 0,
) -> None:
    """Show a live study in the browser, updated while it runs. Nothing in the study changes."""
    from lawsmith.cli.serve import serve_study

    serve_study(study, host, port)


def ask(
    study: StudyFile = DEFAULT_FILE,
    n: Annotated[
        int, typer.Option("-n", parser=at_least_one, metavar="N", help="Number of runs.")
    ] = 1,
    as_json: Json = False,
) -> None:
    """Ask for runs to do by hand; they stay pending until `lawsmith tell`.

    For example: lawsmith ask study.toml -n 4 --json > round1.json
    """
    from lawsmith.cli.console import print_json
    from lawsmith.errors import LawsmithError
    from lawsmith.study.asking import asked_events, exhausted, propose
    from lawsmith.study.jobs import for_trainer
    from lawsmith.study.live import open_study

    opened = open_study(study)
    opened.begin()
    events = opened.journal.update(
        lambda ledger: asked_events(
            opened, ledger, propose(opened, ledger, n, by="hand"), by="hand"
        )
    )
    if not events:
        reason = exhausted(opened, opened.journal.ledger)
        words = {"budget": "a budget that is committed", "candidates": "no candidate left"}
        raise LawsmithError(str(study), got=words[reason], want="runs to ask for")
    asked = [
        {
            "trial": event["trial"],
            "config": for_trainer(opened, event["config"]),
            "cost": event["cost"],
            "why": event["why"],
            "kind": event.get("kind", "run"),
            "parent": event.get("parent"),
            "branch_at": event.get("branch_at"),
            "save_at": event.get("save_at", []),
        }
        for event in events
    ]
    if as_json:
        print_json(asked)
        return
    for event in asked:
        shown = dict(event["config"])
        if event["kind"] != "run":
            shown |= {name: event[name] for name in ("kind", "parent", "branch_at") if event[name]}
        values = ", ".join(f"{name}={value}" for name, value in shown.items())
        typer.echo(f"{event['trial']}  {values}  ({event['why']})")


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
        str | None, typer.Option(metavar="t0004", help="Trial to report on, without a file.")
    ] = None,
    loss: Annotated[
        str | None, typer.Option(metavar="2.31", help="Its loss; nan where it diverged.")
    ] = None,
    tokens: Annotated[
        str | None,
        typer.Option(metavar="1e9", help="Tokens trained so far: the loss is not final."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=0.61", help="A further number of the run, such as an accuracy."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Take a loss that is far from all others.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Report results of runs that were asked for; a file is recorded as a whole or not at all.

    For example: lawsmith tell study.toml --trial t0004 --loss 2.31
    """
    from lawsmith.cli.console import print_json
    from lawsmith.errors import LawsmithError
    from lawsmith.study.live import open_study
    from lawsmith.study.telling import Told, doubts, metrics_of, number_of, read_results
    from lawsmith.study.telling import tell as record

    if (results is None) == (trial is None):
        got = "neither" if trial is None else "both"
        raise LawsmithError("tell", got=got, want="a file of results, or --trial and --loss")
    if trial is not None and loss is None:
        raise LawsmithError("--loss", got="nothing", want="a number, or nan for a divergence")
    if trial is None and (loss is not None or tokens is not None or metric):
        where = "--loss, --tokens, --metric"
        raise LawsmithError(where, got="a value and a file", want="one of the two")
    opened = open_study(study)
    opened.begin()
    if results is not None:
        given = read_results(results)
    else:
        reached = None if tokens is None else number_of(tokens, where="--tokens")
        if any("=" not in text for text in metric or ()):
            want = "a name and a number, such as arc_easy=0.61"
            raise LawsmithError("--metric", got=repr(metric), want=want)
        pairs = dict(text.rpartition("=")[::2] for text in metric or ())
        further = metrics_of(pairs, where="--metric")
        told = number_of(loss, where="--loss")
        given = [Told(str(trial), told, {}, reached, metrics=further)]
    if not force:
        _ask_back(doubts(opened, given))
    events = record(opened, given)
    if as_json:
        print_json([dict(event) for event in events])
    else:
        known = len(given) - len(events)
        typer.echo(f"{len(events)} told" + (f", {known} known before" if known else ""))


def _ask_back(doubtful: list[str]) -> None:
    """Ask a person whether odd losses are meant; refuse them where there is nobody to ask."""
    import sys

    from lawsmith.errors import LawsmithError

    if not doubtful:
        return
    if sys.stdin.isatty() and sys.stderr.isatty():
        typer.echo("\n".join(doubtful), err=True)
        typer.confirm("Is that right?", abort=True, err=True)
        return
    got, hint = "; ".join(doubtful[:3]), "if it is right: --force; if the run diverged: --loss nan"
    raise LawsmithError("tell", got=got, want="a loss near the others", hint=hint)


def exclude(
    study: StudyFile = DEFAULT_FILE,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="EXPR", help="Exclude candidates where this holds: batch == 512 and N > 1e9"
        ),
    ] = None,
    trial: Annotated[
        list[str] | None,
        typer.Option(metavar="t0004", help="Trials whose results to ignore."),
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


def cancel(
    study: StudyFile,
    trials: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TRIAL]…", show_default=False, help="Names of the trials."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All runs under way, also those asked by hand.")
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
    place = opened.spec.runner
    launched = any(t.by == "run" and t.handle for n in names if (t := ledger.trials.get(n)))
    runner = make_runner(place.kind, place.options, opened.layout.folder) if launched else None
    events = stop(opened, runner, names)
    for event in events:
        typer.echo(f"{event['trial']} {event['event']}")
    if not events:
        typer.echo("nothing was under way" if not names else "still stopping: see lawsmith status")


def export(
    study: StudyFile = DEFAULT_FILE,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="runs.csv or runs.jsonl; CSV on stdout by default."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Include trials without a result.")
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
