"""The command line: `lawsmith fit`, `replay`, `demo` and `datasets`.

Nothing heavy is imported before a command runs, so that `lawsmith --help` answers at once.
"""

from __future__ import annotations

from lawsmith.cli.app import main

__all__ = ["main"]
