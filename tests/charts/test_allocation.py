"""The allocation chart: N*, D* and D/N against the closed form and the library's intervals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lawsmith.charts import ChartUnavailable, allocation
from lawsmith.charts.data.allocation import allocation_data
from lawsmith.charts.data.isoflop import isoflop_data
from lawsmith.laws import allocation as formulae


def quantity(frame, name):
    return frame[frame["quantity"] == name].reset_index(drop=True)


def test_lines_follow_the_closed_form(chinchilla):
    lines, p = allocation_data(chinchilla).lines, chinchilla.fit.params
    N, D = quantity(lines, "N"), quantity(lines, "D")
    total = p["alpha"] + p["beta"]
    G = (p["alpha"] * p["A"] / (p["beta"] * p["B"])) ** (1 / total)
    np.testing.assert_allclose(N["fitted"], G * (N["C"] / 6) ** (p["beta"] / total))
    np.testing.assert_allclose(6 * N["fitted"] * D["fitted"], N["C"])
    np.testing.assert_allclose(quantity(lines, "D/N")["fitted"], D["fitted"] / N["fitted"])


def test_bands_are_the_intervals_of_the_allocation(chinchilla):
    lines = allocation_data(chinchilla).lines
    C = quantity(lines, "N")["C"].to_numpy()
    for name, interval in formulae.allocation(chinchilla.uncertainty, C, 0.95).items():
        np.testing.assert_allclose(quantity(lines, name)["low"], interval.low)
        np.testing.assert_allclose(quantity(lines, name)["high"], interval.high)


def test_compute_runs_from_the_fitted_points_to_the_target(chinchilla):
    C = quantity(allocation_data(chinchilla).lines, "N")["C"]
    least = chinchilla.study.grid.C[chinchilla.frontier].min()
    assert C.iloc[[0, -1]].tolist() == pytest.approx([least, 1e23])


def test_points_are_the_minima_of_the_isoflop_curves(chinchilla):
    minima, found = allocation_data(chinchilla).minima, isoflop_data(chinchilla).minima
    assert quantity(minima, "N")["value"].tolist() == found["N"].tolist()
    assert quantity(minima, "D/N")["value"].tolist() == (found["D"] / found["N"]).tolist()
    assert quantity(minima, "D")["bracketed"].tolist() == found["bracketed"].tolist()


def test_without_uncertainty_lines_are_drawn_without_bands(chinchilla):
    bare = replace(chinchilla, uncertainty=None)
    assert allocation_data(bare).lines["low"].isna().all()
    styles = str(allocation(bare).to_dict())
    assert "'band'" not in styles.split("'config'")[0]


def test_three_panels_stand_side_by_side_or_one_below_the_other(chinchilla):
    wide, narrow = allocation(chinchilla).to_dict(), allocation(chinchilla, width=366).to_dict()
    assert wide["vconcat"][1]["columns"] == 3
    assert narrow["vconcat"][1]["columns"] == 1


def test_a_compute_law_divides_nothing(compute_law):
    with pytest.raises(ChartUnavailable, match="no N and D to divide"):
        allocation(compute_law)
