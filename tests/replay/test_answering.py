"""The answer after some runs of a replay, and a replay that a rule on it ends."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from lawsmith.answer import Target, answer
from lawsmith.costs import Trunks
from lawsmith.datasets import ReadOptions, study_from_frame
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import get_law
from lawsmith.policies import make_policy
from lawsmith.replay import Stop, answer_after, answers_of, prepare, replay, run_replay
from lawsmith.replay.loop import is_due
from lawsmith.runs import Runs
from lawsmith.stopping import StopRule
from lawsmith.surrogates import make_surrogate

pytestmark = pytest.mark.usefixtures("shared_fits")
TARGET = 1e22
RULE = StopRule(TARGET, 0.07)


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
    return make_policy("frontier", make_surrogate("surface"), n_init=6, **options)


def runs_of(task, rows):
    return Runs.from_losses(rows, task.loss[rows])


def half_width(task, rows):
    """Of the interval at TARGET after ``rows``, relative to the loss."""
    found = answer_after(task, runs_of(task, rows), (Target(TARGET),))
    if found is None:
        return np.inf
    f = found.forecasts[0]
    return (f.high - f.low) / 2 / f.loss


@pytest.fixture(scope="module")
def ended(task):
    """The rows of a replay that the rule ended."""
    return [s.candidate for s in replay(task, frontier(task), seed=2, stop=Stop(rule=RULE))]


def looked_at(n):
    """The counts of runs at which a rule is looked at, up to ``n``."""
    counts, last = [], 0
    for i in range(1, n + 1):
        if is_due(i, last):
            counts.append(i)
            last = i
    return counts


def test_a_rule_is_looked_at_after_every_run_and_then_after_one_in_twenty():
    assert looked_at(20) == list(range(1, 21))
    later = [n for n in looked_at(400) if n > 200]
    assert all(1.03 * a <= b <= 1.08 * a for a, b in itertools.pairwise(later))


def test_a_replay_ends_after_the_run_that_meets_its_rule_and_not_before(task, ended):
    assert 7 < len(ended) < len(task.pool)
    looked = looked_at(len(ended))
    assert looked[-1] == len(ended)
    met = [half_width(task, ended[:n]) <= RULE.within for n in looked[-6:]]
    assert met == [False] * 5 + [True]


def test_runs_judged_together_end_where_those_judged_one_by_one_do(task, ended):
    walk = replay(task, frontier(task), seed=2, stop=Stop(rule=RULE), block=16)
    assert [s.candidate for s in walk] == ended


def test_one_that_had_ended_so_is_not_gone_on_with(task):
    stop = Stop(rule=RULE)
    done = list(replay(task, frontier(task), seed=2, stop=stop))
    assert list(replay(task, frontier(task), seed=2, stop=stop, done=done)) == []


def test_it_is_the_beginning_of_the_replay_without_the_rule(task, ended):
    longer = run_replay(task, frontier(task), seed=2, stop=Stop(iterations=len(ended) + 1))
    assert ended == [s.candidate for s in longer.steps[:-1]]


def test_the_first_limit_that_is_reached_ends_it(task, ended):
    met = len(ended)
    for iterations, n in ((met - 1, met - 1), (met + 3, met)):
        stop = Stop(iterations=iterations, rule=RULE)
        assert len(run_replay(task, frontier(task), seed=2, stop=stop).steps) == n


def test_with_three_runs_nothing_is_known_and_with_four_something(task):
    cheap = np.argsort(task.pool.C, kind="stable")
    assert answer_after(task, runs_of(task, cheap[:3].tolist()), (Target(TARGET),)) is None
    assert answers_of(task, cheap[:3].tolist(), (Target(TARGET),)) is None
    found = answer_after(task, runs_of(task, cheap[:4].tolist()), (Target(TARGET),))
    assert found is not None
    assert found.n_runs == 4


def test_a_rule_needs_no_surrogate_and_no_law_of_compute_but_the_initial_design():
    stop = Stop(rule=StopRule(TARGET, 10.0), iterations=15)
    by_size = prepare(made_study(), get_law("LD"))
    assert len(run_replay(by_size, make_policy("full", None, n_init=6), stop=stop).steps) == 6


def test_the_answers_are_those_of_the_chosen_runs_and_of_the_whole_pool(task):
    study, targets = made_study(), (Target(TARGET), Target(6e19, 1e9, 1e10))
    rows = np.argsort(task.pool.C, kind="stable")[::2].tolist()
    found = answers_of(task, rows, targets)
    own = answer_after(task, runs_of(task, rows), targets)
    for mine, theirs in zip(found.chosen.forecasts, own.forecasts, strict=True):
        numbers = (theirs.loss, theirs.low, theirs.high, theirs.run_low, theirs.run_high)
        ends = (mine.loss, mine.low, mine.high, mine.run_low, mine.run_high)
        assert ends == pytest.approx(numbers, rel=1e-6)
    held = np.setdiff1d(np.arange(len(study.grid)), task.rows)
    whole = answer(study.grid, study.runs, targets, study=study.name, held_out=held)
    assert found.pool.forecasts == whole.forecasts
    np.testing.assert_array_equal(found.chosen.held_out.rows, whole.held_out.rows)
    assert set(found.chosen.held_out.rows) <= set(held)
    assert (found.chosen.n_runs, found.pool.n_runs) == (len(rows), len(task.pool))


def test_where_nothing_is_held_out_nothing_is_judged():
    whole = prepare(made_study(), get_law("LC"), hold_out=HeldOut.nothing())
    assert len(whole.pool) == 80
    found = answers_of(whole, list(range(0, 80, 4)), (Target(TARGET),))
    assert found.chosen.held_out is None
    assert found.pool.n_runs == 80


def test_the_costs_of_a_replay_on_trunks_are_sums_of_prices():
    price = Trunks(0.3)
    task = prepare(made_study(), get_law("LC"), pricing=price)
    trace = run_replay(task, frontier(task, pricing=price), seed=0, stop=Stop(iterations=25))
    rows = [step.candidate for step in trace.steps]
    paid = [price.added(task.pool, rows[:k])[row] for k, row in enumerate(rows)]
    assert [step.cost for step in trace.steps] == pytest.approx(np.cumsum(paid).tolist())
    total = price.total(task.pool, range(len(task.pool)))
    assert trace.steps[-1].cost_fraction == pytest.approx(sum(paid) / total)
    assert [step.compute for step in trace.steps] == task.pool.C[rows].tolist()
