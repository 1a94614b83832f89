"""The tables beside the paper's: values computed by hand from the laws of replays."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith_paper.plan import Options, line, setting
from lawsmith_paper.published import COEFFICIENTS, EXTRAPOLATION, MeanSD
from lawsmith_paper.results import curves
from lawsmith_paper.spends import WITHIN, speedup_table, spend_table, spends
from lawsmith_paper.store import Store
from lawsmith_paper.tables import (
    Table,
    at,
    budget_table,
    coefficients_table,
    extrapolation_table,
    mean_sd,
    published,
)
from lawsmith_paper.work import work

STUDY = "synthetic-porian-hp"


def replayed(folder, study, method, options):
    """The curves of each seed."""
    jobs = line(study, "LC", method, options)
    assert work(folder, jobs, processes=1) == []
    return [curves(Store(folder), job) for job in jobs]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Window + GP on a synthetic study, three seeds, stopped after 60 runs."""
    return replayed(tmp_path_factory.mktemp("runs"), STUDY, setting(), Options(3, 60))


@pytest.fixture(scope="module")
def random(tmp_path_factory):
    """Random search on the same study, two seeds, to the end of the pool."""
    method = setting(policy="full", surrogate="none")
    return replayed(tmp_path_factory.mktemp("random"), STUDY, method, Options(2))


def cells(table, *head):
    """The cells of the row with these heads."""
    (row,) = [row for row in table.rows if row[: len(head)] == head]
    return row[len(head) :]


def text(values, digits):
    mean, sd = np.mean(values), np.std(values, ddof=1)
    return f"{mean:.{digits}f} ± {sd:.{digits}f}".replace("-", "−")


def last_step(run, budget):
    """The last run within a budget, counted out."""
    C, spent, step = run.task.pool.C, 0.0, -1
    for i, row in enumerate(run.rows):
        spent += C[row]
        if spent > budget * run.task.pool.C.sum() * (1 + 1e-9):
            break
        step = i
    return step


def loss_at(phi, C):
    log_E, log_A, alpha = phi
    return np.exp(log_E) + np.exp(log_A) * C**alpha


def test_the_extrapolation_table_is_the_laws_own_predictions(runs):
    table = extrapolation_table(runs)
    assert table.columns[-1] == "paper"
    assert "synthetic" in table.title
    reference = runs[0].task.reference.validation.phi
    for budget in (0.01, 0.05):
        for target in ("1e25", "1e29"):
            C, current, least, best = float(target), [], [], []
            for run in runs:
                laws = run.laws["fantasized"][: last_step(run, budget) + 1]
                off = [100 * abs(loss_at(p, C) / loss_at(reference, C) - 1) for p in laws]
                known = laws[np.isfinite(laws).all(axis=1)]
                near = np.abs(known - reference).argmin(axis=0)
                law = known[near, range(3)]
                current.append(off[-1])
                least.append(np.nanmin(off))
                best.append(100 * abs(loss_at(law, C) / loss_at(reference, C) - 1))
            ours = cells(table, f"{100 * budget:g} %", target)
            assert ours[:3] == (text(current, 2), text(least, 2), text(best, 2))
    assert cells(table, "1 %", "1e25")[3] == "1.09 ± 1.84"
    assert len(table.rows) == 9


def test_the_coefficients_are_those_of_the_current_law_and_the_nearest_so_far(runs):
    table = coefficients_table(runs)
    reference = runs[0].task.reference.validation.phi
    for j, (name, digits) in enumerate((("ln E", 4), ("ln A", 3), ("α", 4))):
        current, nearest = [], []
        for run in runs:
            values = run.laws["fantasized"][: last_step(run, 0.05) + 1, j]
            current.append(values[-1])
            nearest.append(values[np.nanargmin(np.abs(values - reference[j]))])
        assert cells(table, "5 %", name)[:2] == (text(current, digits), text(nearest, digits))
    assert cells(table, "10 %", "ln A")[2] == "6.674 ± 0.006"
    assert cells(table, "100 %", "α")[:2] == ("–", "–")  # 60 runs do not reach it


def test_at_the_end_of_the_pool_every_replay_has_the_pools_law(random):
    table = coefficients_table(random, "observed")
    fit = random[0].task.reference.validation
    for name, digits, value in zip(("ln E", "ln A", "α"), (4, 3, 4), fit.phi, strict=True):
        ours = cells(table, "100 %", name)
        assert ours[0] == ours[1]
        assert ours[0].split(" ± ")[0] == f"{value:.{digits}f}".replace("-", "−")
        assert float(ours[0].split(" ± ")[1]) == 0.0


