"""The arguments that the commands of live studies share, as Typer types."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lawsmith.cli.params import whole

StudyFile = Annotated[
    Path,
    typer.Argument(
        metavar="STUDY", show_default=False, help="The study file; study.toml if not given."
    ),
]
DEFAULT_FILE = Path("study.toml")
Json = Annotated[bool, typer.Option("--json", help="JSON instead of text.")]
Because = Annotated[
    str, typer.Option(metavar="TEXT", help="The reason, for the record.", show_default=False)
]


def at_least_one(text: str) -> int:
    """A whole number from 1."""
    value = whole(text)
    if value < 1:
        raise typer.BadParameter(f"got {text!r}, want a whole number from 1")
    return value
