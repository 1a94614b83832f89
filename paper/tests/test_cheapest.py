"""Cheapest: runs in the order of their cost, those of equal cost in an order of the seed."""

from __future__ import annotations

import numpy as np

from lawsmith.runs import Runs
from lawsmith_paper.rivals.cheapest import Cheapest
from tests.policies.fakes import Distance, ladder, runs_of


def order(grid, seed):
    return Cheapest().ask(grid, Runs.empty(), len(grid), np.random.default_rng(seed))


def test_every_run_comes_in_the_order_of_its_cost():
    grid = ladder([4.0, 1.0, 9.0, 2.0])
    assert order(grid, 0) == order(grid, 1) == [1, 3, 0, 2]


def test_runs_of_equal_cost_are_shuffled_by_the_seed():
    grid = ladder([2.0, 1.0], n_lr=6)
    orders = [order(grid, seed) for seed in range(5)]
    for rows in orders:
        assert sorted(rows[:6]) == list(range(6, 12))
        assert sorted(rows[6:]) == list(range(6))
    assert len({tuple(rows) for rows in orders}) == 5


def test_what_was_run_at_other_costs_does_not_matter():
    grid = ladder([1.0, 2.0, 3.0, 4.0])
    rng = np.random.default_rng(0)
    assert Cheapest().ask(grid, runs_of(done=[3], failed=[0]), 2, rng) == [1, 2]


def test_a_surrogate_has_no_say_in_the_choice():
    grid, surrogate = ladder([1.0, 2.0, 3.0]), Distance()
    policy = Cheapest(surrogate)
    assert policy.ask(grid, runs_of(done=[1]), 2, np.random.default_rng(0)) == [0, 2]
    assert surrogate.seen == []
    assert policy.name == "cheapest+distance"
