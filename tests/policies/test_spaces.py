"""Spaces: the whole grid, and a window that opens above the highest finished run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawsmith.errors import LawsmithError
from lawsmith.policies import Full, Window, space_named, unasked
from lawsmith.policies.search import highest_reached
from lawsmith.runs import Runs
from tests.policies.fakes import ladder, runs_of

LEVELS = [10.0, 12.0, 14.0, 20.0, 40.0]


def rows(space, grid, runs):
    return np.flatnonzero(space.candidates(grid, runs, unasked(grid, runs))).tolist()


def test_the_whole_grid_is_every_row_not_asked_in_any_state():
    runs = runs_of(done=[0], diverged=[2], failed=[3], pending=[4])
    assert rows(Full(), ladder(LEVELS), runs) == [1]
    assert rows(Full(), ladder(LEVELS), Runs.empty()) == [0, 1, 2, 3, 4]


def test_without_runs_the_window_is_the_first_level_whatever_its_reach():
    grid = ladder(LEVELS, n_lr=2)
    for reach in (None, 1.0, 1.5, 100.0):
        assert rows(Window(reach), grid, Runs.empty()) == [0, 1]


def test_the_window_reaches_the_next_level_or_a_factor_beyond_the_highest_finished_run():
    grid = ladder(LEVELS)
    assert rows(Window(None), grid, runs_of(done=[0])) == [1]
    assert rows(Window(1.0), grid, runs_of(done=[0])) == [1]
    assert rows(Window(1.3), grid, runs_of(done=[0])) == [1]  # 13
    assert rows(Window(1.5), grid, runs_of(done=[0])) == [1, 2]  # 15
    assert rows(Window(2.0), grid, runs_of(done=[0])) == [1, 2, 3]  # 20, included
    assert rows(Window(1.5), grid, runs_of(done=[3])) == [0, 1, 2, 4]  # 30 < the next level, 40


def test_the_window_keeps_what_is_left_below_and_is_the_whole_grid_above_the_last_level():
    grid = ladder(LEVELS, n_lr=2)
    assert rows(Window(), grid, runs_of(done=[9])) == list(range(9))
    assert rows(Window(None), grid, runs_of(done=[2])) == [0, 1, 3, 4, 5]


def test_the_order_of_rows_does_not_matter_to_the_window():
    shuffled = ladder([40.0, 12.0, 20.0, 10.0, 14.0])
    assert rows(Window(1.5), shuffled, runs_of(done=[3])) == [1, 4]


def test_a_diverged_run_moves_the_window_and_a_pending_or_failed_one_does_not():
    grid = ladder(LEVELS)
    assert highest_reached(grid, runs_of(done=[0], diverged=[2])) == 14.0
    assert highest_reached(grid, runs_of(done=[0], pending=[2])) == 10.0
    assert highest_reached(grid, runs_of(done=[0], failed=[2])) == 10.0
    assert rows(Window(1.5), grid, runs_of(done=[0], pending=[2])) == [1]


def test_before_any_run_has_finished_those_asked_place_the_window():
    grid = ladder(LEVELS)
    assert highest_reached(grid, runs_of(pending=[0], failed=[2])) == 14.0
    assert rows(Window(None), grid, runs_of(pending=[1])) == [0, 2]


def test_a_used_up_window_moves_up_one_level_at_a_time_until_something_is_left():
    grid = ladder(LEVELS, n_lr=2)
    full_below = runs_of(done=[0, 1], pending=[2, 3])
    assert rows(Window(None), grid, full_below) == [4, 5]
    two_up = runs_of(done=[0, 1], pending=[2, 3], failed=[4, 5])
    assert rows(Window(None), grid, two_up) == [6, 7]
    beyond_reach = runs_of(done=[0, 1], pending=[2, 3, 4, 5])
    assert rows(Window(1.5), grid, beyond_reach) == [6, 7]  # 20, not 40 too
    partly = runs_of(done=[0, 1], pending=[2, 3, 4, 5, 6])
    assert rows(Window(1.5), grid, partly) == [7]


def test_a_gap_between_levels_is_crossed_by_the_next_level_and_not_by_the_reach():
    grid = ladder([1.0, 1000.0, 5000.0])
    assert rows(Window(1.5), grid, runs_of(done=[0])) == [1]


def test_a_study_may_be_sliced_by_another_variable_than_its_cost():
    grid = ladder([10.0, 20.0], n_lr=3, slice_by="lr")
    assert rows(Window(None), grid, Runs.empty()) == [0, 3]
    assert rows(Window(None), grid, runs_of(done=[0])) == [1, 3, 4]


def test_a_slicing_variable_that_starts_at_zero_or_below_has_its_windows_too():
    grid = ladder([1.0, 2.0, 3.0])
    shrunk = type(grid)({**grid.columns, "x": [-1.0, 0.0, 2.0]}, grid.axes, grid.C, slice_by="x")
    assert rows(Window(1.5), shrunk, Runs.empty()) == [0]
    assert rows(Window(1.5), shrunk, runs_of(done=[0])) == [1]
    assert rows(Window(1.5), shrunk, runs_of(done=[1])) == [0, 2]


def test_a_grid_of_one_level_is_one_window():
    grid = ladder([10.0], n_lr=4)
    assert rows(Window(None), grid, Runs.empty()) == [0, 1, 2, 3]
    assert rows(Window(), grid, runs_of(done=[1])) == [0, 2, 3]


@pytest.mark.parametrize("space", [Full(), Window(None), Window()])
def test_an_exhausted_grid_has_no_candidates(space):
    assert rows(space, ladder([1.0, 2.0]), runs_of(done=[0], failed=[1])) == []


fates = st.sampled_from(["done", "diverged", "failed", "pending", None])


@settings(max_examples=60, deadline=None)
@given(
    levels=st.permutations([1.0, 2.0, 2.1, 3.0, 7.0, 8.0, 20.0, 50.0]),
    states=st.lists(fates, min_size=8, max_size=8),
    reach=st.floats(1, 30),
)
def test_a_window_offers_unasked_rows_of_the_lowest_levels_and_some_while_any_are_left(
    levels, states, reach
):
    grid, runs = ladder(levels), Runs.empty()
    for row, state in enumerate(states):
        runs = runs.append(runs_of(**{state: [row]})) if state else runs
    free = unasked(grid, runs)
    inside = Window(reach).candidates(grid, runs, free)
    assert np.array_equal(Full().candidates(grid, runs, free), free)
    assert not (inside & ~free).any()
    assert inside.any() == free.any()
    if inside.any():  # closed downwards: nothing unasked and cheaper is left out
        assert inside[free & (grid.C[inside].max() >= grid.C)].all()
    narrow = Window(None).candidates(grid, runs, free)
    assert not (narrow & ~inside).any()


@pytest.mark.parametrize("reach", [0.99, -1.0, np.nan, np.inf])
def test_a_reach_below_one_or_without_end_is_refused(reach):
    with pytest.raises(LawsmithError, match=r"reach: got .*, want a finite factor of at least 1"):
        Window(reach)


def test_spaces_are_chosen_by_name():
    assert space_named("window") == Window(1.5)
    assert space_named("window", reach=None) == Window(None)
    assert space_named("full", reach=2.0) == Full()
    with pytest.raises(LawsmithError, match=r"policy: got 'windows', .*did you mean window"):
        space_named("windows")
