"""The residual chart: residuals and influence in per cent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lawsmith.charts import residuals
from lawsmith.charts.residuals import residuals_data
from lawsmith.charts.runs import FITTED, HELD_OUT
from lawsmith.laws.uncertainty import Influence


def test_a_loss_one_per_cent_above_the_law_has_residual_one(compute_law):
    predicted = compute_law.fit.predict({"C": compute_law.study.grid.C})
    raised = replace(compute_law, loss=1.01 * predicted)
    points = residuals_data(raised).points
    np.testing.assert_allclose(points.loc[points["kind"] == FITTED, "residual"], 1.0)


def test_residuals_of_fitted_points_agree_with_the_fit(compute_law):
    points = residuals_data(compute_law).points
    fitted = points[points["kind"] == FITTED]
    np.testing.assert_allclose(fitted["residual"], 100 * np.expm1(-compute_law.fit.residuals))


def test_held_out_points_come_from_the_score(compute_law):
    points, score = residuals_data(compute_law).points, compute_law.score
    held = points[points["kind"] == HELD_OUT]
    np.testing.assert_allclose(held["residual"], 100 * (score.measured / score.predicted - 1))
    assert held["change"].isna().all()


def test_influence_is_the_change_of_the_prediction_in_per_cent(compute_law):
    n = compute_law.fit.n_points
    found = Influence(np.full(n, np.log(1.02)), float(np.log(1.05)), n_refitted=n)
    data = residuals_data(replace(compute_law, influence=found))
    fitted = data.points[data.points["kind"] == FITTED]
    np.testing.assert_allclose(fitted["change"], 2.0)
    assert data.standard_error == pytest.approx(5.0)
    assert data.target == "7.68e20 FLOPs"  # a decade above the largest compute of the pool


def test_both_panels_share_their_horizontal_scale(compute_law):
    spec = residuals(compute_law).to_dict()
    axes = [_first_x(panel)["scale"] for panel in spec["vconcat"]]
    assert axes[0] == axes[1]


def _first_x(panel):
    return next(p["encoding"]["x"] for p in panel["layer"] if "field" in p["encoding"].get("x", {}))


def test_without_influence_one_panel_is_left_and_the_subtitle_says_why(compute_law):
    data = residuals_data(replace(compute_law, influence=None))
    assert not data.has_influence
    spec = residuals(replace(compute_law, influence=None)).to_dict()
    assert len(spec["vconcat"]) == 1
    assert "influence is not known" in " ".join(spec["title"]["subtitle"])