def test_with_the_published_data_the_last_row_is_the_papers(published, tmp_path):
    published("oellm-english")
    method = setting(policy="full", surrogate="none")
    found = replayed(tmp_path, "oellm-english", method, Options(1))
    table = coefficients_table(found, "observed")
    for name, wanted in (("ln E", 0.4499), ("ln A", 6.679), ("α", -0.1518)):
        ours, _, theirs = (float(c.replace("−", "-")) for c in cells(table, "100 %", name))
        assert theirs == wanted
        assert ours == pytest.approx(wanted, abs=0.002)


def test_the_papers_tables_are_transcribed():
    assert EXTRAPOLATION[0.05]["1e27"] == MeanSD(0.29, 0.41)
    assert EXTRAPOLATION[0.10]["1e29"] == MeanSD(0.06, 0.10)
    assert COEFFICIENTS[0.25]["log_E"] == MeanSD(0.4502, 0.0014)
    assert COEFFICIENTS[1.0] == {
        "log_E": MeanSD(0.4499),
        "log_A": MeanSD(6.679),
        "alpha": MeanSD(-0.1518),
    }


def test_means_say_of_how_many_seeds_they_are():
    assert mean_sd(np.array([1.0, 2.0, 3.0]), 1) == "2.0 ± 1.0"
    assert mean_sd(np.array([1.0, np.nan, 3.0]), 1) == "2.0 ± 1.4 (2 of 3 seeds)"
    assert mean_sd(np.array([-0.25]), 2) == "−0.25"
    assert mean_sd(np.array([np.nan]), 2) == "–"
    assert published(MeanSD(-0.1559, 0.0087), 4) == "−0.1559 ± 0.0087"
    assert published(None, 4) == "–"


def test_a_replay_that_was_stopped_has_no_value_beyond_its_end(runs):
    spent = [run.cost_fraction for run in runs]
    end = max(s[-1] for s in spent)
    assert np.isnan(at(runs, spent, min(1.0, 2 * end))).all()
    np.testing.assert_allclose(
        at(runs, spent, 0.01), [s[last_step(run, 0.01)] for s, run in zip(spent, runs, strict=True)]
    )


def test_budgets_are_shown_for_every_line_and_fit_that_has_a_law(runs, random):
    table = budget_table("t", "t", {"one": {"Window": runs, "random": random}})
    assert table.columns[:3] == ("method", "law on", "metric")
    heads = {row[:2] for row in table.rows}
    assert heads == {("Window", "fantasized"), ("Window", "observed"), ("random", "observed")}
    last = cells(table, "random", "observed", "% of the envelope")[-1]
    assert last == "100 ± 0"
    assert cells(table, "random", "observed", "% off at 1e25")[-1] == "0.00 ± 0.00"
    share = [100 * run.envelope["observed"][last_step(run, 0.05)] for run in random]
    assert cells(table, "random", "observed", "% of the envelope")[3] == text(share, 0)
    both = budget_table("t", "t", {"a": {"Window": runs}, "b": {"Window": runs}}, ("fantasized",))
    assert both.columns[0] == "study"
    assert [row[0] for row in both.rows] == ["a", "a", "b", "b"]


def test_spends_are_medians_of_when_a_prediction_stays_and_first_is_within(random):
    found = spends({"Full": random}, within=1.0)
    assert set(found) == {"Full + fantasized", "Full + observed"}
    assert (found["Full + fantasized"].settled, found["Full + fantasized"].n_never) == (1.0, 2)
    settled, first = [], []
    for run in random:
        reference = run.task.reference.validation.phi
        laws = run.laws["observed"]
        off = np.array([100 * abs(loss_at(p, 1e25) / loss_at(reference, 1e25) - 1) for p in laws])
        within = np.flatnonzero(off <= 1.0)
        outside = np.flatnonzero(~(off <= 1.0))
        settled.append(run.cost_fraction[outside[-1] + 1])
        first.append(run.cost_fraction[within[0]])
    assert found["Full + observed"].settled == pytest.approx(np.median(settled))
    assert found["Full + observed"].first == pytest.approx(np.median(first))
    shown = cells(spend_table({"Full": random}), "1 %", "Full + observed")
    assert shown[0] == f"{100 * np.median(settled):.2f} %"


def test_speedups_stand_beside_the_papers(runs, random):
    table = speedup_table({"Window": random, "Full": random})
    thresholds = [f"{within:g} %" for within in WITHIN]
    assert [(row[0], row[-1]) for row in table.rows] == [
        (within, theirs) for within in thresholds for theirs in ("10×", "100×")
    ]
    for within in thresholds:
        assert cells(table, within, "Window + fantasized", "Full + fantasized")[0] == "1×"
    assert speedup_table({"Window": runs}).rows == ()


def test_a_table_can_be_written_as_markdown():
    table = Table("t", "T", ("a", "b"), (("1", "2"), ("3", "4")))
    assert table.markdown() == "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"


def test_a_bar_in_a_cell_does_not_end_it_in_markdown():
    table = Table("t", "T", ("|a|",), (("1",),))
    assert table.markdown().splitlines()[0] == r"| \|a\| |"
