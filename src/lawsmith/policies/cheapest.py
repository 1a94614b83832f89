"""Cheapest: every run in the order of its cost, the plainest thing one could do with a budget."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawsmith.grid import BoolArray, Grid
from lawsmith.policies.base import unasked
from lawsmith.policies.choosing import in_batches
from lawsmith.runs import Runs
from lawsmith.surrogates.base import Surrogate


@dataclass(frozen=True)
class Cheapest:
    """The cheapest run not made yet; among those that cost the same, any.

    surrogate   fantasizes the other runs, and has no say in the choice
    """

    surrogate: Surrogate | None = None

    @property
    def name(self) -> str:
        return f"cheapest+{self.surrogate.name if self.surrogate else 'none'}"

    def candidates(self, grid: Grid, runs: Runs) -> BoolArray:
        """(m,) rows of least compute among those never asked."""
        free = unasked(grid, runs)
        if not free.any():
            return free
        cheapest: BoolArray = free & np.equal(grid.C, grid.C[free].min())
        return cheapest

    def searching(self, grid: Grid, runs: Runs) -> bool:
        """Always: there is no initial design."""
        return True

    def ask(self, grid: Grid, runs: Runs, n: int, rng: np.random.Generator) -> list[int]:
        """Up to ``n`` distinct rows never asked before, cheapest first."""
        return in_batches(self._next, grid, runs, n, rng)

    def _next(self, grid: Grid, runs: Runs, rng: np.random.Generator) -> int:
        rows = np.flatnonzero(self.candidates(grid, runs))
        return int(rows[rng.integers(len(rows))])
