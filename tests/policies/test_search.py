"""Search: initial design, then the best candidate; batches, ties, pending and diverged runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lawsmith.acquisition import ACQUISITIONS
from lawsmith.errors import LawsmithError
from lawsmith.policies import Full, InitialDesign, Search, Window, make_policy, with_pending
from lawsmith.runs import Runs, State
from tests.policies.fakes import Distance, Told, box, ladder, runs_of


def search(surrogate, acquisition="lcb", space=None, n_init=1):
    return Search(surrogate, ACQUISITIONS[acquisition], space or Full(), InitialDesign(n_init))


def ask(policy, grid, runs, n=1, seed=0):
    return policy.ask(grid, runs, n, np.random.default_rng(seed))


FIVE = [1.0, 2.0, 3.0, 4.0, 5.0]


def test_the_best_candidate_by_the_acquisition_is_chosen():
    mean, sd = [3.0, 3.1, 2.9, 3.3, 3.0], [0.0, 0.1, 0.01, 0.3, 0.14]
    # LCB − : 3.0, 2.9, 2.88, 2.7, 2.72; best seen 5.
    assert ask(search(Told(mean, sd)), ladder(FIVE), runs_of(done=[0])) == [3]
    assert ask(search(Told(mean, sd), "pi"), ladder(FIVE), runs_of(done=[0])) == [2]
    assert ask(search(Told(mean, sd), "ei"), ladder(FIVE), runs_of(done=[0])) == [2]


def test_the_best_seen_reaches_the_acquisition():
    mean, sd = [5.0, 4.9, 5.2, 9.0, 9.0], [0.0, 0.001, 0.5, 0.0, 0.0]
    told = Told(mean, sd)
    assert ask(search(told, "ei"), ladder(FIVE), runs_of(done=[0])) == [2]  # EI 0.115, row 1 0.1
    below = Runs.from_losses([0], [10.0])
    assert ask(search(told, "ei"), ladder(FIVE), below) == [1]  # 5.1 against 4.8


def test_a_better_row_outside_the_window_is_left_for_later():
    told = Told([5.0, 4.0, 3.0, 2.0, 1.0])
    assert ask(search(told), ladder(FIVE), runs_of(done=[0])) == [4]
    assert ask(search(told, space=Window(None)), ladder(FIVE), runs_of(done=[0])) == [1]
    batch = ask(search(told, space=Window(None)), ladder(FIVE), runs_of(done=[0]), n=3)
    assert batch == [1, 2, 3]  # the window is used up by pending runs and moves on


def test_ties_go_to_less_compute_then_to_the_lower_row():
    grid = ladder([9.0, 3.0, 5.0], n_lr=2)
    assert ask(search(Told([1.0] * 6)), grid, runs_of(done=[0]), n=5) == [2, 3, 4, 5, 1]
    assert ask(search(Told([1.0, 0.5, 1.0, 0.5, 0.5, 1.0])), grid, runs_of(done=[0])) == [3]


def test_scores_equal_up_to_rounding_are_ties_and_a_real_difference_is_not():
    grid = ladder([1.0, 5.0, 3.0])
    assert ask(search(Told([3.0, 3.0 - 1e-12, 3.0])), grid, runs_of(done=[0])) == [2]
    assert ask(search(Told([3.0, 3.0 - 1e-6, 3.0])), grid, runs_of(done=[0])) == [1]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_is_never_preferred(bad):
    told = Told([9.0, 9.0, bad, 8.0, bad])
    assert ask(search(told), ladder(FIVE), runs_of(done=[0])) == [3]
    assert ask(search(Told([bad] * 5)), ladder(FIVE), runs_of(done=[0]), n=4) == [1, 2, 3, 4]


def test_candidates_without_any_improvement_are_taken_by_compute():
    told = Told([9.0] * 3)  # certain and worse than the best: log EI is −∞ everywhere
    for acquisition in ("ei", "pi"):
        grid = ladder([5.0, 3.0, 4.0])
        assert ask(search(told, acquisition), grid, runs_of(done=[0]), n=3) == [1, 2]


def test_a_batch_is_chosen_with_its_own_earlier_rows_pending():
    distance = Distance()
    assert ask(search(distance), ladder([1.0], n_lr=9), runs_of(done=[0]), n=4) == [8, 4, 2, 6]
    assert [runs.of(State.PENDING).index.tolist() for runs in distance.seen] == [
        [],
        [8],
        [8, 4],
        [8, 4, 2],
    ]


def test_pending_runs_of_earlier_batches_are_seen_by_the_surrogate():
    distance = Distance()
    assert ask(search(distance), ladder([1.0], n_lr=9), runs_of(done=[0], pending=[8])) == [4]


def test_the_initial_design_comes_first_and_a_batch_may_straddle_its_end():
    grid = box(2, 5, 1)  # preferred rows 0 to 3
    policy = search(Told(np.arange(10.0)[::-1]), n_init=3)
    runs = runs_of(done=[0])
    rows = ask(policy, grid, runs, n=4)
    assert set(rows[:2]) < {1, 2, 3}
    assert rows[2:] == [9, 8]
    assert policy.candidates(grid, runs).tolist() == [False] + [True] * 3 + [False] * 6
    after = with_pending(runs, rows[:2])
    assert policy.candidates(grid, after).sum() == 7


def test_the_surrogate_has_no_say_in_the_initial_design():
    distance, grid = Distance(), box(2, 5, 1)
    policy = search(distance, n_init=3)
    firsts = {ask(policy, grid, runs_of(done=[0]), seed=seed)[0] for seed in range(30)}
    assert firsts == {1, 2, 3}
    assert distance.seen == []


@pytest.mark.parametrize("states", [{"pending": [0]}, {"diverged": [0]}, {"failed": [0]}])
def test_with_nothing_to_learn_from_rows_are_drawn_at_random_from_the_window(states):
    distance = Distance()
    policy = search(distance, space=Window(None))
    grid = ladder([1.0, 2.0, 3.0], n_lr=5)
    firsts = {ask(policy, grid, runs_of(**states), seed=seed)[0] for seed in range(60)}
    assert firsts == set(range(1, 10))  # what is left of the first level, and the second
    assert distance.seen == []


def test_a_whole_study_may_diverge():
    policy, grid, runs = search(Distance()), ladder(FIVE), Runs.empty()
    rng = np.random.default_rng(0)
    for _ in range(5):
        runs = runs.append(runs_of(diverged=policy.ask(grid, runs, 1, rng)))
    assert sorted(runs.index) == [0, 1, 2, 3, 4]
    assert policy.ask(grid, runs, 1, rng) == []


def test_random_search_is_uniform_over_the_candidates():
    policy, grid = search(None), ladder(FIVE)
    rows = [ask(policy, grid, runs_of(done=[0]), seed=seed)[0] for seed in range(2000)]
    counts = np.bincount(rows, minlength=5)
    assert counts[0] == 0
    assert np.abs(counts[1:] - 500).max() < 80  # four SD of Binomial(2000, 1/4)


def test_random_search_stays_in_the_window():
    policy = search(None, space=Window(None))
    grid = ladder(FIVE, n_lr=3)
    for seed in range(20):
        runs = runs_of(done=[0])
        assert grid.C[ask(policy, grid, runs, n=5, seed=seed)].max() == 2.0
        assert grid.C[ask(policy, grid, runs, n=6, seed=seed)].max() == 3.0


def test_a_failed_run_is_not_asked_again_and_says_nothing():
    told = Told([5.0, 1.0, 2.0, 3.0, 4.0])
    assert ask(search(told), ladder(FIVE), runs_of(done=[0], failed=[1])) == [2]


def test_an_axis_with_one_value_changes_nothing():
    D = [1.0, 2.0, 3.0, 4.0]
    plain = ladder(D)
    wide = type(plain).from_columns({"C": D, "lr": np.ones(4), "wd": np.full(4, 0.1)}, compute="C")
    for space in (Full(), Window(None)):
        policy = search(Distance(), space=space)
        assert ask(policy, plain, runs_of(done=[0]), 3) == ask(policy, wide, runs_of(done=[0]), 3)


@pytest.mark.parametrize("n", [0, -1])
def test_fewer_than_one_run_cannot_be_asked_for(n):
    with pytest.raises(LawsmithError, match=f"ask: got {n}, want at least 1 run"):
        ask(search(None), ladder(FIVE), Runs.empty(), n)


def test_a_policy_is_named_after_its_parts():
    assert search(Distance(), "ei", Window()).name == "window+distance+ei"
    assert search(None).name == "full+none"


def test_a_policy_is_made_from_names_with_the_papers_defaults():
    assert make_policy("full", None).initial == InitialDesign(10)
    made = make_policy("window", Distance(), acquisition="pi", reach=2.0, n_init=3)
    assert (made.name, made.space, made.initial.n) == ("window+distance+pi", Window(2.0), 3)
    sd = np.ones(1)
    bound = make_policy("full", Distance(), kappa=5.0).acquisition(np.zeros(1), sd, 0.0)
    assert bound.tolist() == [5.0]
    with pytest.raises(LawsmithError, match="acquisition: got 'thompson'"):
        make_policy("full", None, acquisition="thompson")
    with pytest.raises(LawsmithError, match="policy: got 'whole'"):
        make_policy("whole", None)


def test_pending_rows_are_appended_in_order_without_a_loss():
    runs = with_pending(runs_of(done=[3]), [2, 1])
    assert runs.index.tolist() == [3, 2, 1]
    assert runs.counts() == {"done": 1, "diverged": 0, "failed": 0, "pending": 2}
    assert len(with_pending(runs, [])) == 3


def test_improvement_can_be_divided_by_cost_and_a_bound_cannot():
    grid = ladder([1.0, 10.0, 100.0])
    runs = Runs.from_losses([0], [3.0])
    # Improvements of 0.5 and 1.0 for ten and a hundred: the larger, or the larger per FLOP.
    surrogate = Told([3.0, 2.5, 2.0], 1e-9)
    policy = make_policy("full", surrogate, acquisition="ei", n_init=1)
    rng = np.random.default_rng(0)
    assert policy.ask(grid, runs, 1, rng) == [2]
    assert replace(policy, cost_exponent=1.0).ask(grid, runs, 1, rng) == [1]
    assert replace(policy, cost_exponent=0.1).ask(grid, runs, 1, rng) == [2]
    assert replace(policy, cost_exponent=1.0).name == "full+told+ei/C^1"
    with pytest.raises(LawsmithError, match="acquisition: got lcb divided by cost, want ei or pi"):
        replace(make_policy("full", surrogate, n_init=1), cost_exponent=1.0)
