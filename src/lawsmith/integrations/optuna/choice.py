"""The row a trial wants, and the claims it cannot stand beside: a policy within the budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
        """Claims on the row; if all together cost too much, the unsettled ones, or else any."""
        alive = [entry for entry in entries if entry.state is not State.FAILED]
        same = [entry.number for entry in alive if entry.claim.row == row]
        if same or self.grid.C[row] <= self._left(entries):
            return same
        unsettled = [entry.number for entry in alive if not entry.claim.settled]
        return unsettled or [entry.number for entry in entries]

    def _left(self, entries: Sequence[ClaimedTrial]) -> float:
        paid = (e for e in entries if e.claim.settled or e.state is State.PENDING)
        return self.budget * _SLACK - float(sum(self.grid.C[e.claim.row] for e in paid))
