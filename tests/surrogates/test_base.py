"""What surrogates are fitted to, and what they answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawsmith.errors import LawsmithError
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Posterior, observations
from tests.surrogates.studies import done, in_state, small_grid

GRID = small_grid()


def test_rows_come_in_the_order_of_their_first_finished_run():
    runs = done([7, 2, 7, 9, 2], [3.0, 2.0, 5.0, 4.0, 2.5])
    seen = observations(GRID, runs, "loss")
    assert seen.rows.tolist() == [7, 2, 9]
    assert seen.y.tolist() == [4.0, 2.25, 4.0]
    assert seen.n_runs.tolist() == [2, 2, 1]
    assert seen.pending.tolist() == []


def test_one_more_run_on_a_new_row_extends_the_lists_at_their_end():
    runs = done([7, 2, 9], [3.0, 2.0, 4.0])
    before = observations(GRID, runs, "loss")
    after = observations(GRID, runs.append(done([1], [9.0])), "loss")
    assert after.rows.tolist() == [*before.rows.tolist(), 1]
    assert after.y.tolist() == [*before.y.tolist(), 9.0]


def test_a_diverged_row_has_the_worst_mean_seen_and_counts_as_one_run():
    runs = done([7, 7, 2], [3.0, 4.0, 2.0]).append(in_state(State.DIVERGED, [5, 5]))
    seen = observations(GRID, runs, "loss")
    assert dict(zip(seen.rows.tolist(), seen.y.tolist(), strict=True)) == {7: 3.5, 2: 2.0, 5: 3.5}
    assert seen.n_runs.tolist() == [2, 1, 1]


def test_a_row_with_a_finished_replicate_has_its_loss_though_another_diverged():
    runs = in_state(State.DIVERGED, [5]).append(done([5, 6], [2.0, 3.0]))
    seen = observations(GRID, runs, "loss")
    assert (seen.rows.tolist(), seen.y.tolist()) == ([5, 6], [2.0, 3.0])


def test_the_loss_a_diverged_run_keeps_is_not_used():
    runs = Runs(np.array([1, 2]), np.array([2.0, 11.0]), np.array(["done", "diverged"]))
    assert observations(GRID, runs, "loss").y.tolist() == [2.0, 2.0]


def test_pending_rows_are_listed_once_and_only_where_nothing_is_known():
    runs = done([3], [2.0]).append(in_state(State.PENDING, [8, 4, 8, 3]))
    assert observations(GRID, runs, "loss").pending.tolist() == [4, 8]


def test_on_the_log_scale_replicates_are_averaged_before_the_logarithm():
    runs = done([3, 3], [2.0, 4.0]).append(in_state(State.DIVERGED, [6]))
    np.testing.assert_allclose(observations(GRID, runs, "log").y, np.log([3.0, 3.0]))


def test_a_loss_without_a_logarithm_is_named():
    with pytest.raises(LawsmithError) as caught:
        observations(GRID, done([3, 4], [2.0, -0.5]), "log")
    assert str(caught.value) == (
        "surrogate: got a loss of -0.5, want losses above 0 for their logs (model the loss itself)"
    )


def test_a_row_outside_the_grid_is_refused():
    with pytest.raises(LawsmithError, match="got row 48, want rows below 48"):
        observations(GRID, done([48], [2.0]), "loss")


@given(st.permutations(range(6)))
def test_the_order_of_runs_changes_no_target(order):
    index, loss = np.array([0, 1, 1, 2, 3, 3]), np.array([3.0, 2.2, 2.1, 5.0, 4.0, 4.3])
    at = np.array(order)
    shuffled = observations(GRID, done(index[at], loss[at]), "loss")
    told = dict(zip(shuffled.rows.tolist(), shuffled.y.tolist(), strict=True))
    seen = observations(GRID, done(index, loss), "loss")
    assert told == dict(zip(seen.rows.tolist(), seen.y.tolist(), strict=True))


def test_the_fantasized_loss_of_a_log_posterior_is_its_median():
    posterior = Posterior(np.log([2.0, 3.0]), np.array([0.1, 0.2]), "log", np.log(2.0))
    np.testing.assert_allclose(posterior.loss, [2.0, 3.0])


def test_joint_draws_come_from_the_sampler_and_are_refused_without_one():
    posterior = Posterior(
        np.zeros(2), np.ones(2), "loss", 0.0, lambda n, rng, rows: rng.random((n, 2))[:, rows]
    )
    draws = posterior.sample(3, np.random.default_rng(0))
    np.testing.assert_array_equal(draws, np.random.default_rng(0).random((3, 2)))
    second = posterior.sample(3, np.random.default_rng(0), np.array([1]))
    np.testing.assert_array_equal(second, draws[:, 1:])
    bare = Posterior(np.zeros(2), np.ones(2), "loss", 0.0)
    with pytest.raises(LawsmithError) as caught:
        bare.sample(3, np.random.default_rng(0))
    assert str(caught.value) == "posterior: got a surrogate without joint draws, want gp"
