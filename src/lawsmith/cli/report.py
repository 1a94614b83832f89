"""`lawsmith report SOURCE`: a table, a replay or a live study as one page to look at and send."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lawsmith.cli import params

SourceName = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        show_default=False,
        help="A table of runs, the name of a published study, the folder of a replay "
        "(lawsmith replay --out), or a live study (its file or its folder).",
    ),
]
Out = Annotated[
    Path,
    typer.Option("--out", "-o", metavar="FILE", help="The page to write.", dir_okay=False),
]


def report(
    context: typer.Context,
    source: SourceName,
    out: Out = Path("report.html"),
    columns: params.Columns = None,
    where: params.Where = None,
    drop_largest_loss: params.DropLargestLoss = 0,
    diverged_above: params.DivergedAbove = None,
    skip_bad_rows: params.SkipBadRows = False,
    compute: params.Compute = "auto",
    hold_out: params.HoldOut = None,
    law: params.LawName = None,
    force: params.Force = False,
    seed: params.Seed = 0,
    target: params.Targets = None,
    level: params.Level = 0.95,
) -> None:
    """Make a report: one self-contained page with the answer, the figures and every run.

    For example: lawsmith report oellm-english --target 1e25 -o report.html
    """
    from lawsmith.cli import options as read
    from lawsmith.cli.report_sources import Asked, command_of, make_source, show_report
    from lawsmith.datasets import ReadOptions
    from lawsmith.grid import HeldOut
    from lawsmith.laws.catalogue import get_law
    from lawsmith.report import write_report

    asked = Asked(
        source=source,
        command=command_of(context),
        reading=ReadOptions(
            columns=read.columns(columns or ()),
            where=where,
            drop_largest_loss=drop_largest_loss,
            skip_bad_rows=skip_bad_rows,
            diverged_above=read.diverged_above(diverged_above),
            compute=compute,
        ),
        law=get_law(law) if law else None,
        hold_out=HeldOut.parse(hold_out) if hold_out else None,
        targets=read.targets(target or ()),
        level=read.level(level),
        force=force,
        seed=seed,
    )
    made = make_source(asked)
    show_report(made, write_report(made, out))
