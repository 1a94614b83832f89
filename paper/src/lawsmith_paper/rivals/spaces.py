"""An ablation of the window: only the slice that it adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lawsmith.arrays import BoolArray
from lawsmith.grid import Grid
from lawsmith.policies.search import REACH, Window, first_open, highest_reached
from lawsmith.runs import Runs


@dataclass(frozen=True)
class NewSlice:
    """Only what the window adds to what was reached: s_p < s ≤ max(next level, reach·s_p).

    An ablation of the window, which keeps all below. Once the top is reached, it goes on with the
    lowest level that has rows left.
    """

    reach: float | None = REACH
    name: ClassVar[str] = "slice"

    def candidates(self, grid: Grid, runs: Runs, free: BoolArray) -> BoolArray:
        """(m,) free rows of the new slice."""
        window = Window(self.reach)
        reached = highest_reached(grid, runs)
        above = grid.reach_window(reached, window.reach) & np.greater(grid.slicer, reached)
        return first_open(grid, above, free)
