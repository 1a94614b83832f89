"""IsoFLOP levels: the best run of each (N, D) cell, grouped by compute."""

from __future__ import annotations

import numpy as np

from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray, Grid, IntArray
from lawsmith.laws import diagnostics as checks
from lawsmith.laws.diagnostics import Diagnostic

# Published isoFLOP runs miss their compute by a few percent: a level goes on while the next
# compute is within GAP of the last, up to SPAN in all.
GAP, SPAN = 0.04, 0.2


def isoflop_cells(grid: Grid, pool: IntArray, loss: FloatArray) -> tuple[IntArray, IntArray]:
    """Best row of each (N, D) cell, and the isoFLOP level it belongs to."""
    rows = pool[frontier(grid.subset(pool), loss[pool], ("N", "D"))]
    return rows, isoflop_levels(grid.C[rows])


def isoflop_levels(C: FloatArray) -> IntArray:
    """(m,) level of each compute, numbered in ascending order."""
    order = np.argsort(C, kind="stable")
    level_of = np.empty(len(C), dtype=np.int64)
    level, first, last = -1, 0.0, 0.0
    for row in order:
        if level < 0 or C[row] > (1 + GAP) * last or C[row] > (1 + SPAN) * first:
            level, first = level + 1, float(C[row])
        level_of[row], last = level, float(C[row])
    return level_of


def unbracketed(grid: Grid, pool: IntArray, loss: FloatArray) -> Diagnostic | None:
    """The warning on isoFLOP curves whose optimum lies outside what was run."""
    rows, level_of = isoflop_cells(grid, pool, loss)
    return checks.isoflop_unbracketed(grid.N[rows], grid.C[rows], loss[rows], level_of)
