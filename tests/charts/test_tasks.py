"""The charts of a task: runs, the curve with its band, targets; by a drawn world."""

from __future__ import annotations

import numpy as np
import pytest
from tests.tasks.worlds import accuracy_at, loss_at, world

from lawsmith.answer import Target
from lawsmith.charts import ChartUnavailable, accuracy_by_compute, accuracy_by_loss
from lawsmith.charts.tasks import by_compute, by_loss
from lawsmith.tasks import Task, answer_task

TARGETS = [Target(6 * 1.4e9 * 2.8e10, 1.4e9, 2.8e10), Target(1e21)]


@pytest.fixture(scope="module")
def made():
    return answer_task(world(0), Task("acc:drawn", 0.25, 2000), TARGETS)


def test_every_run_stands_at_its_loss_and_at_its_compute(made):
    scores = world(0)
    loss, compute = by_loss(made).runs, by_compute(made).runs
    np.testing.assert_allclose(loss["loss"], scores.runs.loss, rtol=1e-5)
    np.testing.assert_allclose(compute["C"], scores.grid.C, rtol=1e-5)
    for frame in (loss, compute):
        np.testing.assert_allclose(frame["accuracy"], scores.accuracy, rtol=1e-5)


def test_the_curve_of_the_loss_is_near_the_true_one_and_its_band_holds_it(made):
    line = by_loss(made).line
    truth = accuracy_at(line["loss"].to_numpy())
    inside = (line["low"] <= truth) & (truth <= line["high"])
    assert inside.mean() > 0.95
    assert np.abs(line["accuracy"] - truth).max() < 0.05
    assert line["accuracy"].is_monotonic_decreasing


def test_the_line_of_compute_is_the_best_accuracy_and_rises(made):
    line = by_compute(made).line
    ratios = np.geomspace(1.0, 1000.0, 100)
    best = [
        max(
            accuracy_at(loss_at(n, r * n))
            for n, r in zip(np.sqrt(C / 6 / ratios), ratios, strict=True)
        )
        for C in line["C"]
    ]
    assert ((line["low"] <= best) & (best <= line["high"])).mean() > 0.9
    assert line["accuracy"].is_monotonic_increasing


def test_targets_carry_the_numbers_of_the_answer(made):
    for data in (by_loss(made), by_compute(made)):
        assert data.targets["accuracy"].tolist() == [f.value for f in made.forecasts]
        assert data.targets["low"].tolist() == [f.low for f in made.forecasts]
    np.testing.assert_allclose(by_compute(made).targets["C"], [t.C for t in TARGETS], rtol=1e-6)


def test_charts_are_valid_and_say_what_they_show(made):
    for draw in (accuracy_by_loss, accuracy_by_compute):
        spec = draw(made, study="drawn").to_dict()
        assert "acc:drawn" in str(spec["title"])


def test_without_a_loss_there_is_no_chart_of_it():
    alone = answer_task(world(0, via=""), Task("acc:drawn", 0.25, 2000), TARGETS)
    with pytest.raises(ChartUnavailable, match="--via"):
        accuracy_by_loss(alone)
