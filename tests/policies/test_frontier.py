"""Frontier: improvement of the envelope per FLOP, by hand and on a study whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.datasets import load
from lawsmith.errors import LawsmithError
from lawsmith.laws.catalogue import get_law
from lawsmith.policies import Frontier, InitialDesign, make_policy
from lawsmith.runs import Runs
from lawsmith.surrogates.base import Posterior
from tests.policies.fakes import ladder


class Fixed:
    """A posterior that is given."""

    name = "fixed"

    def __init__(self, mean, sd, scale="loss"):
        self.posterior = Posterior(np.array(mean), np.array(sd), scale, 0.0)

    def fit(self, grid, runs):
        return self.posterior


def ask(policy, grid, runs):
    return policy.ask(grid, runs, 1, np.random.default_rng(0))[0]


def test_improvement_is_over_the_best_at_no_more_compute_and_per_flop():
    grid = ladder([1.0, 2.0, 4.0, 8.0])
    runs = Runs.from_losses([0, 2], [3.0, 2.0])
    # Row 1 improves on 3.0 by 0.5 at cost 2, row 3 on 2.0 by 0.5 at cost 8.
    policy = Frontier(Fixed([3.0, 2.5, 2.0, 1.5], [1e-6] * 4), InitialDesign(1))
    scores = policy.scores(grid, runs, policy.surrogate.posterior)
    np.testing.assert_allclose(np.exp(scores[[1, 3]]), [0.5 / 2, 0.5 / 8], rtol=1e-6)
    assert ask(policy, grid, runs) == 1
    # An improvement five times as large outweighs four times the cost.
    policy = Frontier(Fixed([3.0, 2.5, 2.0, -0.5], [1e-6] * 4), InitialDesign(1))
    assert ask(policy, grid, runs) == 3


def test_logs_are_compared_with_logs():
    grid = ladder([1.0, 2.0])
    runs = Runs.from_losses([0], [np.e])
    policy = Frontier(Fixed([1.0, 0.9], [1e-6, 1e-6], "log"), InitialDesign(1))
    scores = policy.scores(grid, runs, policy.surrogate.posterior)
    assert np.exp(scores[1]) == pytest.approx(0.1 / 2, rel=1e-4)


def test_a_batch_takes_different_rows_and_an_exhausted_grid_gives_none():
    grid = ladder([1.0, 2.0, 4.0])
    policy = Frontier(Fixed([3.0, 2.5, 2.0], [0.1] * 3), InitialDesign(1))
    rng = np.random.default_rng(0)
    assert sorted(policy.ask(grid, Runs.empty(), 9, rng)) == [0, 1, 2]
    assert policy.ask(grid, Runs.from_losses([0, 1, 2], [3.0, 2.0, 1.0]), 1, rng) == []


def test_it_needs_a_surrogate():
    with pytest.raises(LawsmithError, match=r"policy frontier: got no surrogate"):
        make_policy("frontier", None)


@pytest.mark.parametrize("law", ["LC", "chinchilla"])
def test_it_finds_the_envelope_of_a_study_with_a_tenth_of_its_compute(law):
    from lawsmith.replay import Stop, prepare, run_replay
    from lawsmith.surrogates import make_surrogate

    task = prepare(load("synthetic-oellm-multilingual"), get_law(law))
    stop = Stop(budget=0.1 * task.total_compute)
    shares = {}
    for name, surrogate in (("frontier", "trend"), ("window", "gp")):
        policy = make_policy(name, make_surrogate(surrogate), inputs=task.law.inputs)
        shares[name] = run_replay(task, policy, seed=0, stop=stop).steps[-1].envelope_observed
    assert shares["frontier"] >= {"LC": 0.6, "chinchilla": 0.3}[law]
    assert shares["frontier"] > shares["window"]
