"""Charts of an analysis into a folder, with a spinner on stderr, and what became of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lawsmith.analysis import Analysis
from lawsmith.cli.console import working
from lawsmith.errors import LawsmithError

if TYPE_CHECKING:
    from lawsmith.charts import ChartResult


def draw(analysis: Analysis, folder: Path) -> tuple[ChartResult, ...]:
    """Every chart that the analysis allows."""
    from lawsmith.charts import write_all  # here: altair takes a second to import

    try:
        with working(f"drawing charts into {folder}"):
            return tuple(write_all(analysis, folder))
    except OSError as error:
        got = f"{folder}: {error.strerror or error}"
        raise LawsmithError("charts", got=got, want="a folder that can be written") from None
