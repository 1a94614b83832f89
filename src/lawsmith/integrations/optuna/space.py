"""A grid as Optuna's parameters: one for each axis, so that dashboards show N, D and the rest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution

from lawsmith.errors import LawsmithError
from lawsmith.grid import Grid, IntArray


def distributions(grid: Grid) -> dict[str, BaseDistribution]:
    """Log and linear axes are ranges, categorical ones choices. Only rows of the grid are drawn."""
    found: dict[str, BaseDistribution] = {}
    for axis in grid.axes:
        values = np.unique(grid.column(axis.name)).tolist()
        if axis.kind == "categorical":
            found[axis.name] = CategoricalDistribution(values)
        else:
            found[axis.name] = FloatDistribution(values[0], values[-1], log=axis.kind == "log")
    return found


def params_of(grid: Grid, row: int) -> dict[str, Any]:
    """The values of a row's axes."""
    return {axis.name: grid.column(axis.name)[row].item() for axis in grid.axes}


def rows_with(grid: Grid, params: Mapping[str, Any]) -> IntArray:
    """Rows that have these values, in those of the axes that are named."""
    fits = np.ones(len(grid), dtype=np.bool_)
    for name, value in params.items():
        if name not in {axis.name for axis in grid.axes}:
            raise LawsmithError(f"enqueued {name}", got=repr(value), want="axes of the grid alone")
        column = grid.column(name)
        if column.dtype == np.float64 and isinstance(value, int | float):
            fits &= np.isclose(column, value, rtol=1e-9, atol=0.0)
        else:
            fits &= column == str(value)
    return np.flatnonzero(fits)


def digest(grid: Grid) -> str:
    """A short name of a grid, by which workers know that they mean the same rows."""
    found = hashlib.sha256()
    columns = {f"{axis.name} {axis.kind}": grid.column(axis.name) for axis in grid.axes}
    for name, values in {**columns, "C": grid.C}.items():
        # Machines may differ in the last digit of a logarithmic range.
        texts = (v if isinstance(v, str) else f"{v:.12g}" for v in values.tolist())
        found.update("\n".join([name, *texts, ""]).encode())
    return found.hexdigest()[:16]
