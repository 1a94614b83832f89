"""The pair plot: draws with a known covariance, and the parameters that vary."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lawsmith.charts import ChartUnavailable, pairs
from lawsmith.charts.pairs import draw_pairs, draws_of, pairs_data
from lawsmith.laws.catalogue import CHINCHILLA, LC

PHI = LC.phi({"E": 1.7, "A": 500.0, "alpha": -0.15})


def test_correlations_are_those_of_the_draws():
    z = np.random.default_rng(0).standard_normal((400, 3))
    z[:, 1] = -0.8 * z[:, 0] + 0.6 * z[:, 1]
    data = pairs_data(LC, PHI, PHI + 0.01 * z)
    found = {(a, b): r for a, b, r in data.pairs}
    assert found[("p0", "p1")] == pytest.approx(np.corrcoef(z[:, 0], z[:, 1])[0, 1], abs=1e-6)
    assert found[("p0", "p1")] == pytest.approx(-0.8, abs=0.05)
    assert data.names == {"p0": "ln E", "p1": "ln A", "p2": "α"}


def test_a_parameter_that_does_not_vary_is_left_out():
    draws = PHI + np.random.default_rng(1).standard_normal((50, 3)) * [0.1, 0.1, 0.0]
    data = pairs_data(LC, PHI, draws)
    assert set(data.names) == {"p0", "p1"}
    with pytest.raises(ChartUnavailable, match="fewer than two"):
        pairs_data(LC, PHI, PHI + (draws - PHI) * [1.0, 0.0, 0.0])


def test_a_parameter_that_hardly_ever_leaves_its_bound_has_an_axis():
    draws = PHI + np.random.default_rng(1).standard_normal((400, 3)) * [0.0, 0.1, 0.1]
    draws[7, 0] += 0.3
    spec = draw_pairs(pairs_data(LC, PHI, draws), "small", width=760).to_dict()
    for panel in spec["vconcat"][1]["concat"]:
        low, high = panel["layer"][0]["encoding"]["x"]["scale"]["domain"]
        assert low < high


def test_draws_that_are_not_numbers_are_not_drawn():
    draws = PHI + np.random.default_rng(2).standard_normal((30, 3))
    draws[:15, 1] = np.nan
    assert len(pairs_data(LC, PHI, draws).draws) == 15
    with pytest.raises(ChartUnavailable, match="too few"):
        pairs_data(LC, PHI, draws[:20])


def test_draws_of_an_analysis_spread_as_students_t_does(demo_compute):
    u = demo_compute.uncertainty
    draws = np.concatenate([draws_of(u, seed=k) for k in range(60)])
    off = (draws.mean(axis=0) - u.phi) / draws.std(axis=0)
    assert np.abs(off).max() < 4 / np.sqrt(len(draws))
    # The variance of Student's t is dof/(dof − 2) times its scale's.
    expected = np.sqrt(np.diag(u.cov) * u.dof / (u.dof - 2))
    np.testing.assert_allclose(draws.std(axis=0), expected, rtol=0.05)


def test_ten_pairs_of_five_parameters_fit_a_page_and_a_telephone():
    phi = CHINCHILLA.phi({"E": 1.7, "A": 400.0, "alpha": 0.3, "B": 400.0, "beta": 0.3})
    draws = phi + 0.1 * np.random.default_rng(3).standard_normal((40, 5))
    for width in (366, 760):
        made = draw_pairs(pairs_data(CHINCHILLA, phi, draws), "small", width=width)
        rows = made.to_dict()["vconcat"][1]
        assert len(rows["concat"]) == 10


def test_an_analysis_without_uncertainty_has_no_draws_to_show(demo_compute):
    title = " ".join(pairs(demo_compute).to_dict()["title"]["text"])
    assert title.startswith("Parameters of plausible laws: synthetic-demo, L(C) =")
    with pytest.raises(ChartUnavailable, match="as many parameters as points"):
        pairs(replace(demo_compute, uncertainty=None))
