"""A chart that cannot be made of an analysis says why."""

from __future__ import annotations

from lawsmith.errors import LawsmithError


class ChartUnavailable(LawsmithError):
    """The chart cannot be made of this analysis; ``reason`` says why, in one clause."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)
