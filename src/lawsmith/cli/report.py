"""`lawsmith report SOURCE`: a table, a replay or a live study as one page to look at and send."""

from __future__ import annotations

import shlex
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
    given = {**locals(), "table": source}
    from lawsmith.cli.report_sources import make_source, report_request, show_report
    from lawsmith.report import write_report

    made = make_source(report_request(given), command_of(context))
    show_report(made, write_report(made, out))


def command_of(context: typer.Context) -> str:
    """The command line as it was given, options that were left out left out."""
    words = ["lawsmith", str(context.info_name)]
    for param in context.command.params:
        source = context.get_parameter_source(param.name or "")
        if source is None or source.name != "COMMANDLINE":
            continue
        values = context.params[param.name or ""]
        option = [] if param.param_type_name == "argument" else [max(param.opts, key=len)]
        if isinstance(values, bool):
            words += option
            continue
        for value in values if isinstance(values, list | tuple) else [values]:
            words += [*option, short_text(value)]
    return shlex.join(words)


def short_text(value: object) -> str:
    """A value of an option, as short as it can be read back by."""
    match value:
        case float() if float(f"{value:g}") == value:
            return f"{value:g}"
        case dict():
            return ",".join(f"{name}={short_text(item)}" for name, item in value.items())
        case list():
            return ",".join(map(short_text, value))
    return str(value)
