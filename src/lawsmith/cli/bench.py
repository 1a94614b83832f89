"""`lawsmith bench`: list the suites, run some, write the page of what was run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lawsmith.cli.params import Json, whole

app = typer.Typer()


@app.callback(invoke_without_command=True)
def bench(context: typer.Context) -> None:
    """Reproduce the paper: suites of replays that can be stopped and gone on with."""
    if context.invoked_subcommand is None:
        list_()


@app.command("list")
def list_() -> None:
    """List the suites, what each shows and about how long it takes."""
    from lawsmith.cli.bench_view import show_list
    from lawsmith.cli.console import stdout

    show_list(stdout())


@app.command("run")
def run(
    suites: Annotated[
        list[str],
        typer.Argument(
            metavar="SUITE",
            show_default=False,
            help="Their names (lawsmith bench lists them), or paper for all that reproduce it.",
        ),
    ],
    seeds: Annotated[
        int, typer.Option(parser=whole, metavar="N", help="Replays of each method.")
    ] = 10,
    jobs: Annotated[
        int, typer.Option(parser=whole, metavar="N", help="Processes, one thread each.")
    ] = 2,
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Where results go; what is there already is kept."),
    ] = Path("lawsmith-bench"),
    iterations: Annotated[
        int | None,
        typer.Option(
            parser=whole,
            metavar="N",
            help="End each replay after so many runs; by default when its pool is exhausted.",
        ),
    ] = None,
    page: Annotated[bool, typer.Option(help="Also write the page, with its figures.")] = True,
    as_json: Json = False,
) -> None:
    """Run suites, or go on with them: what is finished in DIR is not done again.

    For example: lawsmith bench run main --seeds 2 --iterations 60 --out bench
    """
    from lawsmith.cli.bench_run import Asked, report, run_suites

    done = run_suites(Asked(tuple(suites), seeds, jobs, out, iterations))
    report(done, page=page, as_json=as_json)
    if done.code:
        raise typer.Exit(done.code)


@app.command("page")
def page(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", show_default=False, help="The --out of a run.")
    ],
) -> None:
    """Write one page of all tables and figures of what was run in DIR."""
    from lawsmith.cli.bench_run import write_page
    from lawsmith.cli.console import paths, stdout

    paths(stdout(), [write_page(folder)])
