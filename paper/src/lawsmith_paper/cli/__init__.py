"""The command `lawsmith-paper`."""

from __future__ import annotations

from collections.abc import Sequence


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line with ``args`` (those of the process by default); its exit code."""
    from lawsmith.cli.app import run_app
    from lawsmith_paper.cli.app import app

    return run_app(app, "lawsmith-paper", args)
