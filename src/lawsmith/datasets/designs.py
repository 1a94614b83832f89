"""Which runs a synthetic study has: cells (N, D) filled at random with settings of its axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np

from lawsmith.datasets.surfaces import Columns

Range = tuple[float, float, int]  # lowest, highest, how many values, evenly spaced in logs


class Design(Protocol):
    """What says which runs a study has."""

    def columns(self, rng: np.random.Generator) -> Columns:
        """N, D and every axis, one row per run."""
        ...


@dataclass(frozen=True)
class Shape:
    """A study of given sizes whose cells are filled evenly and at random.

    n_cells           how many (N, D) pairs exist: those of most usual D/N
    n_configurations  spread evenly over the cells, each cell's λ drawn at random
    n_replicates      configurations run a second time, drawn at random
    """

    N: Range
    D: Range
    axes: Mapping[str, Range]
    n_cells: int
    n_configurations: int
    n_replicates: int = 0

    def columns(self, rng: np.random.Generator) -> Columns:
        """One row per run, replicates last."""
        cells = _usual(list(product(spaced(self.N), spaced(self.D))), self.n_cells)
        grid = list(product(*(spaced(axis) for axis in self.axes.values())))
        # Each cell's k-th choice before any cell's (k+1)-th keeps the cells equally full.
        orders = np.stack([rng.permutation(len(grid)) for _ in cells], axis=1)
        picks = list(product(range(len(grid)), range(len(cells))))[: self.n_configurations]
        rows = [(*cells[cell], *grid[orders[rank, cell]]) for rank, cell in picks]
        again = rng.choice(len(rows), size=self.n_replicates, replace=False)
        table = np.array(sorted(rows) + sorted(rows[i] for i in again), dtype=np.float64)
        return dict(zip(("N", "D", *self.axes), table.T, strict=True))


def spaced(spec: Range) -> list[float]:
    """Evenly spaced in logs, to four significant digits as a person would choose them."""
    low, high, n = spec
    return [float(f"{x:.4g}") for x in np.geomspace(low, high, n)]


def _usual(cells: list[tuple[float, float]], n: int) -> list[tuple[float, float]]:
    """The n cells whose tokens per parameter are nearest the median of all, cheaper ones first."""
    ratios = np.log([D / N for N, D in cells])
    # Rounded, so that equal distances tie whatever the last digit of a logarithm.
    distance = np.round(np.abs(ratios - np.median(ratios)), 9).tolist()
    order = sorted(range(len(cells)), key=lambda i: (distance[i], cells[i][0] * cells[i][1]))
    return [cells[i] for i in order[:n]]
