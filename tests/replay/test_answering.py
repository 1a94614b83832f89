"""An outlook after some runs of a replay, and a replay that a rule on it ends."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from lawsmith.costs import Trunks
from lawsmith.datasets import ReadOptions, study_from_frame
from lawsmith.laws.catalogue import get_law
from lawsmith.outlook import DRAWS
from lawsmith.policies import make_policy
from lawsmith.replay import Stop, outlook_after, prepare, replay, run_replay
from lawsmith.runs import Runs
from lawsmith.stopping import StopRule
from lawsmith.surrogates import make_surrogate
from lawsmith.surrogates.base import Posterior

TARGET = 1e22
RULE = StopRule(TARGET, 0.12)


def made_study():
    """80 configurations of a known law with a bowl in the learning rate."""
    rows = list(
        itertools.product(
            [2e7, 4e7, 8e7, 1.6e8, 3.2e8], [1e9, 2e9, 4e9, 8e9], [5e-4, 1e-3, 2e-3, 4e-3]
        )
    )
    table = pd.DataFrame(rows, columns=["N", "D", "lr"])
    noise = 0.001 * np.random.default_rng(0).standard_normal(len(table))
    law = 1.7 + 400 * table.N**-0.34 + 400 * table.D**-0.28
    table["loss"] = law * np.exp(0.03 * np.log(table.lr / 1.5e-3) ** 2 + noise)
    return study_from_frame(table, ReadOptions(), name="made")


@pytest.fixture(scope="module")
def task():
    return prepare(made_study(), get_law("LC"))


def frontier(task, **options):
    return make_policy("frontier", make_surrogate("trend"), law=task.law, n_init=6, **options)


def runs_of(task, rows):
    return Runs.from_losses(rows, task.loss[rows])


def reach_by_hand(task, rows, seed, n_draws=DRAWS):
    """How far the truth's interval at TARGET reaches after ``rows``, from a policy of its own."""
    runs = runs_of(task, rows)
    seen = outlook_after(task, frontier(task), runs, (TARGET,), seed=seed, n_draws=n_draws)
    if seen is None:
        return np.inf
    truth = seen.predictions[0].truth
    return (truth.high - truth.low) / (truth.high + truth.low)


@pytest.mark.parametrize("block", [1, 16])
def test_a_replay_ends_after_the_run_that_meets_its_rule_and_not_before(task, block):
    stop = Stop(rule=RULE)
    rows = [s.candidate for s in replay(task, frontier(task), seed=2, stop=stop, block=block)]
    assert 7 < len(rows) < len(task.pool)
    met = [
        all(
            reach_by_hand(task, rows[: n + 1], 2, draws) <= RULE.within
            for draws in (DRAWS, 10 * DRAWS)
        )
        for n in range(len(rows))
    ]
    assert met == [False] * (len(rows) - 1) + [True]


def test_one_that_had_ended_so_is_not_gone_on_with(task):
    stop = Stop(rule=RULE)
    done = list(replay(task, frontier(task), seed=2, stop=stop))
    assert list(replay(task, frontier(task), seed=2, stop=stop, done=done)) == []


def test_it_is_the_beginning_of_the_replay_without_the_rule(task):
    short = run_replay(task, frontier(task), seed=2, stop=Stop(rule=RULE))
    n = len(short.steps)
    longer = run_replay(task, frontier(task), seed=2, stop=Stop(iterations=n + 1))
    assert [s.candidate for s in short.steps] == [s.candidate for s in longer.steps[:n]]


def test_the_first_limit_that_is_reached_ends_it(task):
    met = len(run_replay(task, frontier(task), seed=2, stop=Stop(rule=RULE)).steps)
    for iterations, n in ((met - 1, met - 1), (met + 3, met)):
        stop = Stop(iterations=iterations, rule=RULE)
        assert len(run_replay(task, frontier(task), seed=2, stop=stop).steps) == n


def test_nothing_is_known_before_there_is_a_design_a_law_and_a_surrogate(task):
    policy = frontier(task)
    cheap = np.argsort(task.pool.C, kind="stable")
    spread = np.unique(np.linspace(0, len(cheap) - 1, 30).astype(int))

    def known(policy, rows):
        return outlook_after(task, policy, runs_of(task, rows), (TARGET,), seed=0) is not None

    assert not known(policy, cheap[:5].tolist())
    assert known(policy, [*cheap[:6].tolist(), *cheap[spread[8:]].tolist()])
    random = make_policy("full", None, n_init=6)
    assert not known(random, cheap[:20].tolist())
    assert not known(make_policy("full", NoDraws(), n_init=6), cheap[:20].tolist())


class NoDraws:
    """A surrogate with means and deviations alone."""

    name = "no draws"

    def fit(self, grid, runs):
        return Posterior(np.log(3.0) - 0.01 * np.log(grid.C), np.ones(len(grid)), "log", 0.0)


def test_a_rule_without_an_outlook_never_ends_a_replay(task):
    stop = Stop(rule=StopRule(TARGET, 10.0), iterations=15)
    assert len(run_replay(task, make_policy("full", None, n_init=6), stop=stop).steps) == 15
    assert len(run_replay(task, make_policy("full", NoDraws(), n_init=6), stop=stop).steps) == 15


def test_a_law_without_compute_has_no_answer_at_one():
    task = prepare(made_study(), get_law("LD"))
    rows = np.argsort(task.pool.C, kind="stable")[::2].tolist()
    assert outlook_after(task, frontier(task), runs_of(task, rows), (TARGET,), seed=0) is None
    seen = outlook_after(task, frontier(task), runs_of(task, rows), (), seed=0)
    assert seen is not None
    assert seen.predictions == ()


def test_the_costs_of_a_replay_on_trunks_are_sums_of_prices():
    price = Trunks(0.3)
    task = prepare(made_study(), get_law("LC"), pricing=price)
    trace = run_replay(task, frontier(task, pricing=price), seed=0, stop=Stop(iterations=25))
    rows = [step.candidate for step in trace.steps]
    paid = [price.each(task.pool, rows[:k])[row] for k, row in enumerate(rows)]
    assert [step.cost for step in trace.steps] == pytest.approx(np.cumsum(paid).tolist())
    total = price.together(task.pool, range(len(task.pool)))
    assert trace.steps[-1].cost_fraction == pytest.approx(sum(paid) / total)
    assert [step.compute for step in trace.steps] == task.pool.C[rows].tolist()
