"""Actions of a study with trunks, each by its value per FLOP: a decay, a longer trunk, stopping.

Notation and shapes
    m        candidates: N, D and λ. The loss of one is known after a decay that leaves the trunk of
             its N and λ at the tokens b = (1 − δ)·D
    trunk    (m,) FLOPs of the trunk that are still to be paid before b is reached, 0 where it is
    decay    (m,) FLOPs of the decay itself
    gain(x)  what the loss of x is worth for the answer, EI(x) for the envelope, and cost as in
             :mod:`lawsmith.policies.frontier`
    v        (m,) variance with which a trunk alone predicts the log loss after a decay, as the
             branches so far have shown (:mod:`lawsmith.curves.gain`)

A **decay** at x is worth gain(x) (or EI(x) when it is the envelope's turn) at the joint price of
what is missing of the trunk and of the decay. A **longer trunk** alone, to b, is worth the gain of
a loss that is known with the variance v more, at the price of the trunk: once branches have shown
what a decay takes off, v is small, and the trunk's own curve tells most of what its decay would.
What a curve has told lowers the gain of the decays on its trunk, since the posterior has it.

**Letting a run go on** has the same value at the price of its rest. A run is **stopped** if the
chance is small that its end lies on the envelope, and another action is worth more per FLOP. The
envelope is the one that was seen or, where that is lower, the one that candidates are sure to have.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import stdtr

from lawsmith.costs import FixedPrices
from lawsmith.frontier import frontier_level
from lawsmith.grid import BoolArray, FloatArray, Grid
from lawsmith.policies.base import LEAST, SLACK, Choice, best_row, unasked
from lawsmith.policies.frontier import Frontier, Weighed
from lawsmith.runs import Runs
from lawsmith.surrogates.base import Hints, Posterior

ActionKind = Literal["decay", "trunk"]
WORDS = {
    ("decay", True): "; its trunk is there",
    ("decay", False): "; its trunk comes first",
    ("trunk", False): "; by the trunk's curve, without a decay",
}
# Chance of a place on the envelope below which a run may be stopped: of 200 runs that are stopped,
# one at most would have been there.
HOPELESS = 0.005
SURE = 2.6  # SDs: a candidate is at least that good with 99.5 %, as sure as HOPELESS is
NEAR = 0.003  # of the loss: so close above the envelope, the scatter of runs may decide


@dataclass(frozen=True, eq=False)
class TrunkCosts:
    """What the loss of each row costs now; see the module's notation.

    free     (m,) rows for which something can be begun at once
    by_curve (m,) v: the variance of a loss that is predicted from a trunk, infinite where unknown
    hints    losses that curves predict
    """

    trunk: FloatArray
    decay: FloatArray
    free: BoolArray
    by_curve: FloatArray
    hints: Hints

    @property
    def price(self) -> FloatArray:
        return self.trunk + self.decay


@dataclass(frozen=True, eq=False)
class Action:
    """What to begin for a row: its decay, after what is missing of its trunk, or the trunk alone.

    per_flop  the value by which it was chosen, per FLOP of its cost
    """

    kind: ActionKind
    choice: Choice
    per_flop: float


def choose_action(
    policy: Frontier, grid: Grid, runs: Runs, costs: TrunkCosts, *, left: float, budget: float
) -> Action | None:
    """The action of the largest value per FLOP; None where nothing can be paid.

    As for other runs, the rest of a budget is not spent on what is not wanted: once LEAST of it is
    left and the action that is wanted costs more, nothing is begun.
    """
    free = costs.free & unasked(grid, runs)
    payable = free & (costs.price <= left * SLACK)
    if not payable.any():
        return None
    if left <= LEAST * budget:
        wanted = _weigh(policy, grid, runs, costs, free, None)
        if wanted is None or costs.price[wanted.row] > left * SLACK:
            return None
    weighed = _weigh(policy, grid, runs, costs, payable, left)
    if weighed is None:
        return None
    best = float(weighed.scores[weighed.turn][weighed.place(weighed.row)])
    alone = _alone(policy, grid, costs, weighed, left)
    if alone is not None and alone[1] > best:
        return _of_trunk(weighed, costs, *alone)
    choice = weighed.choice()
    why = choice.why + WORDS["decay", bool(costs.trunk[choice.row] == 0.0)]
    values = {**choice.values, "FLOPs with its trunk": float(costs.price[choice.row])}
    return Action("decay", replace(choice, why=why, values=values), float(np.exp(best)))


def _weigh(
    policy: Frontier, grid: Grid, runs: Runs, costs: TrunkCosts, free: BoolArray, left: float | None
) -> Weighed | None:
    priced = replace(policy, pricing=FixedPrices(costs.price))
    return priced.weigh(grid, runs, free, left, costs.hints)


def _alone(
    policy: Frontier, grid: Grid, costs: TrunkCosts, weighed: Weighed, left: float
) -> tuple[int, float, float] | None:
    """(row, log of value per cost, value) of the best longer trunk without a decay.

    Only when it is the answer's turn: no trunk is on the envelope.
    """
    rows = weighed.rows
    able = (costs.trunk[rows] > 0.0) & np.isfinite(costs.by_curve[rows])
    if weighed.turn != "answer" or not able.any():
        return None
    more = np.where(np.isfinite(costs.by_curve), costs.by_curve, 0.0)
    gain = policy.gain(grid, weighed.posterior, more)
    if gain is None:
        return None
    with np.errstate(divide="ignore"):
        log_gain = np.log(gain[rows])
    cost = np.log(costs.trunk[rows] + max(left, 0.0) / policy.horizon)
    scores = np.where(able, log_gain - cost, -np.inf)
    row = best_row(rows, scores, grid.C[rows])
    return row, float(scores[weighed.place(row)]), float(gain[row])


def _of_trunk(weighed: Weighed, costs: TrunkCosts, row: int, score: float, gain: float) -> Action:
    values = {"worth for the answer": gain, **weighed.posterior.expected(row)}
    values["SD of a decay foretold"] = float(np.sqrt(costs.by_curve[row]))
    choice = Choice(row, "to know the answer" + WORDS["trunk", False], values)
    return Action("trunk", choice, float(np.exp(score)))


@dataclass(frozen=True)
class Rest:
    """A run under way: its row, the FLOPs that its loss still costs, and its predicted end.

    mean, scale, df   Student's t of the log loss after its decay, as its curve predicts it
    """

    row: int
    cost: float
    mean: float
    scale: float
    df: float


def judge_rest(
    policy: Frontier, grid: Grid, runs: Runs, costs: TrunkCosts, rest: Rest, *, left: float
) -> tuple[bool, dict[str, float]]:
    """Whether a run is to be stopped, and the values that say so.

    It is if letting it go on is worth less per FLOP than the best action instead of it.

    runs   without the run itself
    """
    payable = costs.price <= (left + rest.cost) * SLACK  # its rest would return to the budget
    free = costs.free & unasked(grid, runs) & payable
    other = _weigh(policy, grid, runs, costs, free, left) if free.any() else None
    if other is None or "answer" not in other.scores:
        return False, {}
    level = _level(grid, runs, other.posterior, rest.row)
    chance = float(stdtr(rest.df, (level + np.log1p(NEAR) - rest.mean) / rest.scale))
    values = {"expected end": float(np.exp(rest.mean)), "SD": float(np.exp(rest.mean) * rest.scale)}
    values |= {"envelope": float(np.exp(level)), "chance of the envelope": chance}
    if chance > HOPELESS:
        return False, values
    here = np.zeros(len(grid), dtype=np.bool_)
    here[rest.row] = True
    going = replace(costs, trunk=np.full(len(grid), rest.cost), decay=np.zeros(len(grid)))
    on = _weigh(policy, grid, runs, going, here, left)
    if on is None or "answer" not in on.scores:
        return False, values
    own, best = (float(np.exp(one.scores["answer"].max())) for one in (on, other))
    values |= {"worth of its rest per FLOP": own, "worth of the next per FLOP": best}
    return own < best, values


def _level(grid: Grid, runs: Runs, posterior: Posterior, row: int) -> float:
    """Log loss of the envelope at a row's compute, as it is or as it is sure to become.

    The least loss seen at no more compute, or the least that a candidate there has with SURE.
    """
    cheap = grid.C[row] * SLACK >= grid.C
    sure = float((posterior.mean + SURE * posterior.sd)[cheap].min())
    seen = float(frontier_level(grid, np.log(runs.config_loss(len(grid))), ("C",))[row])
    return min(seen, sure) if np.isfinite(seen) else sure
