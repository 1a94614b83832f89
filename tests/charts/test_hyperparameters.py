"""The hyperparameter chart: best values, their law, and points set apart."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.analysis import FitOptions, analyse
from lawsmith.charts import ChartUnavailable, hyperparameters
from lawsmith.charts.hyperparameters import DODGE, dodge, hyperparameters_data
from lawsmith.laws.catalogue import LC


def test_points_are_the_best_values_of_each_cell(demo):
    axes = hyperparameters_data(demo)
    assert [axis.name for axis in axes] == ["lr", "batch"]
    grid, rows = demo.study.grid, demo.hyperparameters[0].rows
    assert axes[0].points["value"].tolist() == grid.numbers("lr")[rows].tolist()
    assert axes[0].points["D"].tolist() == grid.D[rows].tolist()


def test_lines_are_the_fitted_power_law_over_the_tokens_of_each_size(demo):
    axis, law = hyperparameters_data(demo)[0], demo.hyperparameters[0]
    p = law.fit.params
    expected = p["c"] * axis.lines["N"] ** p["a"] * axis.lines["D"] ** p["b"]
    np.testing.assert_allclose(axis.lines["value"], expected)
    size = axis.points["N"].min()
    ends = axis.points.loc[axis.points["N"] == size, "D"].agg(["min", "max"])
    assert axis.lines.loc[axis.lines["N"] == size, "D"].tolist() == ends.tolist()


def test_the_formula_has_the_fitted_numbers(demo):
    axis, p = hyperparameters_data(demo)[0], demo.hyperparameters[0].fit.params
    assert axis.formula == f"{p['c']:.3g} · N^{p['a']:.2f} · D^{p['b']:.2f}"


def test_sizes_at_one_D_are_set_apart_by_rank_and_keep_their_middle():
    N, D = np.array([1.0, 2.0, 4.0, 1.0]), np.array([10.0, 10.0, 10.0, 20.0])
    step = DODGE * np.log(2.0)
    moved = 10 * np.exp([-step, 0, step]), 20 * np.exp(-step)
    np.testing.assert_allclose(dodge(N, D), [*moved[0], moved[1]])


def test_one_size_is_not_moved():
    assert dodge(np.array([1.0, 1.0]), np.array([10.0, 20.0])).tolist() == [10.0, 20.0]


def test_a_design_with_one_D_a_size_gets_one_line(make_study):
    N, lr = np.meshgrid(1e8 * 2.0 ** np.arange(7), [1e-3, 2e-3, 4e-3, 8e-3])
    best = 2e-3 * (N / 4e8) ** -0.3
    loss = 2 + 30 * N**-0.2 + 0.05 * np.log(lr / best) ** 2
    columns = {"N": N.ravel(), "D": 20 * N.ravel(), "lr": lr.ravel()}
    analysis = analyse(make_study(columns, loss.ravel()), FitOptions(LC))
    (axis,) = hyperparameters_data(analysis)
    assert axis.lines["N"].isna().all()
    assert axis.lines["D"].is_monotonic_increasing
    assert "D^" not in axis.formula
    hyperparameters(analysis).to_dict()


def test_nothing_tuned_means_no_chart(chinchilla):
    with pytest.raises(ChartUnavailable, match="no hyperparameter was tuned"):
        hyperparameters(chinchilla)
