"""Search: the best candidate of a space by acquisition on a surrogate.

A space is the whole grid, or a window that climbs with what was run.

Notation and shapes
    m    candidates (rows) of the grid
    s    (m,) the variable that slices the study (`Grid.slicer`), compute by default
    s_p  the highest s among finished runs
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from lawsmith.acquisition import Acquisition
from lawsmith.costs import Pricing, SeparateRuns
from lawsmith.errors import LawsmithError
from lawsmith.grid import BoolArray, Grid
from lawsmith.policies.base import Choice, InitialDesign, Policy, at_random, best_row
from lawsmith.runs import Runs
from lawsmith.surrogates.base import Surrogate

REACH = 1.5  # times the largest compute so far: a moderate step


class Space(Protocol):
    """The part of a grid that is searched now. Pure: the same grid and runs give the same rows."""

    @property
    def name(self) -> str: ...

    def candidates(self, grid: Grid, runs: Runs, free: BoolArray) -> BoolArray:
        """(m,) the rows among ``free`` to choose from; none only if none is free."""
        ...


@dataclass(frozen=True)
class Full:
    """The whole grid, at every step."""

    name: ClassVar[str] = "full"

    def candidates(self, grid: Grid, runs: Runs, free: BoolArray) -> BoolArray:
        """(m,) every free row."""
        return free


@dataclass(frozen=True)
class Window:
    """Rows with s ≤ max(next level above s_p, reach·s_p): no run is far beyond those before.

    reach  a factor of at least 1; 1 and None both mean the next level only
    """

    reach: float | None = REACH
    name: ClassVar[str] = "window"

    def __post_init__(self) -> None:
        if self.reach is not None and not 1.0 <= self.reach < np.inf:
            want = "a finite factor of at least 1, or none for the next level only"
            raise LawsmithError("reach", got=f"{self.reach:g}", want=want)

    def candidates(self, grid: Grid, runs: Runs, free: BoolArray) -> BoolArray:
        """(m,) free rows of the window; a used-up window moves up to the next level."""
        window = grid.reach_window(highest_reached(grid, runs), self.reach)
        return first_open(grid, window, free)


def highest_reached(grid: Grid, runs: Runs) -> float:
    """s_p: the highest s of a done or diverged run; if none has finished, of any run.

    −∞ without runs, so that the level next above it is the first. A pending run does not move
    it: a batch is chosen from one window.
    """
    rows = runs.index[runs.finished] if runs.finished.any() else runs.index
    return float(grid.slicer[rows].max(initial=-np.inf))


def first_open(grid: Grid, window: BoolArray, free: BoolArray) -> BoolArray:
    """(m,) free rows of the window or, if it has none, of the lowest level that has some."""
    inside = window & free
    if inside.any() or not free.any():
        return inside
    lowest: BoolArray = np.equal(grid.slicer, grid.slicer[free].min())
    return free & lowest


@dataclass(frozen=True)
class Search(Policy):
    """A policy made of parts: any surrogate with any acquisition in any space.

    surrogate      None for random search, which chooses uniformly among the candidates
    cost_exponent  γ: EI and PI are divided by C^γ; 1 is improvement per FLOP, 0 ignores cost
    """

    surrogate: Surrogate | None
    acquisition: Acquisition
    space: Space
    initial: InitialDesign
    cost_exponent: float = 0.0
    pricing: Pricing = field(default_factory=SeparateRuns)

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
        """(m,) the rows among ``free`` that lie in the space."""
        return self.space.candidates(grid, runs, free)

    def _next(
        self, grid: Grid, runs: Runs, free: BoolArray, left: float | None, rng: np.random.Generator
    ) -> Choice:
        # A surrogate needs at least one run with a loss.
        if self.surrogate is None or not runs.any_done:
            return at_random(free, "at random", rng)
        rows = np.flatnonzero(free)
        posterior = self.surrogate.fit(grid, runs)
        scores = self.acquisition(posterior.mean[rows], posterior.sd[rows], posterior.best)
        row = best_row(rows, scores - self.cost_exponent * np.log(grid.C[rows]), grid.C[rows])
        value = float(scores[np.searchsorted(rows, row)])
        values = {self.acquisition.name: value, **posterior.expected(row)}
        return Choice(row, "largest acquisition", values)
