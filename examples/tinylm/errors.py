"""The one error a user of tinylm can cause, and how a command tells it: one line, exit code 2."""

from __future__ import annotations

import sys
from collections.abc import Callable


class TinylmError(Exception):
    """Bad input or a missing part; the text says what to do."""


def run_command(command: Callable[[], None]) -> None:
    """Run a command's body; a TinylmError ends it with one line on stderr."""
    try:
        command()
    except TinylmError as error:
        print(f"tinylm: {error}", file=sys.stderr)
        sys.exit(2)
