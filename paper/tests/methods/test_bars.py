"""The bars: as the project set them, and met or not by means over seeds."""

from __future__ import annotations

import numpy as np
import pytest
from paper.tests.methods.fakes import outcome
from scipy.stats import bootstrap

from lawsmith_paper.methods.bars import BARS, Bar, bars_table
from lawsmith_paper.methods.contenders import of_role
from lawsmith_paper.trial import BUDGETS


def rows_of(table, *head):
    return [row[len(head) :] for row in table.rows if row[: len(head)] == head]


def test_a_bar_is_on_the_mean_over_seeds_at_its_budget():
    ours = outcome(difference=np.array([0.9, 1.06]), envelope_observed=np.array([0.8, 0.6]))
    theirs = outcome(difference=np.array([5.0, 5.5]), envelope_observed=np.array([0.1, 0.1]))
    results = {"oellm-english, L(C)": {"frontier": ours, "window-lcb": theirs}}
    off = rows_of(bars_table(results), "oellm-english, L(C)", "% off the full-pool law at 1e25")
    assert off == [
        ("at most 1 at 1 %", "0.98", "–", "5.25", "yes"),
        ("at most 0.5 at 5 %", "0.98", "–", "5.25", "no"),
    ]
    run = rows_of(bars_table(results), "oellm-english, L(C)", "share of the envelope, run")
    assert run[0] == ("at least 0.75 at 5 %", "0.70", "–", "0.10", "no")


def test_a_study_that_is_not_at_hand_has_no_verdict_and_one_without_a_law_fails():
    none = outcome(difference=np.array([0.1, np.nan]), envelope_mixed=np.array([1.0, 1.0]))
    table = bars_table({"steplaw, L(C)": {"frontier": none}})
    (off,) = rows_of(table, "steplaw, L(C)", "% off the full-pool law at 1e25")
    assert off == ("at most 1 at 5 %", "no value", "–", "–", "no")
    assert {row[-1] for row in rows_of(table, "porian-hp, L(C)")} == {"–"}
    mixed = rows_of(table, "steplaw, L(C)", "share of the envelope, mixed")
    assert mixed == [("at least 0.85 at 5 %", "1.00", "–", "–", "yes")]


def test_drawn_studies_are_judged_by_the_ratio_of_mean_errors():
    # Means 3 and 2: 1.5 times. The mean of the ratios would be 3.5.
    ours = outcome(true_error=np.array([3.0, 3.0]), true_error_pool=np.array([0.5, 3.5]))
    table = bars_table({"drawn-steplaw, noise × 2": {"frontier": ours}})
    what = "error of the true loss, ÷ that of the pool's law"
    assert rows_of(table, "drawn-steplaw, noise × 2", what) == [
        ("at most 1.5 at 5 %", "1.50", "–", "–", "yes"),
        ("at most 1.2 at 10 %", "1.50", "–", "–", "no"),
    ]


def test_beside_a_mean_stands_how_far_other_seeds_might_have_moved_it():
    rng = np.random.default_rng(3)
    errors = rng.exponential(1.0, 10)
    ours = outcome(difference=errors, envelope_observed=np.ones(10))
    table = bars_table({"oellm-english, L(C)": {"frontier": ours}})
    cells = rows_of(table, "oellm-english, L(C)", "% off the full-pool law at 1e25")[0]
    low, high = (float(end) for end in cells[2].strip("[]").split(", "))
    found = bootstrap((errors,), np.mean, confidence_level=0.9, method="percentile", rng=1)
    ends = (found.confidence_interval.low, found.confidence_interval.high)
    assert (low, high) == pytest.approx(ends, abs=0.03)
    same = rows_of(table, "oellm-english, L(C)", "share of the envelope, run")[0]
    assert same[2] == "[1.00, 1.00]"


def test_a_ratio_of_errors_is_redrawn_seed_by_seed():
    # Each seed's error is twice its pool's, so whatever seeds are drawn the ratio is 2.
    pool = np.array([1.0, 5.0, 0.2, 3.0, 9.0, 4.0])
    ours = outcome(true_error=2 * pool, true_error_pool=pool)
    table = bars_table({"drawn-steplaw, noise × 2": {"frontier": ours}})
    what = "error of the true loss, ÷ that of the pool's law"
    assert rows_of(table, "drawn-steplaw, noise × 2", what)[0][1:3] == ("2.00", "[2.00, 2.00]")


@pytest.mark.parametrize(("value", "met"), [(1.1, True), (0.9, True), (1.11, False), (0.7, False)])
def test_a_held_out_error_far_below_the_references_is_not_good_either(value, met):
    (bar,) = [bar for bar in BARS if bar.study == "oellm-english, L(N, D)"]
    assert (bar.budget, bar.column) == (0.1, "held_out_rmse")
    assert bar.met(value) is met


def test_every_bar_is_at_a_budget_that_trials_are_judged_at():
    assert {bar.budget for bar in BARS} <= set(BUDGETS)
    assert len(BARS) == 7
    assert Bar("s", "w", "c", 0.05, "at least", 1.0).met(0.9996)
    assert not Bar("s", "w", "c", 0.05, "at least", 1.0).met(0.995)


def rivals(seeds=10, **better):
    """All rivals on one subject; ours is better by 0.1 but where a column says otherwise."""
    base = np.linspace(1.0, 2.0, seeds)
    found = {c.name: outcome(difference=base + 0.1 * i) for i, c in enumerate(of_role("rival"))}
    return found | {name: outcome(difference=base + gap) for name, gap in better.items()}


def test_ranks_must_be_better_everywhere_and_no_study_certainly_worse():
    table = bars_table({"a": rivals(), "b": rivals()})
    (ranks,) = rows_of(table, "all")
    (worse,) = rows_of(table, "each")
    assert ranks[2:] == ("4 of 4", "–", "–", "yes")
    assert worse[2:] == ("none", "–", "–", "yes")
    table = bars_table({"a": rivals(), "b": rivals(**{"window-lcb": -0.05})})
    (worse,) = rows_of(table, "each")
    assert worse[-1] == "no"
    assert worse[2] == "1 of 2"
    assert "Certainly worse than Window, LCB: b, in difference at 1, 2, 5, 10 %." in table.note
