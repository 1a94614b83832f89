"""The points a law is fitted to: its inputs at rows, whether they can carry it, isoFLOP levels."""

from __future__ import annotations

import numpy as np

from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray, Grid, IntArray
from lawsmith.laws import diagnostics as checks
from lawsmith.laws.allocation import can_allocate
from lawsmith.laws.law import Law

# Published isoFLOP runs miss their compute by a few percent: a level goes on while the next
# compute is within GAP of the last, up to SPAN in all.
GAP, SPAN = 0.04, 0.2


def inputs_at(grid: Grid, law: Law, rows: IntArray) -> dict[str, FloatArray]:
    return {name: grid.numbers(name)[rows] for name in law.inputs}


def check_design(study: Study, law: Law, rows: IntArray, *, force: bool) -> None:
    grid = study.grid
    if len(rows) == 0:
        raise LawsmithError(study.name, got="no finished run", want="runs with a finite loss")
    for name in law.inputs:
        values = np.unique(grid.numbers(name)[rows])
        if len(values) == 1 and len(law.inputs) == 1:
            n_pool = np.isfinite(study.runs.config_loss(len(grid))).sum()
            raise LawsmithError(
                f"{law.name} on {study.name}",
                got=f"one level of {name} ({values[0]:.4g}) among {n_pool} finished",
                want="several levels",
            )
    if can_allocate(law) and not force:
        problem = checks.collinear_design(grid.N[rows], grid.D[rows])
        if problem is not None:
            raise LawsmithError(
                f"{law.name} on {study.name}: {problem.message}",
                hint="collinear_design; fit LC instead, or --force to fit all the same",
            )


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
