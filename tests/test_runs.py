"""Runs: states, replicates and re-indexing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawsmith.errors import LawsmithError
from lawsmith.runs import Runs, State


def test_losses_that_are_nan_infinite_or_above_the_threshold_diverged():
    runs = Runs.from_losses(range(6), [2.0, np.nan, np.inf, -np.inf, 11.0, 7.0], diverged_above=7.0)
    assert runs.state.tolist() == ["done", "diverged", "diverged", "diverged", "diverged", "done"]
    np.testing.assert_array_equal(runs.loss, [2.0, np.nan, np.nan, np.nan, 11.0, 7.0])
    assert runs.counts() == {"done": 2, "diverged": 4, "failed": 0, "pending": 0}


def test_the_loss_of_a_configuration_is_the_mean_of_its_done_replicates():
    runs = Runs(
        index=np.array([2, 0, 2, 2, 3, 4]),
        loss=np.array([2.0, 5.0, 4.0, np.nan, 90.0, np.nan]),
        state=np.array(["done", "done", "done", "failed", "diverged", "pending"]),
    )
    np.testing.assert_array_equal(runs.config_loss(5), [5.0, np.nan, 3.0, np.nan, np.nan])
    assert runs.replicate_counts(5).tolist() == [1, 0, 2, 0, 0]


def test_the_replicate_sd_pools_log_losses_within_configurations():
    e = np.exp
    runs = Runs.from_losses([0, 0, 1, 1, 1, 2], [e(1.0), e(1.2), e(3.0), e(3.1), e(3.2), e(9.0)])
    sd, dof = runs.replicate_sd()
    assert dof == 3
    assert sd == pytest.approx(np.sqrt((0.02 + 0.02) / 3))


def test_the_replicate_sd_recovers_the_noise_that_was_put_in():
    rng = np.random.default_rng(0)
    index = np.repeat(np.arange(2000), 3)
    loss = np.exp(rng.normal(1.0, 0.3, 2000)[index] + rng.normal(0.0, 0.01, 6000))
    sd, dof = Runs.from_losses(index, loss).replicate_sd()
    assert dof == 4000
    assert sd == pytest.approx(0.01, rel=0.05)


def test_without_replicates_the_sd_is_unknown():
    sd, dof = Runs.from_losses([0, 1], [2.0, 3.0]).replicate_sd()
    assert (np.isnan(sd), dof) == (True, 0)


@given(order=st.permutations(range(9)))
def test_the_order_of_runs_does_not_change_a_single_bit(order):
    index = np.array([0, 0, 0, 1, 1, 2, 3, 3, 3])
    loss = np.array([2.1, 2.3, 2.7, 3.1, 3.3, 9.7, 0.1, 0.2, 0.3])
    one, other = Runs.from_losses(index, loss), Runs.from_losses(index[order], loss[order])
    np.testing.assert_array_equal(one.config_loss(4), other.config_loss(4))
    assert one.replicate_sd() == other.replicate_sd()


@pytest.mark.parametrize("rows", [np.array([3, 1]), np.array([False, True, False, True, False])])
def test_select_reindexes_runs_onto_the_subset_and_drops_the_others(rows):
    runs = Runs.from_losses([1, 4, 3, 1], [10.0, 40.0, 30.0, np.nan])
    picked = runs.select(rows)
    grid_rows = np.flatnonzero(rows) if rows.dtype == bool else rows
    assert grid_rows[picked.index].tolist() == [1, 3, 1]
    np.testing.assert_array_equal(picked.loss, [10.0, 30.0, np.nan])
    assert picked.state.tolist() == ["done", "done", "diverged"]


def test_select_takes_rows_beyond_the_runs_and_refuses_a_row_twice():
    assert len(Runs.from_losses([0], [1.0]).select([7, 8])) == 0
    with pytest.raises(LawsmithError, match="rows: got a row twice"):
        Runs.from_losses([0], [1.0]).select([0, 0])


def test_appending_keeps_the_order_in_which_runs_were_asked():
    runs = Runs.empty().append(Runs.from_losses([5], [2.0])).append(Runs.from_losses([1], [3.0]))
    assert runs.index.tolist() == [5, 1]
    assert len(runs.of(State.DONE)) == 2
    assert len(runs.of(State.PENDING)) == 0


def test_no_runs_give_unknown_losses():
    assert np.isnan(Runs.empty().config_loss(3)).all()
    assert Runs.empty().counts() == {"done": 0, "diverged": 0, "failed": 0, "pending": 0}


def test_a_loss_below_zero_is_kept_and_has_no_noise_in_logs():
    runs = Runs.from_losses([0, 0, 1], [-1.0, -1.1, 0.0])
    assert runs.counts()["done"] == 3
    sd, dof = runs.replicate_sd()
    assert np.isnan(sd)
    assert dof == 0


def test_a_done_run_without_a_finite_loss_is_refused():
    with pytest.raises(LawsmithError, match="loss: got nan in run 0, want a finite number"):
        Runs(np.array([0]), np.array([np.nan]), np.array(["done"]))


def test_runs_that_do_not_fit_together_are_refused():
    with pytest.raises(LawsmithError, match="shapes"):
        Runs.from_losses([0, 1], [2.0])
    with pytest.raises(LawsmithError, match="row -1"):
        Runs.from_losses([-1], [2.0])
    with pytest.raises(LawsmithError, match="runs: got row 3, want rows below 3"):
        Runs.from_losses([3], [2.0]).config_loss(3)
    with pytest.raises(LawsmithError, match=r"runs\.state: got 'don'.*did you mean done"):
        Runs(np.array([0]), np.array([1.0]), np.array(["don"]))
    with pytest.raises(LawsmithError, match="loss: got nan in run 0"):
        Runs(np.array([0]), np.array([np.nan]), np.array(["done"]))


def test_runs_cannot_be_changed_in_place():
    runs = Runs.from_losses([0], [2.0])
    for array in (runs.index, runs.loss, runs.state):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
