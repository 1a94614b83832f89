"""What a policy is: a pure function from the history of a study to the rows to run next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from lawsmith.costs import Pricing
from lawsmith.errors import LawsmithError
from lawsmith.grid import BoolArray, Grid
from lawsmith.runs import Runs
from lawsmith.surrogates.base import Surrogate


@dataclass(frozen=True)
class Choice:
    """A run to make and why: in words, and by values with their names."""

    row: int
    why: str
    values: Mapping[str, float] = field(default_factory=dict)


class Policy(Protocol):
    """Chooses runs. Pure: the same grid, runs and generator state give the same rows.

    A row that was ever asked, whatever became of it, is not asked again. Fewer than ``n`` rows
    come back when no more are left, and none when the grid is exhausted.

    allowed  (m,) rows that may be asked; all of them by default
    left     FLOPs that may still be spent; a row that costs more is not asked
    """

    @property
    def name(self) -> str: ...

    @property
    def surrogate(self) -> Surrogate | None:
        """The model that predicts the rest of the grid; None for a policy without one."""
        ...

    @property
    def pricing(self) -> Pricing:
        """What a run costs after those before it."""
        ...

    def candidates(self, grid: Grid, runs: Runs) -> BoolArray:
        """(m,) the rows among which the next run is chosen; none when the grid is exhausted."""
        ...

    def searching(self, grid: Grid, runs: Runs) -> bool:
        """Whether the initial design, which is one batch, has been asked for in full."""
        ...

    def choose(
        self,
        grid: Grid,
        runs: Runs,
        n: int,
        rng: np.random.Generator,
        *,
        allowed: BoolArray | None = None,
        left: float | None = None,
    ) -> list[Choice]: ...

    def ask(
        self,
        grid: Grid,
        runs: Runs,
        n: int,
        rng: np.random.Generator,
        *,
        allowed: BoolArray | None = None,
        left: float | None = None,
    ) -> list[int]:
        """The rows of `choose`."""
        ...


def unasked(grid: Grid, runs: Runs) -> BoolArray:
    """(m,) rows without a run in any state."""
    free = np.ones(len(grid), dtype=np.bool_)
    if len(runs) and runs.index.max() >= len(grid):
        raise LawsmithError("runs", got=f"row {runs.index.max()}", want=f"rows below {len(grid)}")
    free[runs.index] = False
    return free
