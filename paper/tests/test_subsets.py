"""The subsets chart: which four points are shown, by a rule that is checked by trying them all."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import vl_convert

from lawsmith.charts import NARROW, WIDE, ChartUnavailable
from lawsmith.datasets import demo_study
from lawsmith.errors import LawsmithError
from lawsmith.laws.catalogue import LC
from lawsmith.laws.fit import fit_law
from lawsmith.replay import prepare
from lawsmith_paper.charts.data.subsets import MAX_SUBSETS, pick, subsets_data, subsets_of
from lawsmith_paper.charts.draw.subsets import difference_text, subsets


@pytest.fixture
def task(make_study):
    """Nine frontier points about a law of compute."""
    C = np.geomspace(1e18, 1e20, 10)
    loss = (1.7 + 900 * C**-0.16) * (1 + 2e-3 * np.sin(5.0 * np.arange(10)))
    return prepare(make_study({"N": C / 6e9, "D": np.full(10, 1e9)}, loss), LC)


def differences(task):
    """% off at 1e25 of every subset's own cold fit, by its points."""
    rows = np.sort(task.reference.envelope)
    whole = task.reference.losses["1e25"]
    found = {}
    for chosen in combinations(range(len(rows)), 4):
        at = rows[list(chosen)]
        fit = fit_law(LC, {"C": task.pool.C[at]}, task.loss[at])
        if fit.status == "converged":
            found[chosen] = 100 * (fit.predict({"C": 1e25})[0] / whole - 1)
    return found


def used(subset):
    return tuple(np.flatnonzero(subset.points["used"]).tolist())


def test_the_good_subset_is_the_nearest_and_the_bad_one_the_ninetieth_percentile(task):
    data = subsets_data(task)
    found = differences(task)
    order = sorted(found, key=lambda chosen: abs(found[chosen]))
    assert used(data.good) == order[0]
    assert data.good.difference == pytest.approx(found[order[0]], abs=1e-3)
    wanted = np.quantile(np.abs([*found.values()]), 0.9)
    assert abs(data.bad.difference) == pytest.approx(wanted, rel=0.15)
    assert data.bad.difference == pytest.approx(found[used(data.bad)], rel=1e-3)


def test_the_lines_are_the_laws_up_to_the_target(task):
    data = subsets_data(task)
    whole = data.whole.line
    assert whole["C"].iloc[-1] == 1e25
    wanted = task.reference.validation.predict({"C": whole["C"]})
    np.testing.assert_allclose(whole["loss"], wanted, rtol=1e-5)
    assert whole["loss"].iloc[-1] == pytest.approx(data.loss, rel=1e-5)
    for subset in (data.good, data.bad):
        end = 100 * (subset.line["loss"].iloc[-1] / data.loss - 1)
        assert end == pytest.approx(subset.difference, abs=2e-3)
        assert subset.n_used == 4


def test_counts_are_of_all_subsets_and_of_those_that_converged(task):
    data = subsets_data(task)
    n = len(task.reference.envelope)
    assert data.whole.n_used == n
    assert data.n_subsets == data.n_fitted == len(list(combinations(range(n), 4)))
    assert 0 < data.n_ranked <= data.n_fitted


def test_all_subsets_are_tried_where_they_are_few_and_a_seeded_sample_where_they_are_many():
    few = subsets_of(7, seed=0)
    assert few.tolist() == [list(chosen) for chosen in combinations(range(7), 4)]
    many, again, other = (subsets_of(60, seed=seed) for seed in (0, 0, 1))
    assert 19_000 < len(many) <= MAX_SUBSETS
    assert len(np.unique(many, axis=0)) == len(many)
    assert (np.diff(many, axis=1) > 0).all()
    np.testing.assert_array_equal(many, again)
    assert not np.array_equal(many[:100], other[:100])
    often = np.bincount(many.ravel(), minlength=60)
    np.testing.assert_allclose(often, 4 * len(many) / 60, rtol=0.1)


def test_the_pick_goes_by_the_unsigned_difference():
    difference = np.array([5.0, -0.1, 0.2, -9.0, 3.0, 1.0, 2.0, -4.0, 7.0, 8.0, 6.0])
    assert difference[pick(difference)].tolist() == [-0.1, 8.0]


@pytest.mark.parametrize("width", [NARROW, WIDE, 1040])
def test_the_chart_has_three_panels_and_says_how_far_each_is_off(task, width):
    spec = subsets(task, width=width).to_dict()
    data = subsets_data(task)
    panels = spec["vconcat"][1]["concat"]
    texts = [[part["mark"]["text"] for part in panel["layer"][-2:]] for panel in panels]
    n = data.whole.n_used
    assert [head for head, _ in texts] == [
        *(f"All {n} points", "4 points, badly chosen", "4 points, well chosen")
    ]
    assert texts[1][1] == f"{difference_text(data.bad.difference)} at 1e25 FLOPs"
    words = " ".join(spec["title"]["subtitle"])
    assert f"frontier of the pool: {n} points" in words
    assert "90th percentile" in words
    assert "<svg" in vl_convert.vegalite_to_svg(spec)


def test_a_synthetic_study_is_named_so_in_the_title(task):
    spec = subsets(replace(task, study=replace(task.study, truth=demo_study().truth))).to_dict()
    assert "small (synthetic), L(C)" in " ".join(spec["title"]["text"])


def test_differences_are_signed_with_more_digits_where_they_are_small():
    assert difference_text(21.92) == "+21.9 %"
    assert difference_text(-0.00246) == "−0.002 %"


def test_what_has_no_subsets_of_four_says_so(task, chinchilla_task):
    with pytest.raises(ChartUnavailable, match="chinchilla is not a law of compute"):
        subsets(chinchilla_task)
    few = replace(task, reference=replace(task.reference, envelope=np.arange(4)))
    with pytest.raises(ChartUnavailable, match="the frontier has 4 points"):
        subsets(few)
    with pytest.raises(LawsmithError, match="target: got '1e30', want one of 1e25"):
        subsets_data(task, target="1e30")
