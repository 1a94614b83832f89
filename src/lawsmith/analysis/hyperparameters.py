"""The best hyperparameters as power laws of N and D."""

from __future__ import annotations

import numpy as np

from lawsmith.analysis.design import inputs_at
from lawsmith.analysis.records import HyperparameterLaw
from lawsmith.arrays import saturating
from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray, Grid, IntArray
from lawsmith.laws import diagnostics as checks
from lawsmith.laws.catalogue import HYPERPARAMETER
from lawsmith.laws.fit import fit_law
from lawsmith.laws.uncertainty import law_uncertainty


@saturating
def hyperparameter_laws(
    grid: Grid, pool: IntArray, loss: FloatArray
) -> tuple[HyperparameterLaw, ...]:
    """λ*(N, D) for every positive numeric axis that is tuned in enough (N, D) cells."""
    if not {"N", "D"} <= set(grid.names):
        return ()
    rows = pool[frontier(grid.subset(pool), loss[pool], ("N", "D"))]
    n_runs = int(np.isfinite(loss[pool]).sum())
    if len(rows) < 6 or n_runs < 3 * len(rows):
        return ()
    tied = checks.collinear_design(grid.N[rows], grid.D[rows]) is not None
    fixed = {"b": 0.0} if tied else {}
    laws = []
    for axis in grid.axes:
        if axis.name in ("N", "D") or axis.kind != "log":
            continue
        values = grid.numbers(axis.name)[rows]
        if len(np.unique(values)) < 2:
            continue
        inputs = inputs_at(grid, HYPERPARAMETER, rows)
        fit = fit_law(HYPERPARAMETER, inputs, values, fixed=fixed)
        laws.append(HyperparameterLaw(axis.name, fit, law_uncertainty(fit), rows))
    return tuple(laws)
