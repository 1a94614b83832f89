"""Policies: pure functions from the history of a study to the rows to run next.

Every policy begins with an initial design, which may be empty, and chooses a batch run by run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lawsmith.costs import Pricing, SeparateRuns
from lawsmith.errors import LawsmithError
from lawsmith.grid import BoolArray, FloatArray, Grid, IntArray
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Surrogate

# Scores this close, relative to the best, are ties. Symmetric candidates have equal scores up to
# rounding, which depends on the number of threads; the choice must not depend on it.
TIE = 1e-9
LEAST = 0.01  # share of a budget: with less left, only the run that is wanted most is made
# Number of distinct D of the whole grid that count as smallest. Those of the smallest N alone may
# be large, and a window that starts there would be the whole study.
N_TOKENS = 4
SLACK = 1.0 + 1e-9  # a budget that is a sum of costs must not fail by its last digit


@dataclass(frozen=True)
class Choice:
    """A run to make and why: in words, and by values with their names."""

    row: int
    why: str
    values: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class InitialDesign:
    """``n`` runs drawn uniformly from the smallest N over the N_TOKENS smallest D of the grid.

    It is a function of the rows requested so far. So a study may request one run at a time, in
    batches, or start from runs of its own.

    n   configurations requested before the search begins, in whatever state they are; 0 for none
    """

    n: int = 10

    def __post_init__(self) -> None:
        if self.n < 0:
            raise LawsmithError("n_init", got=self.n, want="0 initial runs or more")

    def complete(self, grid: Grid, runs: Runs) -> bool:
        """Whether all runs of the design have been requested."""
        if self.n > len(grid):
            want = f"at most the {len(grid)} candidates"
            raise LawsmithError("n_init", got=f"{self.n} initial runs", want=want)
        return int((~unasked(grid, runs)).sum()) >= self.n

    def among(self, grid: Grid, free: BoolArray) -> BoolArray:
        """(m,) rows from which the next initial run is drawn.

        The preferred rows of ``free`` or, once these are used up, the cheapest one.
        """
        preferred = free & self.preferred(grid)
        if preferred.any():
            return preferred
        cheapest = np.argmin(np.where(free, grid.C, np.inf))
        return free & np.equal(np.arange(len(grid)), cheapest)

    def preferred(self, grid: Grid) -> BoolArray:
        """(m,) rows at the smallest N and one of the grid's smallest D, as far as they exist.

        Without N or D, the ``n`` cheapest rows and all rows that cost the same as the most
        expensive of them: if every run costs 1, the whole grid.
        """
        if "N" in grid.names and "D" in grid.names:
            tokens = np.unique(grid.D)[:N_TOKENS]
            smallest: BoolArray = np.equal(grid.N, grid.N.min()) & np.isin(grid.D, tokens)
            return smallest
        cheapest: BoolArray = np.less_equal(grid.C, np.sort(grid.C)[self.n - 1])
        return cheapest


class Policy(ABC):
    """Chooses runs. Pure: the same grid, runs and generator state give the same rows.

    initial    runs drawn at random before the search begins
    pricing    what a run costs after those before it
    surrogate  the model that predicts the rest of the grid; None for a policy without one
    """

    initial: InitialDesign
    pricing: Pricing = SeparateRuns()
    surrogate: Surrogate | None

    @property
    @abstractmethod
    def name(self) -> str: ...

    @abstractmethod
    def _next(
        self, grid: Grid, runs: Runs, free: BoolArray, left: float | None, rng: np.random.Generator
    ) -> Choice:
        """The next run of the search, one of the rows ``free``, of which there is at least one."""

    def candidates(self, grid: Grid, runs: Runs, free: BoolArray | None = None) -> BoolArray:
        """(m,) the rows among ``free`` from which the next run is chosen.

        ``free`` is by default all rows that were never requested.
        """
        free = unasked(grid, runs) if free is None else free
        if not self.searching(grid, runs):
            return self.initial.among(grid, free)
        return self.space_among(grid, runs, free)

    def space_among(self, grid: Grid, runs: Runs, free: BoolArray) -> BoolArray:
        """(m,) the rows among ``free`` that the search chooses from: all."""
        return free

    def searching(self, grid: Grid, runs: Runs) -> bool:
        """Whether the whole initial design has been requested."""
        return self.initial.complete(grid, runs)

    def choose(
        self,
        grid: Grid,
        runs: Runs,
        n: int,
        rng: np.random.Generator,
        *,
        allowed: BoolArray | None = None,
        left: float | None = None,
        budget: float | None = None,
    ) -> list[Choice]:
        """Up to ``n`` distinct rows; each is pending when the next is chosen.

        A row that was requested before, in whatever state it is, is not chosen again. The result
        has fewer than ``n`` rows if fewer are left, and none if the grid is exhausted.

        The last part of a budget would go to many cheap runs that teach nothing. So once LEAST of
        it is left, nothing is chosen if the run that is wanted most costs more.

        allowed   (m,) rows that may be chosen; all by default
        left      FLOPs that may still be spent; rows that cost more are not chosen
        budget    the whole budget, of which ``left`` is the rest
        """
        if n < 1:
            raise LawsmithError("ask", got=n, want="at least 1 run")
        if budget is not None and left is not None and left <= LEAST * budget:
            wanted = self.ask(grid, runs, 1, rng, allowed=allowed)
            if not wanted or self.pricing.added(grid, runs.index)[wanted[0]] > left * SLACK:
                return []
        chosen: list[Choice] = []
        while len(chosen) < n:
            now = with_pending(runs, [choice.row for choice in chosen])
            free, price = self.payable(grid, now, left)
            if allowed is not None:
                free &= allowed
            if not free.any():
                break
            free = self.candidates(grid, now, free)
            if self.searching(grid, now):
                chosen.append(self._next(grid, now, free, left, rng))
            else:
                chosen.append(at_random(free, "initial design, at random", rng))
            left = None if left is None else left - float(price[chosen[-1].row])
        return chosen

    def ask(
        self, grid: Grid, runs: Runs, n: int, rng: np.random.Generator, **limits: Any
    ) -> list[int]:
        """The rows of `choose`, with the same ``limits``: allowed, left and budget."""
        return [choice.row for choice in self.choose(grid, runs, n, rng, **limits)]

    def open_rows(self, grid: Grid, runs: Runs) -> BoolArray:
        """(m,) rows that may be requested: those never requested before."""
        return unasked(grid, runs)

    def payable(self, grid: Grid, runs: Runs, left: float | None) -> tuple[BoolArray, FloatArray]:
        """(m,) rows that may be requested and paid for, and what each costs after these runs."""
        free, price = self.open_rows(grid, runs), self.pricing.added(grid, runs.index)
        if left is not None:
            free &= price <= left * SLACK
        return free, price


def unasked(grid: Grid, runs: Runs) -> BoolArray:
    """(m,) rows without a run in any state."""
    free = np.ones(len(grid), dtype=np.bool_)
    if len(runs) and runs.index.max() >= len(grid):
        raise LawsmithError("runs", got=f"row {runs.index.max()}", want=f"rows below {len(grid)}")
    free[runs.index] = False
    return free


def at_random(free: BoolArray, why: str, rng: np.random.Generator) -> Choice:
    """One of the rows ``free``, drawn uniformly."""
    rows = np.flatnonzero(free)
    return Choice(int(rows[rng.integers(len(rows))]), why)


def with_pending(runs: Runs, rows: Sequence[int]) -> Runs:
    """These runs, and ``rows`` as pending runs."""
    if not rows:
        return runs
    pending = np.full(len(rows), State.PENDING.value)
    index = np.array(rows, dtype=np.int64)
    return runs.append(Runs(index, np.full(len(rows), np.nan), pending))


def best_row(rows: IntArray, scores: FloatArray, C: FloatArray) -> int:
    """The row of the highest score; among ties the cheapest, then the first. Rows ascend.

    A score that is not finite counts as the lowest, so that a failure of a surrogate is not chosen.
    """
    finite = np.where(np.isfinite(scores), scores, -np.inf)
    top = float(finite.max())
    tied = finite >= top - TIE * abs(top)
    return int(rows[np.argmin(np.where(tied, C, np.inf))])
