"""Weighing: what the frontier policy saw in every candidate when it chose a run.

The same numbers by which it chooses, from the same generator: both values of a run, what each is
divided by, and which of the two had its turn.

Notation and shapes
    m candidates (rows) of the grid, r of them free and within the budget
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from lawsmith.grid import FloatArray, Grid, IntArray
from lawsmith.policies.choosing import best_row
from lawsmith.policies.frontier import Frontier, law_turn
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Posterior

ValueName = Literal["envelope", "law"]


@dataclass(frozen=True, eq=False)
class Weighed:
    """The choice of one run.

    rows         (r,) candidates, ascending
    improvement  (r,) by how much a run is expected to lower the envelope, on the surrogate's scale
    gain         (r,) share of the variance of the law's prediction that it removes; None where
                 there is no law yet
    scores       log of each value per cost, (r,) by name; what is not there could not choose
    turn         the value that chose
    row          the row it chose
    """

    posterior: Posterior
    rows: IntArray
    improvement: FloatArray
    gain: FloatArray | None
    scores: dict[ValueName, FloatArray]
    turn: ValueName
    row: int

    def rank(self, value: ValueName, row: int) -> int | None:
        """1 for the best candidate by that value per cost; ties share a rank."""
        if value not in self.scores:
            return None
        scores = self.scores[value]
        return 1 + int((scores > scores[self.place(row)]).sum())

    def place(self, row: int) -> int:
        """Where a row of the grid stands among ``rows``."""
        return int(np.searchsorted(self.rows, row))


def weigh(policy: Frontier, grid: Grid, runs: Runs, rng: np.random.Generator) -> Weighed | None:
    """How ``policy`` chooses the run after ``runs``; None while it chooses at random."""
    blind = not (runs.state == State.DONE.value).any()
    if blind or not policy.searching(grid, runs) or not policy.candidates(grid, runs).any():
        return None
    posterior = policy.surrogate.fit(grid, runs)
    rows, cost = policy.priced(grid, runs)
    log_improvement = policy.improvements(grid, runs, posterior)[rows]
    gains = policy.gains(grid, runs, posterior, rng)
    scores: dict[ValueName, FloatArray] = {"envelope": log_improvement - cost}
    of_law = policy.law_scores(gains, rows, cost)
    if of_law is not None:
        scores["law"] = of_law
    turn: ValueName = "law" if law_turn(runs) and of_law is not None else "envelope"
    return Weighed(
        posterior=posterior,
        rows=rows,
        improvement=np.exp(log_improvement),
        gain=None if gains is None else gains[rows],
        scores=scores,
        turn=turn,
        row=best_row(rows, scores[turn], grid.C[rows]),
    )
