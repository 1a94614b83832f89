"""The narrowing chart: half-widths by hand, in the order of spend."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.answer import Target
from lawsmith.charts import ChartUnavailable, narrowing
from lawsmith.charts.narrowing import Moment, narrowing_data

from .answers import best_loss, forecast


def moment(spend: float, n: int, half: float) -> Moment:
    """The best loss at 1e22 known to ± ``half``."""
    return Moment(spend, n, forecast(Target(1e22), half=half))


def test_half_widths_are_shares_of_the_loss_in_per_cent():
    data = narrowing_data([moment(0.5, 40, 0.01), moment(0.01, 10, 0.2)], reference=1.9)
    points, loss = data.points, float(best_loss(1e22))
    assert points["spent"].tolist() == [1.0, 50.0]
    assert points["n_runs"].tolist() == [10, 40]
    assert points["half_width"].tolist() == pytest.approx([20.0, 1.0])
    assert points["loss"].tolist() == pytest.approx([loss] * 2, rel=1e-5)
    assert points["low"].tolist() == pytest.approx([0.8 * loss, 0.99 * loss], rel=1e-5)
    assert points["high"].tolist() == pytest.approx([1.2 * loss, 1.01 * loss], rel=1e-5)
    assert (data.reference, data.label) == (1.9, "1e22 FLOPs")


@pytest.mark.parametrize(("n", "words"), [(0, "no interval yet"), (1, "at one spend only")])
def test_with_fewer_than_two_spends_there_is_no_chart(n, words):
    with pytest.raises(ChartUnavailable, match=words):
        narrowing_data([moment(0.1, 5, 0.1)][:n])


def test_the_subtitle_says_how_far_it_narrowed():
    title = narrowing([moment(0.1, 5, 0.1), moment(1.0, 50, 0.012)], name="s").to_dict()["title"]
    assert "±10% after 5 runs, ±1.2% after 50" in " ".join([*title["subtitle"]])
    assert "Prediction of the loss at 1e22 FLOPs: s" in " ".join([*title["text"]])


def test_a_wide_interval_does_not_dwarf_the_line():
    spec = narrowing([moment(0.1, 5, 0.9), moment(1.0, 50, 0.01)]).to_dict()
    low, high = spec["layer"][0]["encoding"]["y"]["scale"]["domain"]
    loss = float(best_loss(1e22))
    assert 0.5 * loss < low < loss < high < 2 * loss


def test_the_reference_is_a_line_only_where_it_is_known():
    runs = [moment(0.1, 5, 0.1), moment(1.0, 50, 0.05)]

    def rules(reference: float) -> int:
        drawn = narrowing(runs, reference=reference).to_dict()["layer"]
        return sum(
            layer["mark"]["type"] == "rule" and "field" in layer["encoding"]["y"] for layer in drawn
        )

    assert (rules(2.3), rules(np.nan)) == (1, 0)
