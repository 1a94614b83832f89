"""The commands of live studies: their options and help. What they do is in the modules they import.

Imports stand inside the commands, so that `--help` answers at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from lawsmith.cli import params
from lawsmith.cli.console import INTERRUPTED
from lawsmith.cli.params import Json, whole

StudyFile = Annotated[
    Path,
    typer.Argument(metavar="STUDY", show_default=False, help="Study file. Default: study.toml."),
]
DEFAULT_FILE = Path("study.toml")
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

    check_study(study, as_json=as_json)


def plan(
    study: StudyFile = DEFAULT_FILE,
    draws: Annotated[
        int, typer.Option(parser=at_least_one, metavar="N", help="Simulated studies.")
    ] = 3,
    as_json: Json = False,
) -> None:
    """Simulate a study before paying for it: the interval to expect against the spend."""
    from lawsmith.cli.plan import plan_study

    plan_study(study, draws=draws, as_json=as_json)


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
    from lawsmith.cli.run import run_study
    from lawsmith.cli.status import print_status

    opened, interrupted = run_study(study, quiet=quiet, retry=retry_failed)
    if interrupted:
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

    show = watch_status if watch else print_status
    show(open_study(study), as_json=as_json, n_next=n_next)


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
    from lawsmith.cli.hand import ask_runs

    ask_runs(study, n, as_json=as_json)


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
    from lawsmith.cli.hand import tell_results

    tell_results(study, results, (trial, loss, tokens), metric or (), force=force, as_json=as_json)


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
    from lawsmith.cli.hand import exclude_runs

    exclude_runs(study, where, trial or (), because)


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
    from lawsmith.cli.hand import cancel_runs

    cancel_runs(study, trials or (), everything=everything)


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
    from lawsmith.cli.hand import export_runs

    export_runs(study, out, everything=everything, curves=curves)


@dataclass(frozen=True, kw_only=True)
class ImportRequest(params.TableRequest):
    """What `lawsmith import` is asked."""

    sources: list[str] = params.argument(
        "[STUDY] SOURCE",
        f"Runs: {params.FORMS}. With the file of a live study before it, its candidates "
        "among them are put on record.",
    )
    out: Path | None = params.option(
        None, "FILE.csv", "Write the runs as a plain table.", "--out", "-o"
    )
    curves_out: Path | None = params.option(
        None, "FILE.csv", "Write the losses along the runs, for --curves."
    )
    as_json: bool = params.option(
        None, None, "Print JSON instead of text.", "--json", default=False
    )


@params.takes(ImportRequest)
def import_runs(asked: ImportRequest) -> None:
    """Show what lawsmith understands of runs, before anything is fitted; or import them.

    For example: lawsmith import wandb/ -o runs.csv, or lawsmith import study.toml old-runs.csv
    """
    from lawsmith.cli.import_runs import import_source

    import_source(asked)


# In the order of the help; import, a word of Python, is named where it is added.
COMMANDS = (check, plan, run, status, serve, ask, tell, exclude, cancel, export)
