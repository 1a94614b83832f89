"""What a policy is: a pure function from the history of a study to the rows to run next."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from lawsmith.errors import LawsmithError
from lawsmith.grid import BoolArray, Grid
from lawsmith.runs import Runs
from lawsmith.surrogates.base import Surrogate


class Policy(Protocol):
    """Chooses runs. Pure: the same grid, runs and generator state give the same rows.

    A row that was ever asked, whatever became of it, is not asked again. Fewer than ``n`` rows
    come back when no more are left, and none when the grid is exhausted.
    """

    @property
    def name(self) -> str: ...

    @property
    def surrogate(self) -> Surrogate | None:
        """The model that fantasizes the rest of the grid; None for a policy without one."""
        ...

    def candidates(self, grid: Grid, runs: Runs) -> BoolArray:
        """(m,) the rows among which the next run is chosen; none when the grid is exhausted."""
        ...

    def searching(self, grid: Grid, runs: Runs) -> bool:
        """Whether the initial design, which is one batch, has been asked for in full."""
        ...

    def ask(self, grid: Grid, runs: Runs, n: int, rng: np.random.Generator) -> list[int]: ...


def unasked(grid: Grid, runs: Runs) -> BoolArray:
    """(m,) rows without a run in any state."""
    free = np.ones(len(grid), dtype=np.bool_)
    if len(runs) and runs.index.max() >= len(grid):
        raise LawsmithError("runs", got=f"row {runs.index.max()}", want=f"rows below {len(grid)}")
    free[runs.index] = False
    return free
