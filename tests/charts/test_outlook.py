"""The outlook chart: the law of observed and fantasized points, its band, what each point is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lawsmith.charts import ChartUnavailable, outlook
from lawsmith.charts.data.outlook import Seen, band, outlook_data
from lawsmith.grid import Grid
from lawsmith.laws.catalogue import CHINCHILLA, LC
from lawsmith.laws.uncertainty import Interval
from lawsmith.outlook import outlook as make_outlook
from lawsmith.runs import Runs
from lawsmith.surrogates.trend import TrendGP

N_RUNS = 14


@pytest.fixture(scope="module")
def seen() -> Seen:
    """14 of 25 runs of Chinchilla's law made, one of them diverged; the target is 1e23 FLOPs."""
    N, D = np.meshgrid(1e8 * 2.0 ** np.arange(5), 2e9 * 2.0 ** np.arange(5))
    grid = Grid.from_columns({"N": N.ravel(), "D": D.ravel()})
    truth = {"E": 1.7, "A": 400.0, "alpha": 0.34, "B": 410.0, "beta": 0.28}
    loss = CHINCHILLA.predict(truth, {"N": grid.N, "D": grid.D})
    rows = np.argsort(grid.C)[:N_RUNS]
    losses = loss[rows]
    losses[3] = np.nan
    runs = Runs.from_losses(rows, losses)
    posterior = TrendGP().fit(grid, runs)
    found = make_outlook(grid, runs, posterior, LC, (1e23,), n_draws=60)
    return Seen("small", grid, runs, posterior, found)


def test_observed_points_of_the_envelope_are_told_from_fantasized_ones(seen):
    data = outlook_data(seen)
    made = set(zip(seen.grid.N[seen.runs.index], seen.grid.D[seen.runs.index], strict=True))
    for row in data.envelope.itertuples():
        assert row.observed == ((row.N, row.D) in made)
    assert 0 < data.envelope["observed"].sum() < len(data.envelope)
    assert len(data.envelope) == len(seen.outlook.rows)


def test_observed_losses_are_the_runs_own_and_fantasized_ones_the_surrogates(seen):
    data = outlook_data(seen)
    known = seen.runs.config_loss(len(seen.grid))
    expected = np.where(np.isfinite(known), known, seen.posterior.loss)[seen.outlook.rows]
    np.testing.assert_allclose(data.envelope["loss"], expected, rtol=1e-5)


def test_the_line_is_the_law_and_the_band_holds_it_at_the_target(seen):
    data = outlook_data(seen)
    p = seen.outlook.fit.params
    expected = p["E"] + p["A"] * data.line["x"] ** p["alpha"]
    np.testing.assert_allclose(data.line["fitted"], expected, rtol=1e-5)
    assert (data.line["low"] < data.line["high"]).all()
    assert data.line["x"].iloc[-1] == pytest.approx(1e23)
    last, prediction = data.line.iloc[-1], seen.outlook.predictions[0]
    assert last["low"] == pytest.approx(prediction.truth.low, rel=1e-4)
    assert last["high"] == pytest.approx(prediction.truth.high, rel=1e-4)


def test_a_band_has_the_quantiles_of_the_draws():
    C = np.array([1e20, 1e22])
    phi = LC.phi({"E": 1.5, "A": 100.0, "alpha": -0.1})
    draws = phi + np.log(np.linspace(0.5, 1.5, 101))[:, None] * [1.0, 0.0, 0.0]
    fitted, low, high = band(LC, phi, draws, C, level=0.9)
    np.testing.assert_allclose(fitted, 1.5 + 100 * C**-0.1)
    # E is spread evenly over 0.75 … 2.25, so its 5 % and 95 % points are 0.825 and 2.175.
    np.testing.assert_allclose(low, 0.825 + 100 * C**-0.1)
    np.testing.assert_allclose(high, 2.175 + 100 * C**-0.1)


def test_a_diverged_run_stands_at_the_edge(seen):
    data = outlook_data(seen)
    assert (data.n_diverged, data.n_above) == (1, 0)
    row = seen.runs.index[3]
    assert data.off_scale["N"].tolist() == [seen.grid.N[row]]


def test_a_label_stays_above_the_foot_of_its_axis(seen):
    wide = replace(seen.outlook.predictions[0], truth=Interval(2.0, 1e-3, 9.0))
    found = replace(seen.outlook, predictions=(wide,))
    spec = outlook(Seen("small", seen.grid, seen.runs, seen.posterior, found)).to_dict()
    note = next(e for e in spec["layer"] if "field" in e["encoding"].get("text", {}))
    bottom, top = note["encoding"]["y"]["scale"]["domain"]
    (row,) = spec["datasets"][note["data"]["name"]]
    above = spec["height"] * np.log(row["place"] / bottom) / np.log(top / bottom)
    assert above > note["mark"]["dy"] + 6  # pixels: its line is 11 high


def test_only_the_first_target_is_drawn(seen):
    further = make_outlook(seen.grid, seen.runs, seen.posterior, LC, (1e23, 1e29), n_draws=20)
    data = outlook_data(Seen("small", seen.grid, seen.runs, seen.posterior, further))
    assert data.targets["x"].tolist() == [1e23]
    assert data.line["x"].max() == pytest.approx(1e23)


def test_a_replay_shows_the_whole_pools_law_and_what_was_held_out(seen, compute_task):
    whole = Seen("small", seen.grid, seen.runs, seen.posterior, seen.outlook, compute_task)
    data = outlook_data(whole)
    assert len(data.held_out) == len(compute_task.held_out.loss)
    p = compute_task.reference.validation.params
    expected = p["E"] + p["A"] * data.reference["x"] ** p["alpha"]
    np.testing.assert_allclose(data.reference["loss"], expected, rtol=1e-5)
    texts = [e["mark"].get("text") for e in outlook(whole).to_dict()["layer"]]
    assert "law of the whole pool" in texts


def test_candidates_of_one_compute_have_no_chart(seen):
    grid = Grid.from_columns({"N": seen.grid.N, "D": 1e20 / seen.grid.N[:], "k": np.arange(25.0)})
    flat = Grid(grid.columns, grid.axes, np.ones(25))
    with pytest.raises(ChartUnavailable, match="one value of C"):
        outlook_data(Seen("flat", flat, seen.runs, seen.posterior, seen.outlook))
