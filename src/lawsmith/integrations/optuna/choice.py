"""The row a trial wants, the claims it cannot stand beside, and a row as Optuna's parameters.

There is a parameter for each axis, so that dashboards show N, D and the rest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution

from lawsmith.errors import LawsmithError
from lawsmith.grid import BoolArray, Grid, IntArray
from lawsmith.integrations.optuna.history import ClaimedTrial, runs_of
from lawsmith.policies import Policy, choose_within
from lawsmith.runs import State

_SLACK = 1.0 + 1e-9  # a budget that is a sum of costs must not fail by its last digit


@dataclass(frozen=True)
class Chooser:
    """What is chosen from; see `LawsmithSampler`."""

    grid: Grid
    policy: Policy
    budget: float
    retries: int

    def ask(self, entries: Sequence[ClaimedTrial], rng: np.random.Generator) -> int | None:
        """What the policy wants, of what can be paid for."""
        open_rows = self.open_rows(entries)
        if not open_rows.any():
            return None
        left, runs = self._left(entries), runs_of(entries, self.retries)
        if np.isinf(self.budget):
            found = self.policy.choose(self.grid, runs, 1, rng)
        else:
            given = {"left": left, "budget": self.budget}
            found = choose_within(self.policy, self.grid, runs, 1, rng, **given)
        return found[0].row if found else None

    def enqueued(self, entries: Sequence[ClaimedTrial], rows: IntArray) -> int | None:
        """The first of ``rows`` that neither runs nor ran, and can be paid for."""
        taken = [entry.claim.row for entry in entries if entry.state is not State.FAILED]
        free = rows[~np.isin(rows, taken) & (self.grid.C[rows] <= self._left(entries))]
        return int(free[0]) if len(free) else None

    def open_rows(self, entries: Sequence[ClaimedTrial]) -> BoolArray:
        """(m,) rows that may be asked for and can be paid for."""
        rows: BoolArray = np.less_equal(self.grid.C, self._left(entries))
        rows[runs_of(entries, self.retries).index] = False
        return rows

    def rivals(self, row: int, entries: Sequence[ClaimedTrial]) -> list[int]:
        """Claims on the row; if all together cost too much, the unconfirmed ones, or else any."""
        alive = [entry for entry in entries if entry.state is not State.FAILED]
        same = [entry.number for entry in alive if entry.claim.row == row]
        if same or self.grid.C[row] <= self._left(entries):
            return same
        unconfirmed = [entry.number for entry in alive if not entry.claim.confirmed]
        return unconfirmed or [entry.number for entry in entries]

    def _left(self, entries: Sequence[ClaimedTrial]) -> float:
        paid = (e for e in entries if e.claim.confirmed or e.state is State.PENDING)
        return self.budget * _SLACK - float(sum(self.grid.C[e.claim.row] for e in paid))


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
