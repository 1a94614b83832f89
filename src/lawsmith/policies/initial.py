"""Initial design: the cheap runs with which a study starts, before there is anything to model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawsmith.errors import LawsmithError
from lawsmith.grid import BoolArray, Grid
from lawsmith.policies.base import unasked
from lawsmith.runs import Runs


@dataclass(frozen=True)
class InitialDesign:
    """``n`` runs drawn uniformly from the smallest N over the grid's few smallest D.

    n         configurations asked before the search begins, whatever became of them; 0 for none
    n_tokens  how many of the distinct D of the whole grid count as smallest. The smallest N's own
              may reach far up, and a window opened there would be the whole study.

    It is a function of what was asked so far, so that a study may ask one run at a time, in
    batches, or start from runs of its own.
    """

    n: int = 10
    n_tokens: int = 4

    def __post_init__(self) -> None:
        if self.n < 0:
            raise LawsmithError("n_init", got=self.n, want="0 initial runs or more")
        if self.n_tokens < 1:
            raise LawsmithError("n_tokens", got=self.n_tokens, want="at least 1 value of D")

    def complete(self, grid: Grid, runs: Runs) -> bool:
        """Whether the design has been asked for in full."""
        if self.n > len(grid):
            want = f"at most the {len(grid)} candidates"
            raise LawsmithError("n_init", got=f"{self.n} initial runs", want=want)
        return int((~unasked(grid, runs)).sum()) >= self.n

    def among(self, grid: Grid, free: BoolArray) -> BoolArray:
        """(m,) rows of which the next initial run is one, each as likely.

        The preferred ones of ``free`` or, once they are used up, the cheapest.
        """
        preferred = free & self.preferred(grid)
        if preferred.any():
            return preferred
        cheapest = np.argmin(np.where(free, grid.C, np.inf))
        return free & np.equal(np.arange(len(grid)), cheapest)

    def preferred(self, grid: Grid) -> BoolArray:
        """(m,) rows at the smallest N and one of the grid's smallest D, as far as they exist.

        A study without N or D has its ``n`` cheapest rows instead, with all that cost the same
        as the dearest of them: where every run costs 1, that is the whole grid.
        """
        if "N" in grid.names and "D" in grid.names:
            tokens = np.unique(grid.D)[: self.n_tokens]
            smallest: BoolArray = np.equal(grid.N, grid.N.min()) & np.isin(grid.D, tokens)
            return smallest
        cheapest: BoolArray = np.less_equal(grid.C, np.sort(grid.C)[self.n - 1])
        return cheapest
