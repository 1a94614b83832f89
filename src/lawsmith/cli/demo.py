"""`lawsmith demo`: real runs that come with lawsmith, their answer from 2 % of the compute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lawsmith.cli.params import whole


def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the table and the charts.")
    ] = Path("lawsmith-demo"),
    seed: Annotated[int, typer.Option(parser=whole, metavar="SEED", help="Random seed.")] = 0,
) -> None:
    """See what lawsmith does, on real training runs that come with it.

    Chooses runs worth 2 % of the compute, and compares their answer with that of all runs.
    """
    from lawsmith.cli import options
    from lawsmith.cli.demo_run import run_demo, show_demo

    folder = options.folder(out, "--out")
    show_demo(run_demo(seed), folder)
