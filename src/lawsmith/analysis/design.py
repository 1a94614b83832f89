"""The points a law is fitted to: its inputs at rows, and whether they can carry it."""

from __future__ import annotations

import numpy as np

from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.grid import FloatArray, Grid, IntArray
from lawsmith.laws import diagnostics as checks
from lawsmith.laws.law import Law


def inputs_at(grid: Grid, law: Law, rows: IntArray) -> dict[str, FloatArray]:
    return {name: grid.numbers(name)[rows] for name in law.inputs}


def largest_compute(grid: Grid, pool: IntArray, loss: FloatArray) -> float:
    """The largest compute that has a finished run in the pool."""
    return float(grid.C[pool][np.isfinite(loss[pool])].max())


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
    if set(law.inputs) == {"N", "D"} and not force:
        problem = checks.collinear_design(grid.N[rows], grid.D[rows])
        if problem is not None:
            raise LawsmithError(
                f"{law.name} on {study.name}: {problem.message}",
                hint="collinear_design; fit LC instead, or --force to fit all the same",
            )
