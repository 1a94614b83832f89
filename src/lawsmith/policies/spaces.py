"""Spaces: where a policy searches, the whole grid or a window that climbs with what was run.

Notation and shapes
    m    candidates (rows) of the grid
    s    (m,) the variable that slices the study (`Grid.slicer`), compute unless said otherwise
    s_p  the highest s among finished runs
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from lawsmith.errors import LawsmithError
from lawsmith.grid import BoolArray, Grid
from lawsmith.runs import Runs, State

REACH = 1.5


class Space(Protocol):
    """The part of a grid that is searched now. Pure: the same grid and runs give the same rows."""

    @property
    def name(self) -> str: ...

    def candidates(self, grid: Grid, runs: Runs, free: BoolArray) -> BoolArray:
        """(m,) those of the rows ``free`` to choose from; none only when none is free."""
        ...


@dataclass(frozen=True)
class Full:
    """The whole grid, at every step."""

    name: ClassVar[str] = "full"

    def candidates(self, grid: Grid, runs: Runs, free: BoolArray) -> BoolArray:
        """(m,) every free row."""
        return free


@dataclass(frozen=True)
class Window:
    """Rows with s ≤ max(next level above s_p, reach·s_p): no run is far beyond what was seen.

    reach  a factor of at least 1; 1 and None both mean the next level only
    """

    reach: float | None = REACH
    name: ClassVar[str] = "window"

    def __post_init__(self) -> None:
        if self.reach is not None and not 1.0 <= self.reach < np.inf:
            want = "a finite factor of at least 1, or none for the next level only"
            raise LawsmithError("reach", got=f"{self.reach:g}", want=want)

    def candidates(self, grid: Grid, runs: Runs, free: BoolArray) -> BoolArray:
        """(m,) free rows of the window; a used-up window moves up to the next level."""
        window = grid.reach_window(highest_reached(grid, runs), self.reach)
        return first_open(grid, window, free)


def highest_reached(grid: Grid, runs: Runs) -> float:
    """s_p: the highest s of a done or diverged run; if none has finished, of any run asked.

    −∞ without runs, so that the level next above it is the first. A pending run does not move
    it: a batch is chosen from one window.
    """
    finished = (runs.state == State.DONE.value) | (runs.state == State.DIVERGED.value)
    rows = runs.index[finished] if finished.any() else runs.index
    return float(grid.slicer[rows].max(initial=-np.inf))


def first_open(grid: Grid, window: BoolArray, free: BoolArray) -> BoolArray:
    """(m,) free rows of the window or, if it has none, of the lowest level that has some."""
    inside = window & free
    if inside.any() or not free.any():
        return inside
    return free & grid.slice(int(grid.level_of[free].min()))
