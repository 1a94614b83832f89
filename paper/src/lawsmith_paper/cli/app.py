"""`lawsmith-paper`: list the suites, run some, write their page, replay a study with any rival."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lawsmith.cli.params import command, whole
from lawsmith_paper.cli.replay import RivalRequest

app = typer.Typer(
    name="lawsmith-paper",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


app.command("replay")(command(RivalRequest))


@app.callback(invoke_without_command=True)
def lawsmith_paper(context: typer.Context) -> None:
    """Reproduce the paper: suites of replays that can be stopped and resumed."""
    if context.invoked_subcommand is None:
        list_()


@app.command("list")
def list_() -> None:
    """List the suites, what each shows and about how long it takes."""
    from lawsmith_paper.cli.view import show_list

    show_list()


@app.command("run")
def run(
    suites: Annotated[
        list[str],
        typer.Argument(
            metavar="SUITE",
            show_default=False,
            help="Their names (lawsmith-paper lists them), or paper for all that reproduce it.",
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
    ] = Path("lawsmith-paper-results"),
    iterations: Annotated[
        int | None,
        typer.Option(
            parser=whole,
            metavar="N",
            help="End each replay after so many runs; by default when its pool is exhausted.",
        ),
    ] = None,
    page: Annotated[bool, typer.Option(help="Also write the page, with its figures.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Run suites, or go on with them: what is finished in DIR is not done again.

    For example: lawsmith-paper run main --seeds 2 --iterations 60 --out results
    """
    from lawsmith_paper.cli.run import RunRequest, report, run_suites

    done = run_suites(RunRequest(tuple(suites), seeds, jobs, out, iterations))
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
    from lawsmith.cli.console import paths
    from lawsmith_paper.cli.run import write_page

    paths([write_page(folder)])
