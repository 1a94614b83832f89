"""Records of steps: a replay goes on after them; and what fantasized points count."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest

from lawsmith.datasets import ReadOptions, study_from_frame
from lawsmith.frontier import pareto
from lawsmith.laws.catalogue import get_law
from lawsmith.laws.fit import fit_law
from lawsmith.policies import make_policy
from lawsmith.replay import Stop, prepare, replay
from lawsmith.replay.steps import equal_weights, mixed_losses
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Posterior
from lawsmith.surrogates.gp import GP
from lawsmith_paper.records import as_known, step_record, steps_from

LC = get_law("LC")


@pytest.fixture(scope="module")
def task():
    """A study of 120 configurations with a diverging corner."""
    rows = list(
        itertools.product(
            [2e7, 4e7, 8e7, 1.6e8, 3.2e8],
            [1e9, 2e9, 4e9, 8e9],
            [5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 3e-2],
        )
    )
    table = pd.DataFrame(rows, columns=["N", "D", "lr"])
    best = 2e-3 * (table.N / 1e8) ** -0.3
    noise = 0.002 * np.random.default_rng(0).standard_normal(len(table))
    law = 1.7 + 400 * table.N**-0.34 + 400 * table.D**-0.28
    table["loss"] = law * np.exp(0.03 * np.log(table.lr / best) ** 2 + noise)
    table.loc[(table.lr == 3e-2) & (table.N > 1e8), "loss"] = np.nan
    return prepare(study_from_frame(table, ReadOptions(), name="made"), LC)


@pytest.mark.parametrize(("n", "block"), [(4, 1), (37, 1), (8, 8), (40, 8)])
def test_a_replay_goes_on_after_steps_read_back_from_a_file(task, n, block):
    stop = Stop(iterations=50)
    whole = list(replay(task, make_policy("window", GP()), seed=3, stop=stop, block=block))
    lines = [json.dumps(step_record(step, LC), allow_nan=False) for step in whole[:n]]
    kept = steps_from(task, [json.loads(line) for line in lines])
    assert repr(kept) == repr(whole[:n])
    again = make_policy("window", GP())
    rest = replay(task, again, seed=3, stop=stop, done=kept, block=block)
    assert repr(list(rest)) == repr(whole[n:])


def test_weights_of_fantasized_points_change_their_law_and_no_run(task):
    stop = Stop(iterations=30)
    gp = GP()
    plain = list(replay(task, make_policy("window", gp), seed=1, stop=stop, block=8))
    known = list(
        replay(task, make_policy("window", gp), seed=1, stop=stop, block=8, weigh=as_known)
    )
    assert [step.candidate for step in known] == [step.candidate for step in plain]
    assert [step.observed for step in known] == [step.observed for step in plain]
    assert [step.envelope_mixed for step in known] == [step.envelope_mixed for step in plain]
    both = zip(known[10:], plain[10:], strict=True)
    assert any(a.fantasized.params != b.fantasized.params for a, b in both)
    # The law of the last step is that of the mixed grid's envelope, each point at its weight.
    rows = [step.candidate for step in known]
    runs = Runs.from_losses(rows, task.loss[rows])
    posterior = gp.fit(task.pool, runs)
    mixed = mixed_losses(len(task.pool), runs, posterior)
    on = pareto(task.pool.C, mixed)
    weights = as_known(len(task.pool), runs, posterior)[on]
    assert weights.min() < 0.9
    fit = fit_law(LC, {"C": task.pool.C[on]}, mixed[on], weights=weights)
    assert known[-1].fantasized.params == pytest.approx(fit.params, rel=1e-4)


def test_a_fantasized_point_counts_by_its_variance_beside_that_of_a_run():
    """σ²/(σ² + s²), and 1 for a run; a run that is pending or diverged is no observation."""
    sd = np.array([0.0, 0.02, 0.04, 0.06, 0.02])
    posterior = Posterior(np.zeros(5), sd, "log", 0.0, noise=0.02)
    states = np.array([State.DONE, State.DIVERGED, State.PENDING])
    runs = Runs(np.array([2, 3, 4]), np.array([2.5, np.nan, np.nan]), states)
    np.testing.assert_allclose(as_known(5, runs, posterior), [1.0, 0.5, 1.0, 0.1, 0.5])
    assert equal_weights(5, runs, posterior).tolist() == [1.0] * 5


def test_without_noise_only_what_is_known_for_certain_counts():
    posterior = Posterior(np.zeros(3), np.array([0.0, 0.1, 0.1]), "log", 0.0, noise=0.0)
    runs = Runs.from_losses([1], [2.0])
    weights = as_known(3, runs, posterior)
    assert weights.tolist()[:2] == [1.0, 1.0]
    assert 0.0 <= weights[2] < 1e-12
