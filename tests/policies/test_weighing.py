"""Weighing: the values and ranks of a choice by hand, and that it is the policy's own choice."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.costs import Trunks
from lawsmith.datasets import demo_study
from lawsmith.laws.catalogue import LC
from lawsmith.policies import Frontier, InitialDesign, make_policy
from lawsmith.policies.weighing import weigh
from lawsmith.runs import Runs
from lawsmith.surrogates import make_surrogate
from tests.policies.fakes import Told, box, ladder


def draw(n: int) -> np.random.Generator:
    return np.random.default_rng([3, n])


def test_improvements_per_flop_and_ranks_are_those_of_a_hand():
    grid = ladder([1.0, 2.0, 4.0, 8.0])
    runs = Runs.from_losses([0, 2], [3.0, 2.0])
    # Row 1 is 0.5 below the envelope at cost 2, row 3 is 1.0 below it at cost 8.
    policy = Frontier(Told([3.0, 2.5, 2.0, 1.0], 1e-6), InitialDesign(1))
    found = weigh(policy, grid, runs, draw(2))
    assert found.rows.tolist() == [1, 3]
    np.testing.assert_allclose(found.improvement, [0.5, 1.0], rtol=1e-6)
    np.testing.assert_allclose(np.exp(found.scores["envelope"]), [0.25, 0.125], rtol=1e-6)
    assert (found.turn, found.row, found.gain) == ("envelope", 1, None)
    assert [found.rank("envelope", row) for row in (1, 3)] == [1, 2]
    assert found.rank("law", 1) is None


def test_candidates_that_cannot_be_paid_are_not_weighed():
    grid = ladder([1.0, 2.0, 4.0, 8.0])
    runs = Runs.from_losses([0, 2], [3.0, 2.0])
    policy = Frontier(Told([3.0, 2.5, 2.0, 1.0], 1e-6), InitialDesign(1), budget=8.0)
    assert weigh(policy, grid, runs, draw(2)).rows.tolist() == [1]


@pytest.mark.parametrize("runs", [Runs.empty(), Runs.from_losses([0], [3.0])])
def test_a_design_is_drawn_and_not_weighed(runs):
    policy = Frontier(Told([3.0, 2.5, 2.0], 0.1), InitialDesign(2))
    assert weigh(policy, ladder([1.0, 2.0, 4.0]), runs, draw(0)) is None


def test_an_exhausted_grid_leaves_nothing_to_weigh():
    policy = Frontier(Told([3.0, 2.5], 0.1), InitialDesign(1))
    assert weigh(policy, ladder([1.0, 2.0]), Runs.from_losses([0, 1], [3.0, 2.0]), draw(2)) is None


@pytest.mark.parametrize("options", [{}, {"budget": 2e21}, {"pricing": Trunks(0.2)}])
def test_what_is_weighed_is_what_the_policy_goes_by(options):
    study = demo_study()
    grid, loss = study.grid, study.runs.config_loss(len(study.grid))
    policies = [
        make_policy("frontier", make_surrogate("trend"), law=LC, n_init=6, **options)
        for _ in range(2)
    ]
    runs, turns = Runs.empty(), []
    for n in range(14):
        row = policies[0].ask(grid, runs, 1, draw(n))[0]
        found = weigh(policies[1], grid, runs, draw(n))
        if found is not None:
            turns.append(found.turn)
            assert found.row == row
            assert found.rank(found.turn, row) == 1
        runs = runs.append(Runs.from_losses([row], loss[[row]]))
    assert set(turns) == {"envelope", "law"}
    assert len(turns) == 8


def test_gains_are_shares_of_a_variance():
    grid = box(4, 4, 2)
    loss = 2.0 + 3.0 * grid.N**-0.5 + 4.0 * grid.D**-0.4 + 0.01 * grid.column("lr")
    runs = Runs.from_losses(np.arange(0, 16, 2), loss[:16:2])
    policy = make_policy("frontier", make_surrogate("trend"), law=LC, n_init=4)
    found = weigh(policy, grid, runs, draw(8))
    assert found.turn == "law"
    assert ((found.gain >= 0.0) & (found.gain <= 1.0)).all()
    best = found.place(found.row)
    assert found.gain[best] / grid.C[found.row] == np.max(found.gain / grid.C[found.rows])
