"""The narrowing chart: half-widths by hand, in the order of spend."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.charts import ChartUnavailable, narrowing
from lawsmith.charts.data.narrowing import Known, narrowing_data
from lawsmith.laws.uncertainty import Interval
from lawsmith.outlook import Prediction


def known(spend: float, n: int, half: float) -> Known:
    """A prediction of 2.0 whose true loss is known to ± ``half``, the pool's law to half of it."""
    truth = Interval(2.0, 2.0 - half, 2.0 + half)
    pool = Interval(2.0, 2.0 - half / 2, 2.0 + half / 2)
    return Known(spend, n, Prediction(1e25, {"C": 1e25}, 2.0, pool, truth, 2.0))


def test_half_widths_are_shares_of_the_loss_in_per_cent():
    data = narrowing_data([known(0.5, 40, 0.02), known(0.01, 10, 0.4)], reference=1.9)
    assert data.points["spent"].tolist() == [1.0, 50.0]
    assert data.points["truth"].tolist() == pytest.approx([20.0, 1.0])
    assert data.points["pool"].tolist() == pytest.approx([10.0, 0.5])
    assert data.points["n_runs"].tolist() == [10, 40]
    assert (data.reference, data.compute) == (1.9, 1e25)


@pytest.mark.parametrize(("n", "words"), [(0, "no interval yet"), (1, "at one spend only")])
def test_with_fewer_than_two_spends_there_is_no_chart(n, words):
    with pytest.raises(ChartUnavailable, match=words):
        narrowing_data([known(0.1, 5, 0.1)][:n])


def test_an_interval_that_has_closed_is_drawn_at_the_foot():
    spec = narrowing([known(0.1, 5, 0.1), known(1.0, 50, 0.0)], name="s").to_dict()
    values = [row["pool"] for rows in spec["datasets"].values() for row in rows if "pool" in row]
    assert 0.001 in values
    lower = spec["vconcat"][1]["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert lower[0] > 0


def test_the_reference_is_a_line_only_where_it_is_known():
    runs = [known(0.1, 5, 0.1), known(1.0, 50, 0.05)]

    def rules(reference: float) -> int:
        upper = narrowing(runs, reference=reference).to_dict()["vconcat"][0]["layer"]
        return sum(
            layer["mark"]["type"] == "rule" and "field" in layer["encoding"]["y"] for layer in upper
        )

    assert (rules(1.95), rules(np.nan)) == (1, 0)
