"""Charts of an analysis into a folder, with a spinner on stderr while they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lawsmith.analysis import Analysis, Comparison
from lawsmith.cli.console import working
from lawsmith.errors import LawsmithError


@dataclass(frozen=True)
class Drawn:
    """The files written, and why there is no chart of some names."""

    paths: tuple[Path, ...] = ()
    missing: dict[str, str] = field(default_factory=dict)

    def __add__(self, other: Drawn) -> Drawn:
        return Drawn(self.paths + other.paths, self.missing | other.missing)


def draw(analysis: Analysis, folder: Path, compared: Sequence[Comparison] = ()) -> Drawn:
    """Every chart that the analysis allows."""
    from lawsmith.charts import Unavailable, Written, write_all  # here: altair is slow to import

    try:
        with working(f"Drawing charts into {folder}"):
            results = write_all(analysis, folder, comparisons=compared)
    except OSError as error:
        got = f"{folder}: {error.strerror or error}"
        raise LawsmithError("charts", got=got, want="a folder that can be written") from None
    return Drawn(
        tuple(path for r in results if isinstance(r, Written) for path in r.paths),
        {r.name: r.reason for r in results if isinstance(r, Unavailable)},
    )
