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
    ignore: params.Ignore = None,
    where: params.Where = None,
    drop_largest_loss: params.DropLargestLoss = 0,
    diverged_above: params.DivergedAbove = None,
    skip_bad_rows: params.SkipBadRows = False,
    compute: params.Compute = "auto",
    hold_out: params.HoldOut = None,
    curves: params.CurvesFile = None,
    curve_kind: params.CurveKind = None,
    curve_columns: params.CurveColumns = None,
    law: params.LawName = None,
    force: params.Force = False,
    seed: params.Seed = 0,
    target: params.Targets = None,
    at: params.At = None,
    metric: params.Metric = None,
    via: params.Via = None,
    chance: params.Chance = None,
    questions: params.Questions = None,
    level: params.Level = 0.95,
) -> None:
    """Make a report: one self-contained page with the answer, the figures and every run.

    For example: lawsmith report oellm-english --target 1e25 -o report.html
    """
    from lawsmith.cli import options as read
    from lawsmith.cli.report_sources import ReportRequest, command_of, make_source, show_report
    from lawsmith.datasets import ReadOptions
    from lawsmith.grid import HeldOut
    from lawsmith.laws.own import read_law
    from lawsmith.report import write_report

    tasks = read.tasks(metric or (), chance or (), questions or ())
    read.check_via(tasks, via)
    asked = ReportRequest(
        source=source,
        command=command_of(context),
        reading=ReadOptions(
            columns=read.with_loss(read.columns(columns or ()), via),
            metrics=tuple(task.name for task in tasks),
            ignore=read.ignored(ignore),
            where=where,
            drop_largest_loss=drop_largest_loss,
            skip_bad_rows=skip_bad_rows,
            diverged_above=read.diverged_above(diverged_above),
            compute=compute,
        ),
        law=read_law(law) if law else None,
        hold_out=HeldOut.parse(hold_out) if hold_out else None,
        targets=tuple(read.in_order(context.obj or (), ("--target", "--at"))),
        level=read.level(level),
        force=force,
        seed=seed,
        tasks=tuple(tasks),
        via=via or "",
        curves=curves,
        curve_reading=read.curve_options(
            curves, curve_kind, curve_columns or (), skip_bad_rows=skip_bad_rows
        ),
    )
    read.targets(asked.targets)  # a bad one is told before the table is read
    made = make_source(asked)
    show_report(made, write_report(made, out))
