"""The trials of an Optuna study as lawsmith's runs and as a board of claims; rows as parameters.

Every trial's claim is a system attribute of it. What became of a trial:

complete, finite           done
complete, infinite         diverged: an observation
failed, marked diverged    diverged
running                    pending
pruned                     failed: its loss is one on the way
failed                     free again ``retries`` times, then failed

There is a parameter for each axis, so that dashboards show N, D and the rest.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from lawsmith.errors import LawsmithError
from lawsmith.grid import BoolArray, Grid, IntArray
from lawsmith.integrations.optuna.claims import Claim, Claims
from lawsmith.policies import Policy
from lawsmith.policies.base import SLACK
from lawsmith.runs import Runs, State

CLAIM = "lawsmith:claim"
OVER = "lawsmith:over"
DIVERGED = "diverged"


def claims_of(trials: Sequence[FrozenTrial], diverged_above: float) -> dict[int, Claim]:
    """The claims of trials by number, in order, each with what became of its trial."""
    found: dict[int, Claim] = {}
    for trial in trials:
        row, confirmed = claimed(trial)
        if row is not None:
            found[trial.number] = Claim(row, confirmed, *outcome(trial, diverged_above))
    return found


def claimed(trial: FrozenTrial) -> tuple[int | None, bool]:
    """The row that a trial wrote on the board, None without one, and whether it is confirmed."""
    claim = trial.system_attrs.get(CLAIM)
    if not isinstance(claim, dict) or not isinstance(claim.get("row"), int):
        return None, False
    return claim["row"], bool(claim.get("confirmed"))


def outcome(trial: FrozenTrial, diverged_above: float) -> tuple[State, float]:
    """What became of a trial, and its loss where it has one."""
    diverged = trial.user_attrs.get(DIVERGED) is True
    if trial.state is TrialState.COMPLETE:
        loss = float(trial.value) if trial.value is not None else math.inf
        if diverged or not math.isfinite(loss) or loss > diverged_above:
            return State.DIVERGED, loss if math.isfinite(loss) else math.nan
        return State.DONE, loss
    if trial.state is TrialState.FAIL and diverged:
        return State.DIVERGED, math.nan
    failed = trial.state in (TrialState.FAIL, TrialState.PRUNED)
    return State.FAILED if failed else State.PENDING, math.nan


def runs_of(claims: Claims, retries: int) -> Runs:
    """The runs; a row that only failed, and not too often, has none and may be asked again."""
    alive = [claim for claim in claims.values() if claim.state is not State.FAILED]
    failures = Counter(claim.row for claim in claims.values() if claim.state is State.FAILED)
    taken = {claim.row for claim in alive}
    closed = [row for row, n in failures.items() if n > retries and row not in taken]
    chosen = [*alive, *(Claim(row, state=State.FAILED) for row in closed)]
    return Runs(
        np.array([claim.row for claim in chosen], dtype=np.int64),
        np.array([claim.loss for claim in chosen]),
        np.array([claim.state.value for claim in chosen], dtype="<U8"),
    )


class TrialBoard:
    """The board of claims as one trial sees it; claims are kept in the storage of the study."""

    def __init__(self, study: Study, trial: FrozenTrial, diverged_above: float) -> None:
        self._study, self._trial, self._diverged_above = study, trial, diverged_above

    def read(self) -> Claims:
        """The claims of the other trials. Read from the storage: a cache would be a stale board."""
        trials = self._study.get_trials(deepcopy=False)
        others = [trial for trial in trials if trial.number != self._trial.number]
        return claims_of(others, self._diverged_above)

    def write(self, claim: Claim | None) -> None:
        """Put the trial's claim on its record."""
        values = None if claim is None else {"row": claim.row, "confirmed": claim.confirmed}
        self._study._storage.set_trial_system_attr(self._trial._trial_id, CLAIM, values)


@dataclass(frozen=True)
class Chooser:
    """Chooses rows that no claim holds and that the budget pays; see `LawsmithSampler`."""

    grid: Grid
    policy: Policy
    budget: float
    retries: int

    def ask(self, claims: Claims, rng: np.random.Generator) -> int | None:
        """The row that the policy chooses among those that can be paid for."""
        if not self.open_rows(claims).any():
            return None
        runs, left = runs_of(claims, self.retries), self._left(claims)
        if np.isinf(self.budget):
            found = self.policy.choose(self.grid, runs, 1, rng)
        else:
            found = self.policy.choose(self.grid, runs, 1, rng, left=left, budget=self.budget)
        return found[0].row if found else None

    def enqueued(self, claims: Claims, params: Mapping[str, Any]) -> int | None:
        """The first row with these values that neither runs nor ran, and can be paid for."""
        rows = rows_with(self.grid, params)
        taken = [claim.row for claim in claims.values() if claim.state is not State.FAILED]
        free = rows[~np.isin(rows, taken) & (self.grid.C[rows] <= self._left(claims))]
        return int(free[0]) if len(free) else None

    def open_rows(self, claims: Claims) -> BoolArray:
        """(m,) rows that may be asked for and can be paid for."""
        rows: BoolArray = np.less_equal(self.grid.C, self._left(claims))
        rows[runs_of(claims, self.retries).index] = False
        return rows

    def rivals(self, row: int, claims: Claims) -> list[int]:
        """Other claims on the row; beyond the budget, the unconfirmed claims, or else all."""
        alive = {n: claim for n, claim in claims.items() if claim.state is not State.FAILED}
        same = [number for number, claim in alive.items() if claim.row == row]
        if same or self.grid.C[row] <= self._left(claims):
            return same
        unconfirmed = [number for number, claim in alive.items() if not claim.confirmed]
        return unconfirmed or list(claims)

    def _left(self, claims: Claims) -> float:
        paid = (c for c in claims.values() if c.confirmed or c.state is State.PENDING)
        return self.budget * SLACK - float(sum(self.grid.C[claim.row] for claim in paid))


def distributions(grid: Grid) -> dict[str, BaseDistribution]:
    """Ranges for log and linear axes, choices for categorical ones; only rows are ever drawn."""
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


def fingerprint(grid: Grid) -> str:
    """A short hash of a grid, by which workers know that they share the same rows."""
    found = hashlib.sha256()
    columns = {f"{axis.name} {axis.kind}": grid.column(axis.name) for axis in grid.axes}
    for name, values in {**columns, "C": grid.C}.items():
        # Machines may differ in the last digit of a logarithmic range.
        texts = (v if isinstance(v, str) else f"{v:.12g}" for v in values.tolist())
        found.update("\n".join([name, *texts, ""]).encode())
    return found.hexdigest()[:16]
