"""Ranks, the paired test and Holm's correction, against scipy and published examples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata, wilcoxon

from lawsmith_paper.methods.compare import holm, paired_p, rank_gap, ranks, signed_rank_p

NAN = np.nan

# Darwin's heights of maize, crossed minus self-fertilised, in eighths of an inch (Fisher 1935).
DARWIN = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48], dtype=float)


def test_ranks_are_those_of_each_seed_and_ties_share_their_places():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 4, size=(6, 9)).astype(float)
    found = ranks(values)
    for seed in range(9):
        assert found[:, seed].tolist() == rankdata(values[:, seed]).tolist()
    assert ranks(np.array([[1.0], [1.0], [0.5]])).ravel().tolist() == [2.5, 2.5, 1.0]


def test_a_method_without_a_law_is_the_worst_and_several_are_equal():
    found = ranks(np.array([[3.0], [NAN], [1e9], [NAN]]))
    assert found.ravel().tolist() == [1.0, 3.5, 2.0, 3.5]


def test_the_paired_test_gives_the_published_p_of_darwins_maize():
    # W = 24, p = 0.041259765625: the worked example of scipy's documentation.
    assert paired_p(DARWIN, np.zeros(15)) == pytest.approx(0.041259765625, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_up_to_twelve_seeds_the_test_is_exact_as_scipys_with_and_without_ties(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 12))
    smooth = rng.normal(0.4, 1.0, n)
    assert signed_rank_p(smooth) == pytest.approx(wilcoxon(smooth, method="exact").pvalue)
    tied = rng.choice([-2.0, -1.0, 1.0, 2.0, 3.0], n)
    assert signed_rank_p(tied) == pytest.approx(wilcoxon(tied).pvalue)


def test_ten_seeds_all_on_one_side_give_two_in_1024():
    ours = np.arange(10.0)
    assert paired_p(ours, ours + 0.5) == 2 / 1024
    assert paired_p(ours, ours) == 1.0


def test_no_law_is_the_largest_of_differences_whoever_lacks_it():
    ours = np.array([1.0, 2.0, 3.0, 4.0])
    theirs = np.array([1.5, 2.5, NAN, 4.5])
    assert paired_p(ours, theirs) == paired_p(ours, ours + np.array([0.1, 0.2, 9.0, 0.3])) == 2 / 16
    assert rank_gap(ours, theirs) < 0 < rank_gap(theirs, ours)
    assert paired_p(np.full(3, NAN), np.full(3, NAN)) == 1.0
    assert rank_gap(np.full(3, NAN), np.full(3, NAN)) == 0.0


def test_holms_correction_is_that_of_a_worked_example():
    # p = 0.01, 0.04, 0.03, 0.005: 4·0.005, 3·0.01, 2·0.03, and 0.04 kept at what came before it.
    # At 5 % the fourth and the first hypothesis fall, the others stand.
    found = holm(np.array([0.01, 0.04, 0.03, 0.005]))
    np.testing.assert_allclose(found, [0.03, 0.06, 0.06, 0.02])
    assert (found <= 0.05).tolist() == [True, False, False, True]


def test_holms_correction_stays_below_one_and_leaves_a_single_test_alone():
    np.testing.assert_allclose(holm(np.array([0.5, 0.9])), [1.0, 1.0])
    assert holm(np.array([0.04])).tolist() == [0.04]
    assert holm(np.empty(0)).tolist() == []
