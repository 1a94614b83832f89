"""Cheapest: every run in the order of its cost, the plainest thing one could do with a budget."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lawsmith.costs import Pricing, SeparateRuns
from lawsmith.grid import BoolArray, Grid
from lawsmith.policies.base import Choice, InitialDesign, Policy, at_random
from lawsmith.runs import Runs
from lawsmith.surrogates.base import Surrogate


@dataclass(frozen=True)
class Cheapest(Policy):
    """The cheapest run not made yet; among those that cost the same, any.

    surrogate   fantasizes the other runs, and has no say in the choice
    """

    surrogate: Surrogate | None = None
    initial: InitialDesign = field(default_factory=lambda: InitialDesign(0))
    pricing: Pricing = field(default_factory=SeparateRuns)

    @property
    def name(self) -> str:
        return f"cheapest+{self.surrogate.name if self.surrogate else 'none'}"

    def space_among(self, grid: Grid, runs: Runs, free: BoolArray) -> BoolArray:
        """(m,) rows of least compute among the free ones."""
        if not free.any():
            return free
        cheapest: BoolArray = free & np.equal(grid.C, grid.C[free].min())
        return cheapest

    def _next(
        self, grid: Grid, runs: Runs, free: BoolArray, left: float | None, rng: np.random.Generator
    ) -> Choice:
        return at_random(free, "cheapest", rng)
