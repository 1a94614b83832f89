"""The loop: every number recomputed from the rows chosen, its seeds, its stops, its ends."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from lawsmith.datasets import ReadOptions, demo_study, study_from_frame
from lawsmith.errors import LawsmithError
from lawsmith.laws.catalogue import get_law
from lawsmith.laws.fit import fit_law
from lawsmith.laws.objective import HUBER
from lawsmith.policies import make_policy
from lawsmith.replay import (
    Stop,
    prepare,
    replay,
    run_replay,
)
from lawsmith.replay.steps import mixed_losses
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Posterior
from lawsmith.surrogates.gp import GP

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


@pytest.fixture(scope="module")
def trace(task):
    return run_replay(task, make_policy("window", GP()), seed=3)


def brute_force_frontier(C, loss):
    """Rows strictly better than every row of no more compute."""
    rows = []
    for i in np.flatnonzero(np.isfinite(loss)):
        others = np.flatnonzero(np.isfinite(loss) & (C[i] >= C) & (np.arange(len(C)) != i))
        if all(loss[i] < loss[j] for j in others):
            rows.append(i)
    return sorted(rows, key=lambda i: C[i])


def test_a_finished_replay_has_converged_in_every_metric(task, trace):
    last = trace.steps[-1]
    assert sorted(step.candidate for step in trace.steps) == list(range(len(task.pool)))
    assert last.cost_fraction == 1.0
    for fit in (last.observed, last.fantasized):
        assert set(fit.regret.values()) == {0.0}
        assert set(fit.extrapolation.values()) == {0.0}
        assert fit.held_out_mse == task.reference.held_out_mse
    assert (last.envelope_mixed, last.envelope_observed) == (1.0, 1.0)


def test_every_observed_metric_can_be_recomputed_from_the_candidates(task, trace):
    pool, reference = task.pool, task.reference
    known = np.full(len(pool), np.nan)
    spent = 0.0
    for step in trace.steps:
        known[step.candidate] = task.loss[step.candidate]
        spent += pool.N[step.candidate] * pool.D[step.candidate] * 6
        assert step.config["N"] == pool.N[step.candidate]
        assert step.cost == pytest.approx(spent)
        assert step.cost_fraction == pytest.approx(spent / pool.C.sum())
        rows = brute_force_frontier(pool.C, known)
        shared = set(rows) & set(reference.envelope.tolist())
        assert step.envelope_observed == pytest.approx(len(shared) / len(reference.envelope))
        if step.observed is None:
            assert step.iteration < 10 or len(rows) < 3
            continue
        fit = fit_law(LC, {"C": pool.C[rows]}, known[rows])
        params = step.observed.params
        E, A, alpha = (params[k] for k in ("E", "A", "alpha"))
        # By the objective: through few points Huber's minimum can be a whole segment.
        residuals = np.log(E + A * pool.C[rows] ** alpha) - np.log(known[rows])
        assert HUBER.rho(residuals).sum() <= fit.value * (1 + 1e-6) + 1e-15
        assert step.observed.n_points == len(rows)
        off = {k: abs(v - reference.validation.params[k]) for k, v in params.items()}
        assert {k: step.observed.regret[k] for k in off} == pytest.approx(off)
        for label, C in (("1e25", 1e25), ("1e27", 1e27), ("1e29", 1e29)):
            dense = reference.losses[label]
            percent = 100 * (E + A * C**alpha - dense) / dense
            assert step.observed.extrapolation[label] == pytest.approx(percent, abs=1e-6)


def test_the_fantasized_law_is_that_of_the_mixed_grid(task, trace):
    """At step 30, from a surrogate of its own."""
    runs = Runs.from_losses(
        [s.candidate for s in trace.steps[:30]], [s.loss for s in trace.steps[:30]]
    )
    means = GP().fit(task.pool, runs).mean
    mixed = means.copy()
    for step in trace.steps[:30]:
        mixed[step.candidate] = step.loss  # NaN where it diverged
    rows = brute_force_frontier(task.pool.C, mixed)
    fit = fit_law(LC, {"C": task.pool.C[rows]}, mixed[rows])
    assert trace.steps[29].fantasized.params == pytest.approx(fit.params)
    shared = set(rows) & set(task.reference.envelope.tolist())
    assert trace.steps[29].envelope_mixed == len(shared) / len(task.reference.envelope)


def test_no_law_before_the_initial_design_is_complete(trace):
    first = trace.steps[:9]
    assert all(step.observed is None and step.fantasized is None for step in first)
    assert all(np.isnan(step.window) for step in trace.steps[:10])
    assert all(step.window >= step.compute for step in trace.steps[10:])


def test_random_search_has_a_window_and_no_fantasies(task):
    trace = run_replay(task, make_policy("window", None), seed=0, stop=Stop(iterations=40))
    assert all(s.fantasized is None and s.envelope_mixed is None for s in trace.steps)
    assert trace.steps[-1].observed is not None
    highest = np.maximum.accumulate([s.compute for s in trace.steps])
    levels = task.pool.levels
    for step, before in zip(trace.steps[10:], highest[9:], strict=False):
        following = levels[levels > before]
        limit = max(1.5 * before, following[0] if len(following) else before)
        # A window that is used up moves on by a level; here none is within 40 runs.
        assert step.compute <= limit * (1 + 1e-12)


def test_a_seed_gives_one_replay_and_another_seed_another(task, trace):
    again = run_replay(task, make_policy("window", GP()), seed=3)
    assert repr(again.steps) == repr(trace.steps)
    other = run_replay(task, make_policy("window", GP()), seed=4, stop=Stop(iterations=20))
    assert [s.candidate for s in other.steps] != [s.candidate for s in trace.steps[:20]]


def test_a_replay_that_stops_early_is_the_beginning_of_a_longer_one(task, trace):
    budget = 0.05 * task.total_compute
    short = run_replay(task, make_policy("window", GP()), seed=3, stop=Stop(budget=budget))
    n = len(short.steps)
    assert [s.candidate for s in short.steps] == [s.candidate for s in trace.steps[:n]]
    last, same = short.steps[-1].fantasized, trace.steps[n - 1].fantasized
    assert last.log_params == pytest.approx(same.log_params, rel=1e-5)
    assert short.steps[-1].cost <= budget < trace.steps[n].cost
    three = list(itertools.islice(replay(task, make_policy("window", GP()), seed=3), 3))
    assert repr(tuple(three)) == repr(trace.steps[:3])


def test_the_block_moves_no_run_and_hardly_a_digit_of_a_law(task, trace):
    one_by_one = replay(task, make_policy("window", GP()), seed=3, stop=Stop(iterations=60))
    for step, same in zip(one_by_one, trace.steps, strict=False):
        assert step.candidate == same.candidate
        if step.iteration > 30:
            assert step.fantasized.log_params == pytest.approx(same.fantasized.log_params, rel=1e-5)


def test_the_whole_pool_is_a_budget_and_more_is_refused(task):
    policy = make_policy("full", None)
    whole = run_replay(task, policy, stop=Stop(budget=task.total_compute))
    assert len(whole.steps) == len(task.pool)
    with pytest.raises(LawsmithError, match=r"budget: got .* want at most .* whole pool of made"):
        run_replay(task, policy, stop=Stop(budget=1.01 * task.total_compute))
    with pytest.raises(LawsmithError, match="budget"):
        Stop(budget=0.0)
    with pytest.raises(LawsmithError, match="iterations"):
        Stop(iterations=0)


def test_more_initial_runs_than_candidates_are_refused(task):
    with pytest.raises(LawsmithError, match="n_init"):
        run_replay(task, make_policy("window", GP(), n_init=len(task.pool) + 1))


def test_mixed_losses_take_what_was_seen_and_fantasize_the_rest():
    posterior = Posterior(np.log([5.0, 6.0, 7.0, 8.0]), np.ones(4), "log", 0.0)
    states = [State.DONE, State.DIVERGED, State.PENDING]
    runs = Runs(np.array([1, 2, 3]), np.array([2.5, np.nan, np.nan]), np.array(states))
    np.testing.assert_allclose(mixed_losses(4, runs, posterior), [5.0, 2.5, np.nan, 8.0])


def test_a_negative_fantasy_gives_no_law_instead_of_a_guess(task):
    class Below:
        name = "below"

        def fit(self, grid, runs):
            return Posterior(np.full(len(grid), -1.0), np.ones(len(grid)), "loss", 2.0)

    trace = run_replay(task, make_policy("full", Below()), stop=Stop(iterations=12))
    assert trace.steps[-1].fantasized is None
    assert trace.steps[-1].envelope_mixed is not None


def test_laws_of_n_and_d_are_replayed_on_cells():
    task = prepare(demo_study(), get_law("chinchilla"))
    trace = run_replay(task, make_policy("window", GP()), stop=Stop(iterations=80))
    last = trace.steps[-1]
    assert last.fantasized.n_points == len(np.unique(task.pool.cells(["N", "D"])))
    assert set(last.fantasized.regret) == {
        *("E", "A", "alpha", "B", "beta"),
        *("log_E", "log_A", "log_B"),
    }
    assert last.fantasized.pool_mse < 0.1
