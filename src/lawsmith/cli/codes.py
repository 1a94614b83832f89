"""What the command line exits with, other than 0."""

from __future__ import annotations

CLOSED_PIPE, BAD_INPUT = 1, 2
INTERRUPTED = 130  # as a shell tells a process that Ctrl-C ended
