"""The hyperparameter maps: excess loss by hand, cells half-way to their neighbours, the drift."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from lawsmith.analysis import hyperparameter_laws
from lawsmith.charts import ChartUnavailable, maps
from lawsmith.charts.maps import (
    MAX_PANELS,
    _drift,
    colour_top,
    edges,
    maps_data,
    pick_axes,
)
from lawsmith.grid import Grid

from .test_ticks import written


def tuned(n_sizes: int = 3) -> tuple[Grid, np.ndarray]:
    """Sizes with D = 20N; the best lr falls and the best batch grows with N, as powers of it."""
    size, lr, batch = np.meshgrid(
        1e8 * 4.0 ** np.arange(n_sizes), 1e-3 * 2.0 ** np.arange(-5, 4), 64 * 2.0 ** np.arange(4)
    )
    N = size.ravel()
    columns = {"N": N, "D": 20 * N, "lr": lr.ravel(), "batch": batch.ravel()}
    off = (
        np.log(columns["lr"] / (2e-3 * (N / 1e8) ** -0.5)),
        np.log(columns["batch"] / (128 * (N / 1e8) ** 0.1)),
    )
    loss = (2 + 50 * N**-0.25) * np.exp(0.01 * off[0] ** 2 + 0.005 * off[1] ** 2)
    return Grid.from_columns(columns), loss


def test_excess_is_per_cent_above_the_best_of_the_cell():
    grid, loss = tuned()
    data = maps_data(grid, loss, np.isfinite(loss))
    assert [panel.N for panel in data.panels] == [1e8, 4e8, 1.6e9]
    for panel in data.panels:
        here = grid.N == panel.N
        least = loss[here].min()
        worst = panel.cells["excess"].max()
        assert worst == pytest.approx(100 * (loss[here].max() / least - 1), rel=1e-5)
        best = panel.cells[panel.cells["best"]].iloc[0]
        row = np.flatnonzero(here)[loss[here].argmin()]
        assert (best["a"], best["b"]) == (grid.numbers("lr")[row], grid.numbers("batch")[row])
        assert best["excess"] == 0.0


def test_the_best_drifts_with_scale_as_the_surface_was_made():
    grid, loss = tuned()
    data = maps_data(grid, loss, np.isfinite(loss))
    best = [panel.cells.loc[panel.cells["best"], "a"].iloc[0] for panel in data.panels]
    assert best == pytest.approx([2e-3, 1e-3, 5e-4])


def test_the_power_laws_show_where_they_see_the_best():
    grid, loss = tuned(7)
    laws = hyperparameter_laws(grid, np.arange(len(grid)), loss)
    data = maps_data(grid, loss, np.isfinite(loss), laws)
    assert len(data.panels) == MAX_PANELS
    assert len(data.drift) == MAX_PANELS
    for panel in data.panels:
        assert panel.optimum is not None
        assert panel.optimum[0] == pytest.approx(2e-3 * (panel.N / 1e8) ** -0.5, rel=0.1)
        assert panel.optimum[1] == pytest.approx(128 * (panel.N / 1e8) ** 0.1, rel=0.5)


def test_the_trend_is_straight_in_logs_however_the_panels_zigzag():
    """Least squares of each axis on log compute, as numpy's own fit has it."""
    grid, loss = tuned(7)
    laws = hyperparameter_laws(grid, np.arange(len(grid)), loss)
    panels = maps_data(grid, loss, np.isfinite(loss), laws).panels
    rng = np.random.default_rng(0)
    shaken = [
        replace(panel, optimum=tuple(np.array(panel.optimum) * np.exp(rng.normal(size=2))))
        for panel in panels
    ]
    log_c = np.log([panel.C for panel in shaken])
    drift = _drift(shaken)
    for k, name in enumerate(("a", "b")):
        fit = np.polyfit(log_c, np.log([panel.optimum[k] for panel in shaken]), 1)
        np.testing.assert_allclose(drift[name], np.exp(np.polyval(fit, log_c)), rtol=1e-4)
    assert _drift(shaken[:1]).empty


def test_a_tried_batch_is_written_to_its_last_digit():
    grid, loss = tuned()
    spec = maps(grid, loss, np.isfinite(loss)).to_dict()
    axis = spec["vconcat"][1]["concat"][0]["layer"][0]["encoding"]["y"]["axis"]
    assert 128 in axis["values"] or 64 in axis["values"]
    label = partial(str.replace, axis["labelExpr"], "datum.value")
    assert written(label, [128.0, 1024.0, 0.0004125]) == ["128", "1024", "0.00041"]


def test_edges_lie_half_way_in_logs():
    low, high = edges(np.array([1.0, 4.0, 16.0, 4.0]))
    np.testing.assert_allclose(low, [0.5, 2.0, 8.0])
    np.testing.assert_allclose(high, [2.0, 8.0, 32.0])


def test_what_was_not_run_is_marked_and_said_so():
    grid, loss = tuned()
    run = np.arange(len(grid)) % 5 == 0
    data = maps_data(grid, loss, run)
    assert data.fantasized
    assert sum(int(panel.cells["run"].sum()) for panel in data.panels) == run.sum()
    assert not maps_data(grid, loss, np.ones(len(grid), bool)).fantasized


def test_only_cells_that_no_cheaper_one_beats_are_shown():
    grid, loss = tuned(4)
    loss = np.where(grid.N == 4e8, loss + 5, loss)
    data = maps_data(grid, loss, np.isfinite(loss))
    assert data.optimal
    assert 4e8 not in [panel.N for panel in data.panels]
    assert data.n_cells == 4


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("lr", "batch"), ("lr", "batch")),
        (("gbsz", "learning_rate"), ("learning_rate", "gbsz")),
        (("warmup", "lr", "bs"), ("lr", "bs")),
        (("warmup", "width"), ("warmup", "width")),
    ],
)
def test_the_learning_rate_goes_across_and_the_batch_size_up(names, expected):
    values = {name: np.array([1.0, 2.0, 1.0, 2.0]) for name in names}
    values[names[1]] = np.array([1.0, 1.0, 2.0, 2.0])
    grid = Grid.from_columns({"N": np.full(4, 1e8), "D": np.full(4, 1e9), **values})
    assert pick_axes(grid) == expected


def test_one_hyperparameter_or_few_pairs_make_no_map():
    grid, loss = tuned()
    one = grid.subset(grid.numbers("batch") == 64)
    with pytest.raises(ChartUnavailable, match="only lr was"):
        maps_data(one, loss[:27], np.ones(27, bool))
    few = np.where(np.arange(len(grid)) % 30 == 0, loss, np.nan)
    with pytest.raises(ChartUnavailable, match="no \\(N, D\\) was run"):
        maps_data(grid, few, np.isfinite(few))


def test_colours_end_where_most_cells_lie_below():
    assert colour_top(np.array([0.0, 0.5, 0.9, 0.9, 70.0])) == 1.0
    assert colour_top(np.array([0.0, 3.0, 4.0, 15.0, 70.0])) == 10.0
    assert colour_top(np.array([0.0, 300.0, 400.0])) == 50.0


def test_the_colour_is_the_themes_ramp():
    grid, loss = tuned()
    spec = maps(grid, loss, np.isfinite(loss)).to_dict()
    assert spec["config"]["range"]["heatmap"] == spec["config"]["range"]["ramp"]
