"""Search: an initial design, then the best candidate of a space by acquisition on a surrogate."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lawsmith.acquisition import Acquisition
from lawsmith.costs import Apart, Pricing
from lawsmith.errors import LawsmithError
from lawsmith.grid import BoolArray, Grid
from lawsmith.policies.base import Choice
from lawsmith.policies.choosing import Designed, InitialDesign, at_random, best_row
from lawsmith.policies.spaces import Space
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Surrogate


@dataclass(frozen=True)
class Search(Designed):
    """A policy made of parts: any surrogate with any acquisition in any space.

    surrogate      None for random search, which chooses uniformly among the candidates
    cost_exponent  γ: EI and PI are divided by C^γ; 1 is improvement per FLOP, 0 ignores cost
    """

    surrogate: Surrogate | None
    acquisition: Acquisition
    space: Space
    initial: InitialDesign
    cost_exponent: float = 0.0
    pricing: Pricing = field(default_factory=Apart)

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

    def space_among(self, grid: Grid, runs: Runs, free: BoolArray) -> BoolArray:
        """(m,) those of the rows ``free`` that lie in the space."""
        return self.space.candidates(grid, runs, free)

    def _next(
        self, grid: Grid, runs: Runs, free: BoolArray, left: float | None, rng: np.random.Generator
    ) -> Choice:
        rows = np.flatnonzero(self.among(grid, runs, free))
        if not self.searching(grid, runs):
            return at_random(rows, "initial design, at random", rng)
        # With no loss seen, nothing yet or only divergence, a surrogate has nothing to learn from.
        if self.surrogate is None or not (runs.state == State.DONE.value).any():
            return at_random(rows, "at random", rng)
        posterior = self.surrogate.fit(grid, runs)
        scores = self.acquisition(posterior.mean[rows], posterior.sd[rows], posterior.best)
        row = best_row(rows, scores - self.cost_exponent * np.log(grid.C[rows]), grid.C[rows])
        value = float(scores[np.searchsorted(rows, row)])
        values = {self.acquisition.name: value, **posterior.expected(row)}
        return Choice(row, "largest acquisition", values)
