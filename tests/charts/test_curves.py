"""The size curves: points and lines of a law of N and D."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lawsmith.charts import ChartUnavailable, curves
from lawsmith.charts.curves import curves_data, pick_sizes


def test_points_are_the_fitted_and_held_out_cells(chinchilla):
    points = curves_data(chinchilla).points
    assert len(points) == 25
    assert points.loc[points["held_out"], "N"].unique().tolist() == [1.6e9]
    predicted = chinchilla.fit.predict({"N": points["N"], "D": points["D"]})
    np.testing.assert_allclose(points["predicted"], predicted, rtol=1e-5)


def test_lines_are_the_law_at_each_size_over_its_tokens(chinchilla):
    data = curves_data(chinchilla)
    assert data.sizes == (1e8, 2e8, 4e8, 8e8, 1.6e9)
    line = data.lines[data.lines["N"] == 4e8]
    np.testing.assert_allclose(
        line["loss"], chinchilla.fit.predict({"N": line["N"], "D": line["D"]})
    )
    assert line["D"].agg(["min", "max"]).tolist() == pytest.approx([2e9, 3.2e10])


def test_only_the_held_out_size_is_dashed(chinchilla):
    lines = curves_data(chinchilla).lines
    assert lines.groupby("N")["held_out"].first().tolist() == [False] * 4 + [True]
    styles = [part["mark"]["style"] for part in curves(chinchilla).to_dict()["layer"]]
    assert styles[:2] == ["curve", "curve-dashed"]


def test_many_sizes_are_represented_by_a_few_even_in_log_N():
    sizes = pick_sizes(np.geomspace(1e7, 1e10, 100))
    assert len(sizes) == 9
    assert sizes[[0, -1]].tolist() == pytest.approx([1e7, 1e10])
    np.testing.assert_allclose(np.diff(np.log(sizes)), np.log(1e3) / 8, rtol=0.1)


def test_a_size_run_once_gets_a_line_about_its_point(chinchilla):
    few = replace(chinchilla, frontier=np.array([0, 5, 10, 1]), score=None)  # N = 2e8 once, D = 2e9
    lines = curves_data(few).lines
    tokens = lines.loc[lines["N"] == 2e8, "D"]
    assert tokens.agg(["min", "max"]).tolist() == pytest.approx([2e9, 4e9])


def test_a_compute_law_has_no_size_curves(compute_law):
    with pytest.raises(ChartUnavailable, match="LC is not a law of N and D"):
        curves(compute_law)
