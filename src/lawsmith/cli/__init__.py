"""The command line: `lawsmith fit`, `lawsmith demo`, `lawsmith datasets`.

Nothing heavy is imported before a command runs, so that `lawsmith --help` answers at once.
"""

from __future__ import annotations

from lawsmith.cli.app import main

__all__ = ["main"]
