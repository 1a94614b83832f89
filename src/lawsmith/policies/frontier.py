"""Frontier: the run that is expected to lower the best-loss envelope most, per FLOP.

Notation and shapes
    m       candidates; s the surrogate's scale
    e(C)    the observed envelope: the least loss of a finished run at no more compute
    EI(x)   E max(e(C(x)) − f(x), 0): what a run at x is expected to lower the envelope by, at its
            own compute

Expected improvement on the loss itself has its optimum at the top of the grid, where the loss is
least, and spends everything there. A law needs the best loss at every compute. Measured against
the envelope at the candidate's own compute and divided by its cost, improvement orders runs by
compute by itself: cheap slices first, each until it is learnt.

For a law of other inputs than compute the envelope is the least loss of each cell of its inputs,
and a cell without a run is compared with what the surrogate expects of it at best.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawsmith.acquisition import log_expected_improvement
from lawsmith.frontier import floor
from lawsmith.grid import BoolArray, FloatArray, Grid
from lawsmith.policies.base import unasked
from lawsmith.policies.initial import InitialDesign
from lawsmith.policies.search import best_row, in_batches
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Posterior, Surrogate


@dataclass(frozen=True)
class Frontier:
    """Envelope improvement per FLOP on any surrogate.

    inputs   of the law that is sought: they say what its envelope is
    """

    surrogate: Surrogate
    initial: InitialDesign
    inputs: tuple[str, ...] = ("C",)

    @property
    def name(self) -> str:
        return f"frontier+{self.surrogate.name}"

    def candidates(self, grid: Grid, runs: Runs) -> BoolArray:
        """(m,) rows among which the next run is chosen: of the design while it is incomplete."""
        if not self.searching(grid, runs):
            return self.initial.candidates(grid, runs)
        return unasked(grid, runs)

    def searching(self, grid: Grid, runs: Runs) -> bool:
        """Whether the initial design has been asked for in full."""
        return self.initial.complete(grid, runs)

    def ask(self, grid: Grid, runs: Runs, n: int, rng: np.random.Generator) -> list[int]:
        """Up to ``n`` distinct rows never asked before; each is pending when the next is chosen."""
        return in_batches(self._next, grid, runs, n, rng)

    def _next(self, grid: Grid, runs: Runs, rng: np.random.Generator) -> int:
        rows = np.flatnonzero(self.candidates(grid, runs))
        blind = not (runs.state == State.DONE.value).any()
        if blind or not self.searching(grid, runs):
            return int(rows[rng.integers(len(rows))])
        scores = self.scores(grid, runs, self.surrogate.fit(grid, runs))
        return best_row(rows, scores[rows], grid.C[rows])

    def scores(self, grid: Grid, runs: Runs, posterior: Posterior) -> FloatArray:
        """(m,) log of the expected improvement of the envelope, per FLOP."""
        gap = posterior.mean - self._envelope(grid, runs, posterior)
        return log_expected_improvement(gap, posterior.sd, 0.0) - np.log(grid.C)

    def _envelope(self, grid: Grid, runs: Runs, posterior: Posterior) -> FloatArray:
        """(m,) e at each row, on the surrogate's scale."""
        loss = runs.config_loss(len(grid))
        seen = np.log(loss) if posterior.scale == "log" else loss
        level = floor(grid, seen, self.inputs)
        if self.inputs == ("C",):
            # Cheaper than every run so far: anything it shows is new; the worst stands in.
            return np.where(np.isfinite(level), level, np.nanmax(seen))
        expected = floor(grid, posterior.mean, self.inputs)
        return np.where(np.isfinite(level), level, expected)
