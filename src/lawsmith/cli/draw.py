"""Charts of an analysis or a replay into a folder, with a spinner on stderr meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lawsmith.analysis import Analysis, Comparison
from lawsmith.cli.console import working
from lawsmith.errors import LawsmithError
from lawsmith.replay import Trace

if TYPE_CHECKING:
    from lawsmith.charts import Unavailable, Written


@dataclass(frozen=True)
class Drawn:
    """The files written, and why there is no chart of some names."""

    paths: tuple[Path, ...] = ()
    missing: dict[str, str] = field(default_factory=dict)

    def __add__(self, other: Drawn) -> Drawn:
        return Drawn(self.paths + other.paths, self.missing | other.missing)


def draw(analysis: Analysis, folder: Path, compared: Sequence[Comparison] = ()) -> Drawn:
    """Every chart that the analysis allows."""
    from lawsmith.charts import write_all  # here: altair is slow to import

    return _drawn(folder, lambda: write_all(analysis, folder, comparisons=compared))


def draw_replay(trace: Trace, folder: Path) -> Drawn:
    """Every chart that the replay allows."""
    from lawsmith.charts import write_replay

    return _drawn(folder, lambda: write_replay(trace, folder))


def _drawn(folder: Path, write: Callable[[], Sequence[Written | Unavailable]]) -> Drawn:
    from lawsmith.charts import Unavailable, Written

    try:
        with working(f"Drawing charts into {folder}"):
            results = write()
    except OSError as error:
        got = f"{folder}: {error.strerror or error}"
        raise LawsmithError("charts", got=got, want="a folder that can be written") from None
    return Drawn(
        tuple(path for r in results if isinstance(r, Written) for path in r.paths),
        {r.name: r.reason for r in results if isinstance(r, Unavailable)},
    )
