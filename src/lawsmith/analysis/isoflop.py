"""IsoFLOP levels: the best run of each (N, D) cell, grouped by compute."""

from __future__ import annotations

from dataclasses import replace

from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray, Grid, IntArray
from lawsmith.laws import diagnostics as checks
from lawsmith.laws.diagnostics import Diagnostic

ISOFLOP_TOLERANCE = 0.05  # computes within 5 % count as one isoFLOP level


def isoflop_cells(grid: Grid, pool: IntArray, loss: FloatArray) -> tuple[IntArray, IntArray]:
    """Best row of each (N, D) cell, and its isoFLOP level (computes within 5 % are one level)."""
    rows = pool[frontier(grid.subset(pool), loss[pool], ("N", "D"))]
    coarse = replace(grid.subset(rows), slice_by="C", tolerance=ISOFLOP_TOLERANCE)
    return rows, coarse.level_of


def unbracketed(grid: Grid, pool: IntArray, loss: FloatArray) -> Diagnostic | None:
    rows, level_of = isoflop_cells(grid, pool, loss)
    return checks.isoflop_unbracketed(grid.N[rows], grid.C[rows], loss[rows], level_of)
