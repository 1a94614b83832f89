"""Initial design: which rows a study starts with, drawn at once or one by one."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.acquisition import ACQUISITIONS
from lawsmith.errors import LawsmithError
from lawsmith.grid import Grid, HeldOut
from lawsmith.policies import Full, InitialDesign, Search, make_policy, unasked
from lawsmith.runs import Runs
from tests.policies.fakes import box, ladder, runs_of


def draw(grid, seed=0, *, n=10):
    """The rows of an initial design of ``n``, asked at once."""
    policy = Search(None, ACQUISITIONS["lcb"], Full(), InitialDesign(n))
    return policy.ask(grid, Runs.empty(), n, np.random.default_rng(seed))


def test_the_design_is_ten_distinct_rows_at_the_smallest_n_over_the_four_smallest_d():
    grid = box(3, 6, 7)
    for seed in range(5):
        rows = draw(grid, seed)
        assert len(set(rows)) == 10
        assert set(grid.N[rows]) == {1.0}
        assert set(grid.D[rows]) <= {10.0, 20.0, 40.0, 80.0}


def test_every_preferred_row_is_as_likely_as_any_other():
    grid = box(2, 5, 3)  # 4 · 3 = 12 preferred rows, 4 drawn
    counts = np.bincount(
        np.concatenate([draw(grid, seed, n=4) for seed in range(1200)]), minlength=len(grid)
    )
    preferred = InitialDesign().preferred(grid)
    assert preferred.sum() == 12
    assert counts[~preferred].sum() == 0
    # Binomial(1200, 1/3): SD 16.3; all twelve within four of them.
    assert np.abs(counts[preferred] - 400).max() < 66


def test_the_four_smallest_d_are_the_whole_grids_and_not_the_smallest_ns_own():
    N = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]
    D = [10.0, 800.0, 900.0, 10.0, 20.0, 30.0, 40.0]
    grid = Grid.from_columns({"N": N, "D": D})
    assert np.flatnonzero(InitialDesign().preferred(grid)).tolist() == [0]


def test_too_few_preferred_rows_are_completed_by_ascending_compute_then_row():
    N = [4.0, 1.0, 1.0, 2.0, 2.0, 2.0, 4.0]
    D = [10.0, 10.0, 20.0, 30.0, 20.0, 10.0, 5.0]
    grid = Grid.from_columns(
        {"N": N, "D": D, "lr": np.arange(1.0, 8.0)}
    )  # C/6: 40 10 20 60 40 20 20
    for seed in range(5):
        rows = draw(grid, seed, n=6)
        assert sorted(rows[:2]) == [1, 2]
        assert rows[2:] == [5, 6, 0, 4]


def test_one_at_a_time_draws_the_same_rows_as_a_batch():
    grid = box(3, 2, 3)  # 6 preferred rows, then 4 by compute
    policy = make_policy("full", None)
    rng, runs, rows = np.random.default_rng(3), Runs.empty(), []
    for _ in range(10):
        rows += policy.ask(grid, runs, 1, rng)
        runs = runs.append(runs_of(done=rows[-1:]))
    assert rows == policy.ask(grid, Runs.empty(), 10, np.random.default_rng(3))
    rng = np.random.default_rng(3)
    first = policy.ask(grid, Runs.empty(), 4, rng)
    assert rows == first + policy.ask(grid, runs_of(pending=first), 6, rng)


def test_the_design_is_complete_once_n_rows_were_asked_whatever_became_of_them():
    grid, design = box(2, 4, 2), InitialDesign(4)
    runs = runs_of(done=[15], failed=[0], diverged=[1])
    assert not design.complete(grid, runs)
    among = design.among(grid, unasked(grid, runs))
    assert np.flatnonzero(among).tolist() == [2, 3, 4, 5, 6, 7]
    runs = runs.append(runs_of(pending=[9]))
    assert design.complete(grid, runs)
    assert not design.among(grid, np.zeros(len(grid), dtype=bool)).any()


def test_replicates_of_a_row_count_once():
    assert not InitialDesign(2).complete(box(2, 4, 2), runs_of(done=[0, 0, 0]))


def test_a_study_without_n_or_d_starts_with_its_cheapest_rows():
    grid = ladder([5.0, 3.0, 9.0, 1.0, 4.0])
    for seed in range(3):
        assert sorted(draw(grid, seed, n=3)) == [1, 3, 4]
    assert np.flatnonzero(InitialDesign(3).preferred(grid)).tolist() == [1, 3, 4]


def test_rows_that_cost_the_same_are_all_drawn_from():
    grid = Grid.from_columns({"web": np.linspace(0, 1, 40)}, compute=None)
    assert InitialDesign().preferred(grid).all()
    level = ladder([1.0, 2.0, 3.0], n_lr=2)  # as dear as the third cheapest: its whole level
    assert np.flatnonzero(InitialDesign(3).preferred(level)).tolist() == [0, 1, 2, 3]
    assert draw(grid, 0) != draw(grid, 1)


def test_a_design_as_large_as_the_grid_is_the_grid():
    grid = box(2, 2, 1)
    assert sorted(draw(grid, n=4)) == [0, 1, 2, 3]


def test_a_design_of_less_than_no_runs_is_refused():
    with pytest.raises(LawsmithError, match="n_init: got -1, want 0 initial runs or more"):
        InitialDesign(-1)


def test_a_design_of_no_runs_is_complete_from_the_start():
    assert InitialDesign(0).complete(box(2, 2, 1), Runs.empty())


def test_more_initial_runs_than_candidates_are_refused_with_both_numbers():
    message = "n_init: got 10 initial runs, want at most the 4 candidates"
    with pytest.raises(LawsmithError, match=message):
        draw(box(2, 2, 1))


def test_ten_runs_cost_three_hundredths_of_a_percent_of_the_pool_of_oellm_english(published):
    study = published("oellm-english")
    pool = study.grid.subset(study.grid.split(HeldOut.by_compute(0.5))[0])
    spent = [pool.C[draw(pool, seed)].sum() / pool.C.sum() for seed in range(20)]
    assert np.mean(spent) == pytest.approx(3e-4, rel=0.1)
    assert max(spent) < 5e-4


def test_on_steplaw_the_design_stays_at_the_grids_four_smallest_d(published):
    study = published("steplaw")
    pool = study.grid.subset(study.grid.split(HeldOut.by_compute(0.5))[0])
    rows = draw(pool)
    assert pool.D[rows].max() <= np.unique(pool.D)[3] == 1e10
    own = np.unique(pool.D[pool.N.min() == pool.N])[:4]
    assert own.max() >= 5e10  # the smallest N's own four would reach far up
