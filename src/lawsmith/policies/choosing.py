"""What policies share: an initial design before the search, batches run by run, and ties."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lawsmith.errors import LawsmithError
from lawsmith.grid import BoolArray, FloatArray, Grid, IntArray
from lawsmith.policies.base import unasked
from lawsmith.policies.initial import InitialDesign
from lawsmith.runs import Runs, State

# Scores this close, relative to the best, are ties. Candidates that mirror one another have equal
# scores up to rounding, which differs with the number of threads; the choice must not.
TIE = 1e-9


class Designed:
    """A policy that begins with an initial design; `_next` is what is particular to one."""

    initial: InitialDesign

    def candidates(self, grid: Grid, runs: Runs) -> BoolArray:
        """(m,) rows among which the next run is chosen: of the design while it is incomplete."""
        if not self.searching(grid, runs):
            return self.initial.candidates(grid, runs)
        return self.space_candidates(grid, runs)

    def space_candidates(self, grid: Grid, runs: Runs) -> BoolArray:
        """(m,) rows among which the search chooses: all that were never asked."""
        return unasked(grid, runs)

    def searching(self, grid: Grid, runs: Runs) -> bool:
        """Whether the initial design has been asked for in full."""
        return self.initial.complete(grid, runs)

    def ask(self, grid: Grid, runs: Runs, n: int, rng: np.random.Generator) -> list[int]:
        """Up to ``n`` distinct rows never asked before; each is pending when the next is chosen."""
        return in_batches(self._next, grid, runs, n, rng)

    def _next(self, grid: Grid, runs: Runs, rng: np.random.Generator) -> int:
        """The next row; the grid has one left."""
        raise NotImplementedError


def in_batches(
    choose: Callable[[Grid, Runs, np.random.Generator], int],
    grid: Grid,
    runs: Runs,
    n: int,
    rng: np.random.Generator,
) -> list[int]:
    """Up to ``n`` rows, one after the other; each is pending when the next is chosen."""
    if n < 1:
        raise LawsmithError("ask", got=n, want="at least 1 run")
    n_free = int(unasked(grid, runs).sum())
    rows: list[int] = []
    for _ in range(min(n, n_free)):
        rows.append(choose(grid, with_pending(runs, rows), rng))
    return rows


def with_pending(runs: Runs, rows: Sequence[int]) -> Runs:
    """These runs, and ``rows`` asked but not finished."""
    if not rows:
        return runs
    pending = np.full(len(rows), State.PENDING.value)
    index = np.array(rows, dtype=np.int64)
    return runs.append(Runs(index, np.full(len(rows), np.nan), pending))


def best_row(rows: IntArray, scores: FloatArray, C: FloatArray) -> int:
    """The row of the highest score; among ties the cheapest, then the first. Rows ascend.

    A score that is not finite is the lowest there is: a surrogate's slip must not be chosen.
    """
    finite = np.where(np.isfinite(scores), scores, -np.inf)
    top = float(finite.max())
    tied = finite >= top - TIE * abs(top)
    return int(rows[np.argmin(np.where(tied, C, np.inf))])
