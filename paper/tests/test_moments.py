"""A replay told again: its moments are those that the policy and the outlook had."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.laws.catalogue import get_law
from lawsmith.policies import make_policy
from lawsmith.replay import Stop, prepare, run_replay
from lawsmith.runs import Runs
from lawsmith.surrogates import make_surrogate
from lawsmith_paper.moments import moments
from lawsmith_paper.outlook import outlook_after
from tests.replay.test_answering import made_study

TARGET = 1e22


@pytest.fixture(scope="module")
def task():
    return prepare(made_study(), get_law("LC"), targets=[TARGET])


def policy(task):
    return make_policy("frontier", make_surrogate("surface"), n_init=6, target=TARGET)


@pytest.fixture(scope="module")
def trace(task):
    return run_replay(task, policy(task), seed=2, stop=Stop(iterations=12))


@pytest.fixture(scope="module")
def told(task, trace):
    return list(moments(trace, policy(task), (TARGET,)))


def test_there_is_a_moment_before_every_run_and_one_after_the_last(trace, told):
    assert [len(moment.runs) for moment in told] == list(range(13))
    assert [moment.step for moment in told] == [*trace.steps, None]
    spent = [0.0, *(step.cost_fraction for step in trace.steps)]
    assert [moment.cost_fraction for moment in told] == spent


def test_every_run_is_the_one_that_was_weighed_best(told):
    weighed = [moment for moment in told if moment.weighed is not None]
    assert [len(moment.runs) for moment in weighed] == list(range(6, 12))
    assert all(moment.weighed.row == moment.step.candidate for moment in weighed)
    assert [moment.weighed.turn for moment in weighed] == ["answer", "envelope"] * 3


def test_the_last_outlook_is_that_of_the_replay(task, trace, told):
    rows = [step.candidate for step in trace.steps]
    runs = Runs.from_losses(rows, task.loss[rows])
    expected = outlook_after(task, policy(task), runs, (TARGET,), seed=2)
    assert told[-1].outlook.predictions == expected.predictions
    np.testing.assert_array_equal(told[-1].outlook.rows, expected.rows)


def test_outlooks_are_made_only_where_they_are_asked_for(task, trace):
    few = list(moments(trace, policy(task), (TARGET,), told=[8]))
    assert [len(m.runs) for m in few if m.outlook is not None] == [8]
    assert [len(m.runs) for m in few if m.posterior is not None] == [8]
    assert sum(m.weighed is not None for m in few) == 6
