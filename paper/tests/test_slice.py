"""The new slice: what the window adds to what was reached, and no more."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.acquisition import get_acquisition
from lawsmith.errors import LawsmithError
from lawsmith.policies import InitialDesign, Search, unasked
from lawsmith.runs import Runs
from lawsmith_paper.rivals import make_policy
from lawsmith_paper.rivals.spaces import NewSlice
from tests.policies.fakes import Distance, ladder, runs_of

LEVELS = [10.0, 12.0, 14.0, 20.0, 40.0]


def rows(space, grid, runs):
    return np.flatnonzero(space.candidates(grid, runs, unasked(grid, runs))).tolist()


def test_the_new_slice_leaves_out_what_was_reached_until_nothing_lies_above():
    grid = ladder(LEVELS, n_lr=2)
    assert rows(NewSlice(None), grid, runs_of(done=[2])) == [4, 5]
    assert rows(NewSlice(2.0), grid, runs_of(done=[0])) == [2, 3, 4, 5, 6, 7]
    top = rows(NewSlice(1.5), grid, runs_of(done=[8]))
    assert top == [0, 1]  # nothing lies above: the lowest level that has rows left
    assert rows(NewSlice(1.5), grid, Runs.empty()) == [0, 1]


def test_it_climbs_by_the_variable_that_slices_the_study():
    grid = ladder([10.0, 20.0], n_lr=3, slice_by="lr")
    assert rows(NewSlice(None), grid, runs_of(done=[0])) == [1, 4]


def test_an_exhausted_grid_has_no_candidates():
    assert rows(NewSlice(), ladder([1.0, 2.0]), runs_of(done=[0], failed=[1])) == []


def test_a_reach_below_one_is_refused():
    with pytest.raises(LawsmithError, match=r"reach: got 0\.5"):
        rows(NewSlice(0.5), ladder(LEVELS), Runs.empty())


def test_the_policy_of_that_name_searches_it():
    surrogate = Distance()
    found = make_policy("slice", surrogate, reach=2.0, n_init=3, acquisition="ei")
    assert found == Search(surrogate, get_acquisition("ei"), NewSlice(2.0), InitialDesign(3))
