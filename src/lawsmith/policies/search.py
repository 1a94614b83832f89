"""Search: an initial design, then the best candidate of a space by acquisition on a surrogate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lawsmith.acquisition import Acquisition
from lawsmith.errors import LawsmithError
from lawsmith.grid import BoolArray, FloatArray, Grid, IntArray
from lawsmith.policies.base import unasked
from lawsmith.policies.initial import InitialDesign
from lawsmith.policies.spaces import Space
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Surrogate

# Scores this close, relative to the best, are ties. Candidates that mirror one another have equal
# scores up to rounding, which differs with the number of threads; the choice must not.
TIE = 1e-9


@dataclass(frozen=True)
class Search:
    """A policy made of parts: any surrogate with any acquisition in any space.

    surrogate      None for random search, which chooses uniformly among the candidates
    cost_exponent  γ: EI and PI are divided by C^γ; 1 is improvement per FLOP, 0 ignores cost
    """

    surrogate: Surrogate | None
    acquisition: Acquisition
    space: Space
    initial: InitialDesign
    cost_exponent: float = 0.0

    def __post_init__(self) -> None:
        if self.cost_exponent and self.acquisition.name == "lcb":
            got, want = "lcb divided by cost", "ei or pi: a bound on the loss is no gain"
            raise LawsmithError("acquisition", got=got, want=want)

    @property
    def name(self) -> str:
        """space+surrogate+acquisition, as in 'window+gp+lcb'; 'full+none' for random search."""
        if self.surrogate is None:
            return f"{self.space.name}+none"
        cost = f"/C^{self.cost_exponent:g}" if self.cost_exponent else ""
        return f"{self.space.name}+{self.surrogate.name}+{self.acquisition.name}{cost}"

    def candidates(self, grid: Grid, runs: Runs) -> BoolArray:
        """(m,) rows among which the next run is chosen: of the design while it is incomplete."""
        if not self.initial.complete(grid, runs):
            return self.initial.candidates(grid, runs)
        return self.space.candidates(grid, runs)

    def searching(self, grid: Grid, runs: Runs) -> bool:
        """Whether the initial design has been asked for in full."""
        return self.initial.complete(grid, runs)

    def ask(self, grid: Grid, runs: Runs, n: int, rng: np.random.Generator) -> list[int]:
        """Up to ``n`` distinct rows never asked before; each is pending when the next is chosen."""
        return in_batches(self._next, grid, runs, n, rng)

    def _next(self, grid: Grid, runs: Runs, rng: np.random.Generator) -> int:
        """The next row; the grid has one left."""
        rows = np.flatnonzero(self.candidates(grid, runs))
        # With no loss seen, nothing yet or only divergence, a surrogate has nothing to learn from.
        blind = not (runs.state == State.DONE.value).any()
        if self.surrogate is None or blind or not self.initial.complete(grid, runs):
            return int(rows[rng.integers(len(rows))])
        posterior = self.surrogate.fit(grid, runs)
        scores = self.acquisition(posterior.mean[rows], posterior.sd[rows], posterior.best)
        return best_row(rows, scores - self.cost_exponent * np.log(grid.C[rows]), grid.C[rows])


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
