"""Frontier: by turns the run that lowers the envelope most and the one that tells most of the law.

Notation and shapes
    m       candidates; s the surrogate's scale
    e(C)    the observed envelope: the least loss of a finished run at no more compute
    EI(x)   E max(e(C(x)) − f(x), 0): what a run at x is expected to lower the envelope by, at its
            own compute
    gain(x) the share of the variance of the law's prediction at the target that it removes
    γ       exponent of cost, 1; with a budget, times the share of it that is left

Expected improvement on the loss itself has its optimum at the top of the grid, where the loss is
least, and spends everything there. A law needs the best loss at every compute. Measured against
the envelope at the candidate's own compute and divided by its cost, improvement orders runs by
compute by itself: cheap slices first, each until it is learnt. Alone it climbs slowly, since it
does not ask what the envelope is for; the law's variance alone neglects what makes a frontier
best, its hyperparameters. By turns each makes up for the other.

With a budget, cost matters ever less as it is used up (γ falls to 0): what is left after the last
run buys nothing, so the last run is the best that can be paid, not the best per FLOP.

For a law of other inputs than compute the envelope is the least loss of each cell of its inputs,
and a cell without a run is compared with what the surrogate expects of it at best.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lawsmith.acquisition import log_expected_improvement
from lawsmith.costs import Apart, Pricing
from lawsmith.fantasies import plausible_laws
from lawsmith.frontier import floor
from lawsmith.grid import FloatArray, Grid, IntArray
from lawsmith.laws.allocation import log_inputs_at
from lawsmith.laws.catalogue import LC
from lawsmith.laws.law import Law
from lawsmith.policies.choosing import Designed, best_row
from lawsmith.policies.initial import InitialDesign
from lawsmith.policies.law_gain import law_gain
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Posterior, Surrogate

DRAWS = 128  # plausible laws a gain is computed from
BEYOND = 100.0  # the target, in times the grid's largest compute, where none is given


@dataclass(frozen=True)
class Frontier(Designed):
    """Envelope improvement and law variance per FLOP, by turns, on any surrogate.

    law      that is sought: its inputs say what its envelope is
    target   the compute at which the law's prediction is wanted; None: a hundred times the grid's
    budget   FLOPs that may be spent in all; None: no end in sight
    n_draws  plausible laws of a gain; 0 leaves the law's variance out, and so does a surrogate
             without joint draws
    cost_exponent   γ while nothing is spent; 0 to ignore what a run costs
    pricing  what a run costs after those before it
    """

    surrogate: Surrogate
    initial: InitialDesign
    law: Law = LC
    target: float | None = None
    budget: float | None = None
    n_draws: int = DRAWS
    cost_exponent: float = 1.0
    pricing: Pricing = field(default_factory=Apart)

    @property
    def name(self) -> str:
        return f"frontier+{self.surrogate.name}"

    def _next(self, grid: Grid, runs: Runs, rng: np.random.Generator) -> int:
        rows = np.flatnonzero(self.candidates(grid, runs))
        blind = not (runs.state == State.DONE.value).any()
        if blind or not self.searching(grid, runs):
            return int(rows[rng.integers(len(rows))])
        posterior = self.surrogate.fit(grid, runs)
        rows, cost = self.priced(grid, runs)
        scores = None
        if law_turn(runs):
            scores = self.law_scores(self.gains(grid, runs, posterior, rng), rows, cost)
        if scores is None:
            scores = self.improvements(grid, runs, posterior)[rows] - cost
        return best_row(rows, scores, grid.C[rows])

    def law_scores(
        self, gains: FloatArray | None, rows: IntArray, cost: FloatArray
    ) -> FloatArray | None:
        """(r,) log of the law gain per cost at ``rows``; None where no run teaches of the law."""
        if gains is None or not gains[rows].max() > 0.0:
            return None
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(gains[rows]) - cost)

    def priced(self, grid: Grid, runs: Runs) -> tuple[IntArray, FloatArray]:
        """(r,) the candidates that can be paid, and the log of what each one's value is divided by.

        That is its price to the power γ.
        """
        price = self.pricing.each(grid, runs.index)
        rows = np.flatnonzero(self.candidates(grid, runs))
        rows, exponent = self._affordable(grid, runs, rows, price)
        return rows, exponent * np.log(price[rows])

    def _affordable(
        self, grid: Grid, runs: Runs, rows: IntArray, price: FloatArray
    ) -> tuple[IntArray, float]:
        """The rows that can still be paid (all when none can), and the exponent of their cost."""
        if self.budget is None:
            return rows, self.cost_exponent
        left = max(self.budget - self.pricing.together(grid, runs.index), 0.0)
        paid = rows[price[rows] <= left]
        exponent = self.cost_exponent * min(left / self.budget, 1.0)
        return (paid if len(paid) else rows), exponent

    def improvements(self, grid: Grid, runs: Runs, posterior: Posterior) -> FloatArray:
        """(m,) log of the expected improvement of the envelope."""
        gap = posterior.mean - self._envelope(grid, runs, posterior)
        return log_expected_improvement(gap, posterior.sd, 0.0)

    def gains(
        self, grid: Grid, runs: Runs, posterior: Posterior, rng: np.random.Generator
    ) -> FloatArray | None:
        """(m,) share of the variance of the law's prediction that each run removes.

        None where there is no law yet, or none that is read at a compute.
        """
        if not self.n_draws or posterior.sampler is None:
            return None
        plausible = plausible_laws(self.law, grid, runs, posterior, self.n_draws, rng)
        if plausible is None:
            return None
        x = log_inputs_at(self.law, plausible.mixed, self.target or BEYOND * float(grid.C.max()))
        return None if x is None else law_gain(plausible, x, posterior.noise, len(grid))

    def _envelope(self, grid: Grid, runs: Runs, posterior: Posterior) -> FloatArray:
        """(m,) e at each row, on the surrogate's scale."""
        loss = runs.config_loss(len(grid))
        seen = np.log(loss) if posterior.scale == "log" else loss
        level = floor(grid, seen, self.law.inputs)
        if self.law.inputs == ("C",):
            # Cheaper than every run so far: anything it shows is new; the worst stands in.
            return np.where(np.isfinite(level), level, np.nanmax(seen))
        expected = floor(grid, posterior.mean, self.law.inputs)
        return np.where(np.isfinite(level), level, expected)


def law_turn(runs: Runs) -> bool:
    """Whether the next run is asked what it says of the law, and not of the envelope."""
    return len(runs) % 2 == 0
