"""Actions on trunks: values per FLOP by hand, what curves change, and when a trunk is stopped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from lawsmith.policies import Frontier, InitialDesign
from lawsmith.policies.actions import Rest, TrunkCosts, choose_action, judge_rest
from lawsmith.runs import Runs
from lawsmith.surrogates.base import Hints
from lawsmith.surrogates.surface import SurfaceModel
from tests.policies.fakes import ladder
from tests.policies.test_frontier import Fixed
from tests.surrogates.studies import done, small_grid, truth

NO_HINTS = Hints(np.arange(0), np.zeros(0), np.zeros(0), np.zeros(0))
FOUR = ladder([1.0, 2.0, 4.0, 8.0])
RUN = Runs.from_losses([0], [3.0])


def costs(trunk, decay, by_curve=np.inf, free=True) -> TrunkCosts:
    m = len(trunk)
    told = (np.full(m, by_curve), np.full(m, free), NO_HINTS)
    return TrunkCosts(np.array(trunk), np.array(decay), told[1], told[0], told[2])


def frontier(covariance, sd=0.1) -> Frontier:
    """Values by the answer alone: gain = covariance² / (2·variance)."""
    fixed = Fixed([1.0] * 4, [sd] * 4, "log", covariance)
    return Frontier(fixed, InitialDesign(0), values=("answer",), horizon=np.inf)


def chosen(policy, way, left=100.0, runs=RUN):
    return choose_action(policy, FOUR, runs, way, left=left, budget=100.0)


def test_a_decay_is_worth_its_loss_at_the_price_of_it_and_of_its_missing_trunk():
    policy = frontier([0.0, 0.1, 0.1, 0.2])
    # Rows 1 and 2 are worth the same, row 3 four times as much: 1/3, 1/2 and 4/9 by price.
    found = chosen(policy, costs([0.0, 2.0, 1.0, 8.0], [1.0, 1.0, 1.0, 1.0]))
    assert (found.kind, found.choice.row) == ("decay", 2)
    assert found.per_flop == pytest.approx(0.1**2 / 2 / 0.1**2 / 2.0)
    assert "its trunk comes first" in found.choice.why
    # Once its trunk is there, row 3 has four times the worth of row 2 at the price of its decay.
    found = chosen(policy, costs([0.0, 2.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0]))
    assert found.choice.row == 3
    assert "its trunk is there" in found.choice.why
    assert found.choice.values["FLOPs with its trunk"] == 1.0


def test_a_trunk_alone_is_chosen_once_its_curve_predicts_its_decay_well():
    policy, trunk, decay = (
        frontier([0.0, 0.0, 0.0, 0.2]),
        [0.0, 1.0, 1.0, 8.0],
        [1.0, 1.0, 1.0, 2.0],
    )
    # Known exactly, a trunk of 8 tells what a trunk and a decay of 10 do: 10/8 of the value.
    found = chosen(policy, costs(trunk, decay, by_curve=0.0))
    assert (found.kind, found.choice.row) == ("trunk", 3)
    assert found.per_flop == pytest.approx(0.2**2 / 2 / 0.1**2 / 8.0)
    # With a quarter of the variance of a run more it is worth as much per FLOP, and with more less.
    assert chosen(policy, costs(trunk, decay, by_curve=0.24 * 0.1**2)).kind == "trunk"
    assert chosen(policy, costs(trunk, decay, by_curve=0.26 * 0.1**2)).kind == "decay"
    assert chosen(policy, costs(trunk, decay, by_curve=np.inf)).kind == "decay"


def test_only_what_can_begin_and_be_paid_is_chosen():
    policy = frontier([0.0, 0.1, 0.1, 0.2])
    way = costs([0.0, 2.0, 1.0, 0.0], [1.0] * 4)
    waiting = replace(way, free=np.array([True, True, True, False]))
    assert chosen(policy, waiting).choice.row == 2
    assert chosen(policy, way, left=0.5) is None
    assert chosen(policy, way, runs=Runs.from_losses([0, 1, 2, 3], [3.0] * 4)) is None


def test_the_rest_of_a_budget_is_not_spent_on_what_is_not_wanted():
    policy, way = frontier([0.0, 0.1, 0.1, 0.9]), costs([0.0] * 4, [0.5, 0.5, 0.5, 2.0])
    assert chosen(policy, way, left=0.9) is None  # 1 % of the budget, and row 3 is wanted
    assert chosen(policy, way, left=1.5).choice.row in (1, 2)


@pytest.mark.parametrize(("mean", "stop"), [(1.5, True), (0.98, False)])
def test_a_run_is_stopped_where_it_is_not_on_the_envelope_and_another_is_worth_more(mean, stop):
    policy, way = frontier([0.0, 0.2, 0.1, 0.1], sd=0.01), costs([1.0] * 4, [1.0] * 4)
    rest = Rest(row=3, cost=2.0, mean=mean, scale=0.02, df=5.0)
    stopped, values = judge_rest(policy, FOUR, RUN, way, rest, left=100.0)
    assert stopped is stop
    # The envelope seen is ln 3; candidates are sure to have 1 + 2.6·0.01.
    assert values["envelope"] == pytest.approx(np.exp(1.026))
    chance = student.cdf((1.026 + np.log(1.003) - mean) / 0.02, 5)
    assert values["chance of the envelope"] == pytest.approx(chance)


def test_a_run_goes_on_while_its_rest_is_worth_more_than_another():
    policy, way = frontier([0.0, 0.1, 0.1, 0.2], sd=0.01), costs([1.0] * 4, [1.0] * 4)
    way = replace(way, free=np.array([True, True, True, False]))
    rest = Rest(row=3, cost=0.5, mean=1.5, scale=0.02, df=5.0)
    stopped, values = judge_rest(policy, FOUR, RUN, way, rest, left=100.0)
    assert not stopped
    ratio = values["worth of its rest per FLOP"] / values["worth of the next per FLOP"]
    assert ratio == pytest.approx((0.2 / 0.1) ** 2 * 2.0 / 0.5)


def test_a_hint_counts_as_a_run_whose_noise_is_larger_by_its_error():
    grid = small_grid()
    rows = np.arange(0, len(grid), 3)[:8]
    runs = done(rows, truth(grid)[rows])
    row = 1
    y = float(np.log(truth(grid)[row]))
    plain = SurfaceModel().fit(grid, runs)
    hint = Hints(np.array([row]), np.array([y]), np.zeros(1), np.ones(1))
    told = plain.with_hints(hint)
    assert told.sd[row] < plain.sd[row]
    vague = plain.with_hints(hint._replace(variance=np.array([1.0])))
    np.testing.assert_allclose(vague.mean, plain.mean, atol=1e-3)
    np.testing.assert_allclose(vague.sd, plain.sd, rtol=1e-2)
    # Two rows that share one error say as much as one of them with half of the noise each.
    twice = Hints(np.array([row, row]), np.array([y, y]), np.zeros(2), np.full(2, 2.0))
    np.testing.assert_allclose(plain.with_hints(twice).sd, told.sd, rtol=1e-6)
    # The posterior that was asked is as it was.
    np.testing.assert_array_equal(SurfaceModel().fit(grid, runs).mean, plain.mean)
