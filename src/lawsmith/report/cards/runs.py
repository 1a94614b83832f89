"""Every run in a table that the reader sorts and filters."""

from __future__ import annotations

from lawsmith.formats import plural
from lawsmith.report.parts import Absent, Card
from lawsmith.report.source import Source


def runs(source: Source) -> Card:
    """All runs with their configuration, loss, and distance from the law."""
    n = source.runs.n_runs
    lead = (
        f"{plural(n, 'run')}. Click on a column's head to sort by it; the filter takes words and "
        "comparisons."
    )
    part = source.runs if n else Absent("runs", "no run has been made yet")
    return Card("runs", "Every run", lead, (part,))
