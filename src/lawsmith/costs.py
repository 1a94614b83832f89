"""What runs cost: each its own compute, or only what a trunk they share has not paid yet.

Runs of one (N, λ) that differ in D alone can branch from one stable trunk of a warmup–stable–decay
schedule, each with a decay of its own over the last share δ of its tokens. After a run to D', a run
to D pays the trunk from (1 − δ)·D' on, which is where the longer branch left it, and its own decay:

    C(D) · ((1 − δ)·(1 − D'/D) + δ)   where D > D';   C(D) · δ   where the trunk is long enough

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

DECAY = 0.2  # share of a run's tokens that its decay takes, where none is said: the usual 10–20 %

Rows = Sequence[int] | IntArray


class Pricing(ABC):
    """The price of runs, in FLOPs."""

    @abstractmethod
    def added(self, grid: Grid, asked: Rows) -> FloatArray:
        """(m,) what asking for each row adds after the rows ``asked``."""

    @abstractmethod
    def total(self, grid: Grid, rows: Rows) -> float:
        """What all of ``rows`` cost; their order does not matter."""


@dataclass(frozen=True, eq=False)
class FixedPrices(Pricing):
    """Rows at given prices (m,), whatever was asked before."""

    price: FloatArray

    def added(self, grid: Grid, asked: Rows) -> FloatArray:
        return self.price

    def total(self, grid: Grid, rows: Rows) -> float:
        # Rounded once, so that the whole pool costs exactly all of it.
        return fsum(self.price[np.asarray(rows, dtype=np.int64)].tolist())


@dataclass(frozen=True)
class SeparateRuns(Pricing):
    """Every run pays its own compute."""

    def added(self, grid: Grid, asked: Rows) -> FloatArray:
        return grid.C

    def total(self, grid: Grid, rows: Rows) -> float:
        return FixedPrices(grid.C).total(grid, rows)


@dataclass(frozen=True)
class Trunks(Pricing):
    """Runs that differ in D alone share a trunk; each pays its extension and its own decay."""

    decay: float = DECAY

    def __post_init__(self) -> None:
        if not 0.0 < self.decay < 1.0:
            raise LawsmithError("decay", got=f"{self.decay:g}", want="a share between 0 and 1")

    def added(self, grid: Grid, asked: Rows) -> FloatArray:
        trunk, rows = trunks(grid), np.asarray(asked, dtype=np.int64)
        longest = np.zeros(int(trunk.max()) + 1)
        np.maximum.at(longest, trunk[rows], grid.D[rows])
        # The trunk goes on from where the longest run's decay began.
        walked = np.minimum(longest[trunk] / grid.D, 1.0)
        return np.asarray(grid.C * ((1.0 - self.decay) * (1.0 - walked) + self.decay))

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
    """Prices of a study under way: of the runs ``made`` before, only those ``paid`` left a trunk.

    A run that was imported was paid elsewhere, and one that failed left nothing to go on from.
    What rows cost is what they add to what is paid; a run that was made adds nothing.
    """

    pricing: Pricing
    made: IntArray
    paid: IntArray

    def added(self, grid: Grid, asked: Rows) -> FloatArray:
        return self.pricing.added(grid, self._trunks(asked))

    def total(self, grid: Grid, rows: Rows) -> float:
        before = self.pricing.total(grid, self.paid)
        return self.pricing.total(grid, self._trunks(rows)) - before

    def _trunks(self, asked: Rows) -> IntArray:
        new = np.setdiff1d(np.asarray(asked, dtype=np.int64), self.made)
        return np.concatenate([self.paid, new]).astype(np.int64)


def trunks(grid: Grid) -> IntArray:
    """(m,) which trunk each row branches from: rows alike in everything but D share one."""
    if "D" not in grid.names:
        raise LawsmithError("trunk-aware cost", got="no D", want="a study with tokens D")
    others = tuple(axis.name for axis in grid.axes if axis.name != "D")
    return grid.cells(others) if others else np.zeros(len(grid), dtype=np.int64)
