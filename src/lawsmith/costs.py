"""The cost of runs: each its own compute, or less if runs share trunks.

Runs that differ in D alone can branch from one stable trunk of a warmup–stable–decay schedule. Each
has its own decay over the last share δ of its tokens. After a run to D', a run to D pays for the
trunk from (1 − δ)·D' on, where the earlier branch left it, and for its own decay:

    C(D) · ((1 − δ)·(1 − D'/D) + δ)   if D > D';   C(D) · δ   if the trunk is long enough

Shapes: m rows of the grid; cost is proportional to D for given N and λ, as C = 6ND is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np

from lawsmith.errors import LawsmithError
from lawsmith.grid import FloatArray, Grid, IntArray

DECAY = 0.2  # default share of a run's tokens in its decay: 10–20 % is usual

Rows = Sequence[int] | IntArray


class Pricing(ABC):
    """The price of runs, in FLOPs."""

    @abstractmethod
    def added(self, grid: Grid, earlier: Rows) -> FloatArray:
        """(m,) the cost that each row would add after the rows ``earlier``."""

    @abstractmethod
    def total(self, grid: Grid, rows: Rows) -> float:
        """The cost of all ``rows``, in any order."""


@dataclass(frozen=True, eq=False)
class FixedPrices(Pricing):
    """Rows at given prices (m,), which do not depend on earlier runs."""

    price: FloatArray

    def added(self, grid: Grid, earlier: Rows) -> FloatArray:
        return self.price

    def total(self, grid: Grid, rows: Rows) -> float:
        # Rounded once, so that the whole pool costs exactly its total.
        return fsum(self.price[np.asarray(rows, dtype=np.int64)].tolist())


@dataclass(frozen=True)
class SeparateRuns(Pricing):
    """Every run pays for all of its compute."""

    def added(self, grid: Grid, earlier: Rows) -> FloatArray:
        return grid.C

    def total(self, grid: Grid, rows: Rows) -> float:
        return FixedPrices(grid.C).total(grid, rows)


@dataclass(frozen=True)
class Trunks(Pricing):
    """Runs that differ in D alone share a trunk; each pays for its extension and its decay."""

    decay: float = DECAY

    def __post_init__(self) -> None:
        if not 0.0 < self.decay < 1.0:
            raise LawsmithError("decay", got=f"{self.decay:g}", want="a share between 0 and 1")

    def added(self, grid: Grid, earlier: Rows) -> FloatArray:
        trunk, rows = trunks(grid), np.asarray(earlier, dtype=np.int64)
        longest = np.zeros(int(trunk.max()) + 1)
        np.maximum.at(longest, trunk[rows], grid.D[rows])
        # The trunk continues from where the decay of the longest run began.
        done = np.minimum(longest[trunk] / grid.D, 1.0)
        return np.asarray(grid.C * ((1.0 - self.decay) * (1.0 - done) + self.decay))

    def total(self, grid: Grid, rows: Rows) -> float:
        at = np.asarray(rows, dtype=np.int64)
        if not len(at):
            return 0.0
        trunk = trunks(grid)
        stem = np.zeros(int(trunk.max()) + 1)
        np.maximum.at(stem, trunk[at], (1.0 - self.decay) * grid.C[at])
        return fsum([*stem.tolist(), *(self.decay * grid.C[at]).tolist()])


@dataclass(frozen=True, eq=False)
class Continued(Pricing):
    """Prices in a running study: of the runs ``made`` so far, only those ``paid`` left a trunk.

    An imported run was paid for elsewhere, and a failed run left no trunk to continue. Rows cost
    what they add to the paid ones; a run that was made adds nothing.
    """

    pricing: Pricing
    made: IntArray
    paid: IntArray

    def added(self, grid: Grid, earlier: Rows) -> FloatArray:
        return self.pricing.added(grid, self._trunks(earlier))

    def total(self, grid: Grid, rows: Rows) -> float:
        before = self.pricing.total(grid, self.paid)
        return self.pricing.total(grid, self._trunks(rows)) - before

    def _trunks(self, earlier: Rows) -> IntArray:
        new = np.setdiff1d(np.asarray(earlier, dtype=np.int64), self.made)
        return np.concatenate([self.paid, new]).astype(np.int64)


def trunks(grid: Grid) -> IntArray:
    """(m,) the trunk that each row branches from: rows that differ in D alone share one."""
    if "D" not in grid.names:
        raise LawsmithError("trunk-aware cost", got="no D", want="a study with tokens D")
    others = tuple(axis.name for axis in grid.axes if axis.name != "D")
    return grid.cells(others) if others else np.zeros(len(grid), dtype=np.int64)
