"""Frontier: by turns the run worth most for the answer, and the one that lowers the envelope most.

Notation and shapes
    m        candidates, r of them that may be requested and paid for
    answer   the best log loss at the target compute, over N, D and λ
    gain(x)  how much a run at x lowers the SD of the answer, and the excess loss expected there
             because λ* is not known (`Aim.gain`); in closed form, since the surface is linearised
    e(C)     the observed envelope: the least loss of a finished run at no more compute
    EI(x)    E max(e(C(x)) − f(x), 0): the expected improvement of the envelope by a run at x, at
             its own compute
    cost(x)  price(x) + left/HORIZON, where ``left`` is what may still be spent

Both are divided by the cost. The gain assumes that the surface is right. The improvement of the
envelope does not, and finds where the surface is wrong: a better λ, or a size that does better than
expected. So the two values take turns.

left/HORIZON is added to the cost because a run that is ten times cheaper should not win if both
cost nearly nothing. Otherwise hundreds of small runs would be made, which tell less about large
runs than the surface expects. Without a budget a value is divided by the price itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from lawsmith.acquisition import log_expected_improvement
from lawsmith.costs import Pricing, SeparateRuns
from lawsmith.frontier import frontier_level
from lawsmith.grid import BoolArray, FloatArray, Grid, IntArray
from lawsmith.policies.base import (
    TIE,
    Choice,
    InitialDesign,
    Policy,
    at_random,
    best_row,
    unasked,
)
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Hints, Posterior, Surrogate

HORIZON = 20.0  # tried: 20, 50, 100 and 200, of which 20 and 50 are the best
BEYOND = 100.0  # the target without one given, in times the grid's largest compute: two decades

ValueName = Literal["envelope", "answer"]
WORDS: dict[ValueName, str] = {
    "envelope": "to lower the envelope",
    "answer": "to know the answer",
}


@dataclass(frozen=True, eq=False)
class Weighed:
    """The choice of one run, and the scores of all candidates.

    rows         (r,) candidates that can be paid for, ascending
    improvement  (r,) expected improvement of the envelope by a run, on the surrogate's scale; None
                 before any run has a loss
    gain         (r,) value of a run for the answer, in log loss; None for a surrogate that cannot
                 look beyond its grid
    scores       by name, (r,) log of each value per cost; only values that could choose
    turn         the value that chose
    row          the chosen row
    """

    posterior: Posterior
    rows: IntArray
    improvement: FloatArray | None
    gain: FloatArray | None
    scores: dict[ValueName, FloatArray]
    turn: ValueName
    row: int

    def rank(self, value: ValueName, row: int) -> int | None:
        """1 for the best candidate by that value per cost; ties share a rank."""
        if value not in self.scores:
            return None
        scores = self.scores[value]
        own = float(scores[self.place(row)])
        return 1 + int((scores > own + TIE * abs(own)).sum())

    def place(self, row: int) -> int:
        """The position of a row of the grid in ``rows``."""
        return int(np.searchsorted(self.rows, row))

    def choice(self) -> Choice:
        """The run with its values."""
        i, values = self.place(self.row), {}
        if self.improvement is not None:
            values["lowers the envelope by"] = float(self.improvement[i])
        if self.gain is not None:
            values["worth for the answer"] = float(self.gain[i])
        return Choice(self.row, WORDS[self.turn], {**values, **self.posterior.expected(self.row)})


@dataclass(frozen=True)
class Frontier(Policy):
    """Improvement of the envelope and value for the answer, per FLOP, by turns.

    initial  runs drawn at random before the surrogate is used
    target   the compute at which the best loss is wanted; None: BEYOND times the grid's largest
    values   which values take turns; one of them may be left out
    horizon  as in the module's notation; infinite divides by the price alone
    pricing  what a run costs after those before it
    replicates  whether a finished run may be repeated with another seed, if that is worth more for
             the answer than any new run
    """

    surrogate: Surrogate
    initial: InitialDesign
    target: float | None = None
    values: tuple[ValueName, ...] = ("answer", "envelope")
    horizon: float = HORIZON
    pricing: Pricing = field(default_factory=SeparateRuns)
    replicates: bool = False

    @property
    def name(self) -> str:
        return f"frontier+{self.surrogate.name}"

    def open_rows(self, grid: Grid, runs: Runs) -> BoolArray:
        """(m,) rows never requested and, for replicates, those with a loss and no pending run."""
        free = unasked(grid, runs)
        if self.replicates:
            free[runs.of(State.DONE).index] = True
            free[runs.of(State.PENDING).index] = False
        return free

    def _next(
        self, grid: Grid, runs: Runs, free: BoolArray, left: float | None, rng: np.random.Generator
    ) -> Choice:
        weighed = self.weigh(grid, runs, free, left)
        return at_random(free, "at random", rng) if weighed is None else weighed.choice()

    def weigh(
        self,
        grid: Grid,
        runs: Runs,
        free: BoolArray,
        left: float | None,
        hints: Hints | None = None,
    ) -> Weighed | None:
        """How the run after ``runs`` is chosen among ``free``; None if there is nothing to go by.

        hints   what curves predict for rows without a run
        """
        seen = runs.any_done
        if not seen and self.initial.n:
            return None
        posterior, rows = self.surrogate.fit(grid, runs), np.flatnonzero(free)
        if hints is not None and len(hints.rows) and posterior.with_hints is not None:
            posterior = posterior.with_hints(hints)
        log_cost = self._log_cost(grid, runs, left)[rows]
        gain = self.gain(grid, posterior)
        improvement, scores = None, dict[ValueName, FloatArray]()
        if seen:
            log_improvement = self._log_improvement(grid, runs, posterior)[rows]
            improvement = np.exp(log_improvement)
            # A second run of a configuration does not lower the envelope; only luck would.
            again = ~unasked(grid, runs)[rows]
            if not again.all():
                scores["envelope"] = np.where(again, -np.inf, log_improvement - log_cost)
        if gain is not None and (gain := gain[rows]).max() > 0.0:
            with np.errstate(divide="ignore"):
                scores["answer"] = np.log(gain) - log_cost
        turn = self._turn(runs, scores)
        if turn is None:
            return None
        row = best_row(rows, scores[turn], grid.C[rows])
        return Weighed(posterior, rows, improvement, gain, scores, turn, row)

    def _turn(self, runs: Runs, scores: dict[ValueName, FloatArray]) -> ValueName | None:
        """The value whose turn it is, among those with scores."""
        usable = [value for value in self.values if value in scores] or list(scores)
        return usable[len(runs) % len(usable)] if usable else None

    def _log_cost(self, grid: Grid, runs: Runs, left: float | None) -> FloatArray:
        """(m,) log of the cost that values are divided by."""
        least = 0.0 if left is None else max(left, 0.0) / self.horizon
        return np.asarray(np.log(self.pricing.added(grid, runs.index) + least))

    def gain(
        self, grid: Grid, posterior: Posterior, more: FloatArray | float = 0.0
    ) -> FloatArray | None:
        """(m,) the gain of each row; None for a surrogate that cannot look beyond its grid.

        more   (m,) variance of the observation of a row's loss, beside that of a run
        """
        if posterior.aim is None or "answer" not in self.values:
            return None
        aim = posterior.aim(self.target or BEYOND * float(grid.C.max()))
        return aim.gain(posterior.run_variance + more)

    def _log_improvement(self, grid: Grid, runs: Runs, posterior: Posterior) -> FloatArray:
        """(m,) log of the expected improvement of the envelope."""
        loss = runs.config_loss(len(grid))
        seen = np.log(loss) if posterior.scale == "log" else loss
        level = frontier_level(grid, seen, ("C",))
        # A row that is cheaper than every run so far has no envelope; the worst loss replaces it.
        level = np.where(np.isfinite(level), level, np.nanmax(seen))
        return log_expected_improvement(posterior.mean - level, posterior.sd, 0.0)
