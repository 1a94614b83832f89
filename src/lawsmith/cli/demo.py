"""`lawsmith demo`: a synthetic study, its laws with intervals, and the truth it was drawn from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lawsmith.cli.params import whole


def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the table and the charts go.")
    ] = Path("lawsmith-demo"),
    seed: Annotated[
        int, typer.Option(parser=whole, metavar="SEED", help="Of the synthetic runs.")
    ] = 0,
) -> None:
    """See what lawsmith does, on synthetic runs whose law is known.

    Draws a study, fits its laws, compares them with the truth, writes the charts.
    """
    from lawsmith.cli import options
    from lawsmith.cli.console import stdout
    from lawsmith.cli.demo_view import show_demo
    from lawsmith.cli.draw import Drawn, draw
    from lawsmith.cli.truth import demo_cases, write_runs

    folder = options.folder(out, "--out")
    cases = demo_cases(seed)
    table = write_runs(seed, folder)
    drawn = Drawn()
    for case in cases:
        drawn += draw(case.analysis, folder / case.law.name)
    show_demo(stdout(), cases, table, drawn)
