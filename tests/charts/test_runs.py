"""Runs as rows of a chart: kinds, names, thinning."""

from __future__ import annotations

import numpy as np

from lawsmith.analysis import FitOptions, analyse
from lawsmith.charts.runs import (
    FITTED,
    HELD_OUT,
    RUN,
    column_names,
    rounded,
    run_rows,
    thin,
    thin_others,
)
from lawsmith.grid import Grid
from lawsmith.laws.catalogue import LC


def test_a_run_is_fitted_or_held_out_or_neither(compute_law):
    rows = run_rows(compute_law)
    kinds = rows.frame["kind"]
    assert sorted(kinds.index[kinds == FITTED]) == sorted(compute_law.frontier)
    assert sorted(kinds.index[kinds == HELD_OUT]) == sorted(compute_law.score.rows)
    assert (kinds == RUN).sum() == 25 - len(compute_law.frontier) - len(compute_law.score.rows)


def test_rows_carry_the_values_of_the_grid(chinchilla):
    frame, grid = run_rows(chinchilla).frame, chinchilla.study.grid
    np.testing.assert_allclose(frame["N"], grid.N[frame.index], rtol=1e-5)
    np.testing.assert_allclose(frame["C"], 6 * grid.N * grid.D, rtol=1e-5)
    np.testing.assert_allclose(frame["loss"], chinchilla.loss, rtol=1e-5)


def test_hyperparameters_get_columns_whose_names_vega_cannot_misread():
    awkward = {"N": [1e8], "D": [1e9], "opt.lr[0]": [1e-3], "it's": ["adam"]}
    names = column_names(Grid.from_columns(awkward))
    assert names == {"N": "N", "D": "D", "C": "C", "h0": "opt.lr[0]", "h1": "it's"}


def test_few_runs_are_all_kept(compute_law):
    rows = run_rows(compute_law)
    assert (len(rows.frame), rows.n_known, rows.thinned) == (25, 25, False)


def test_thinning_keeps_the_frontier_and_spreads_the_others(make_study):
    C = np.geomspace(1e18, 1e20, 10)
    copies = np.tile(C, 20)
    loss = 2 + 1e4 * copies**-0.22 * np.repeat(1 + 0.01 * np.arange(20), 10)
    columns = {"N": copies / 6e9, "D": np.full(200, 1e9), "seed": np.repeat(np.arange(20.0), 10)}
    analysis = analyse(make_study(columns, loss), FitOptions(LC))
    rows = run_rows(analysis, max_runs=60)
    assert (len(rows.frame), rows.n_known, rows.thinned) == (60, 200, True)
    assert set(analysis.frontier) <= set(rows.frame.index)
    per_level = rows.of(RUN).groupby("C").size()
    assert len(per_level) == 10
    assert per_level.max() - per_level.min() <= 1


def test_even_picks_along_the_variable_and_keeps_both_ends():
    rows, by = np.array([5, 6, 7, 8, 9]), np.array([40.0, 0.0, 10.0, 30.0, 20.0])
    assert thin(rows, by, 3).tolist() == [6, 9, 5]
    assert thin(rows, by, 9).tolist() == [5, 6, 7, 8, 9]


def test_more_first_rows_than_room_are_thinned_too():
    rows = np.arange(100)
    kept = thin_others(rows, keep=np.ones(100, bool), by=rows.astype(float), n=10)
    assert kept.tolist() == [0, 11, 22, 33, 44, 55, 66, 77, 88, 99]


def test_numbers_keep_six_digits():
    assert rounded([1.23456789, 1.7123456e21]).tolist() == [1.23457, 1.71235e21]
