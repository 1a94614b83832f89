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
    from lawsmith.cli.check import plan_study

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
    as_json: bool = params.flag(None, "--json", "Print JSON instead of text.")


@params.takes(ImportRequest)
def import_runs(asked: ImportRequest) -> None:
    """Show what lawsmith understands of runs, before anything is fitted; or import them.

    For example: lawsmith import wandb/ -o runs.csv, or lawsmith import study.toml old-runs.csv
    """
    from lawsmith.cli.import_runs import import_source

    import_source(asked)
