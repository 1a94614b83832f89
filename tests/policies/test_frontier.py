"""Frontier: improvement of the envelope per FLOP, by hand and on a study whose answer is known."""

from __future__ import annotations

from dataclasses import replace

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
    better = policy.improvements(grid, runs, policy.surrogate.posterior)
    np.testing.assert_allclose(np.exp(better[[1, 3]]), [0.5, 0.5], rtol=1e-6)
    assert ask(policy, grid, runs) == 1
    # An improvement five times as large outweighs four times the cost.
    policy = Frontier(Fixed([3.0, 2.5, 2.0, -0.5], [1e-6] * 4), InitialDesign(1))
    assert ask(policy, grid, runs) == 3


def test_logs_are_compared_with_logs():
    grid = ladder([1.0, 2.0])
    runs = Runs.from_losses([0], [np.e])
    policy = Frontier(Fixed([1.0, 0.9], [1e-6, 1e-6], "log"), InitialDesign(1))
    better = policy.improvements(grid, runs, policy.surrogate.posterior)
    assert np.exp(better[1]) == pytest.approx(0.1, rel=1e-4)


def test_a_batch_takes_different_rows_and_an_exhausted_grid_gives_none():
    grid = ladder([1.0, 2.0, 4.0])
    policy = Frontier(Fixed([3.0, 2.5, 2.0], [0.1] * 3), InitialDesign(1))
    rng = np.random.default_rng(0)
    assert sorted(policy.ask(grid, Runs.empty(), 9, rng)) == [0, 1, 2]
    assert policy.ask(grid, Runs.from_losses([0, 1, 2], [3.0, 2.0, 1.0]), 1, rng) == []


def test_with_a_budget_nothing_dearer_is_asked_and_cost_matters_ever_less():
    grid = ladder([1.0, 2.0, 4.0, 8.0])
    # Improvements of 0.3 at cost 2 and 0.5 at cost 4: the first is better per FLOP.
    told = Fixed([3.0, 2.7, 2.5, -9.0], [1e-6] * 4)
    runs = Runs.from_losses([0], [3.0])
    assert ask(Frontier(told, InitialDesign(1), budget=1e9), grid, runs) == 3
    assert ask(Frontier(told, InitialDesign(1), budget=1e9, cost_exponent=3.0), grid, runs) == 1
    # Of 5 FLOPs 4 are left: row 3 is too dear, and γ = 4/5 still prefers row 1 ...
    assert ask(Frontier(told, InitialDesign(1), budget=5.0), grid, runs) == 1
    # ... but with half of 8 left and row 1 as good, a half-cooled γ takes the better run.
    late = Runs.from_losses([0, 0, 0, 0], [3.0] * 4)
    assert ask(Frontier(told, InitialDesign(1), budget=8.0), grid, late) == 2


def test_a_run_that_settles_the_law_is_asked_although_it_lowers_nothing():
    # The last point of the envelope is uncertain and costs as much as any; the law's variance at
    # the target comes from it alone.
    grid = ladder([1.0, 10.0, 100.0, 1000.0, 1001.0])
    mean, sd = np.log([5.0, 4.0, 3.3, 2.9, 5.0]), np.array([0.0, 0.0, 0.0, 0.05, 0.05])

    def sampler(n, rng, rows):
        return mean[rows] + sd[rows] * rng.standard_normal((n, len(rows)))

    class Known:
        name = "known"

        def fit(self, grid, runs):
            return Posterior(mean, sd + 1e-9, "log", 0.0, sampler, noise=1e-3)

    policy = Frontier(Known(), InitialDesign(1))
    runs = Runs.from_losses([0, 1], [5.0, 4.0])
    gains = policy.gains(grid, runs, Known().fit(grid, runs), np.random.default_rng(0))
    assert gains[3] > 0.8
    np.testing.assert_allclose(gains[[0, 1, 2, 4]], 0.0, atol=0.05)
    assert ask(policy, grid, runs) == 3
    assert replace(policy, n_draws=0).gains(grid, runs, None, None) is None


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
        policy = make_policy(name, make_surrogate(surrogate), law=task.law)
        shares[name] = run_replay(task, policy, seed=0, stop=stop).steps[-1].envelope_observed
    assert shares["frontier"] >= {"LC": 0.6, "chinchilla": 0.3}[law]
    assert shares["frontier"] > shares["window"]
