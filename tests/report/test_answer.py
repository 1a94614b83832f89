"""The answer's numbers are those of the analysis, of the replay's own outlook, of the study."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from lawsmith.charts.data.outlook import outlook_data
from lawsmith.formats import count, flops
from lawsmith.laws.catalogue import LC
from lawsmith.report.cards.answer import answer
from lawsmith.report.forecast import (
    forecasts,
    settings,
    shares,
    true_parameters,
    tuning_laws,
)
from lawsmith.report.parts import Absent, Listing, Tiles
from lawsmith.study.answer import answer as status_answer

from . import sources


def tiles(source):
    return {
        tile.label: tile for p in answer(source).parts if isinstance(p, Tiles) for tile in p.tiles
    }


def test_a_tables_loss_and_interval_are_the_analysis_own(table):
    (found,) = forecasts(table)
    prediction = table.analysis.predictions[0]
    assert found.loss == prediction.loss
    assert list(found.intervals.values()) == [prediction.interval, prediction.run_interval]
    tile = tiles(table)["Loss at 1e23 FLOPs"]
    assert tile.value == f"{prediction.loss:#.4g}"
    assert f"{prediction.interval.low:#.4g} to {prediction.interval.high:#.4g}" in tile.detail


def test_the_allocation_is_the_analysis_own(table):
    found = table.analysis.predictions[0].allocation
    assert tiles(table)["Best parameters N*"].value == count(found["N"].centre)
    assert tiles(table)["Best tokens D*"].value == count(found["D"].centre)
    assert shares(table).N.centre * shares(table).D.centre * 6 == pytest.approx(1e23)


def test_hyperparameters_are_the_power_laws_at_that_allocation(table):
    best, found = shares(table), settings(table)
    laws = {law.axis: law.fit.params for law in tuning_laws(table)}
    for one in found.settings:
        p = laws[one.axis]
        wanted = p["c"] * best.N.centre ** p["a"] * best.D.centre ** p["b"]
        assert one.value == pytest.approx(wanted)
        assert one.interval.low < one.value < one.interval.high


def test_a_replays_answer_is_what_the_replay_printed(replay, folder):
    told = json.loads((folder / "trace.json").read_text())
    first = told["outlook"]["predictions"][0]
    found = forecasts(replay)[0]
    assert found.loss == first["loss"]
    assert (found.intervals["the true loss"].low, found.intervals["the true loss"].high) == (
        first["truth"]["low"],
        first["truth"]["high"],
    )
    listing = next(p for p in answer(replay).parts if isinstance(p, Listing))
    assert len(listing.rows) == len(told["outlook"]["predictions"])


def test_figures_of_a_replay_agree_with_what_it_printed(replay):
    """The band is drawn from draws made again, the bar at the target as it was printed."""
    data = outlook_data(replay.seen)
    bar, end = data.targets.iloc[0], data.line.iloc[-1]
    assert end["x"] == pytest.approx(bar["x"])
    assert (end["low"], end["high"]) == pytest.approx((bar["low"], bar["high"]), rel=1e-4)
    last = replay.known[-1].prediction
    assert (last.truth.low, last.truth.high) == pytest.approx((bar["low"], bar["high"]), rel=1e-4)


def test_a_replay_says_what_was_spent_and_what_the_dense_grid_costs(replay, folder):
    told = json.loads((folder / "trace.json").read_text())
    found = tiles(replay)
    assert found["Compute spent"].value == flops(told["trace"][-1]["cost"])
    assert found["A dense grid"].value == flops(told["pool"]["total_compute"])
    times = told["pool"]["total_compute"] / told["trace"][-1]["cost"]
    assert f"{times:.3g} times as much" in found["A dense grid"].detail


def test_intervals_of_a_search_are_of_the_truth_and_not_of_the_pools_law(replay):
    outlook = replay.seen.outlook
    found = true_parameters(outlook)
    for j, param in enumerate(outlook.law.params):
        draws = np.sort(param.to_natural(outlook.truth_phi[:, j]))
        inside = (draws >= found[param.name].low) & (draws <= found[param.name].high)
        assert inside.mean() == pytest.approx(0.95, abs=0.01)
        assert found[param.name].centre == outlook.fit.params[param.name]


def test_the_best_sizes_of_a_search_divide_the_compute_of_the_target(replay):
    found, compute = shares(replay), replay.seen.outlook.predictions[0].compute
    assert 6 * found.N.centre * found.D.centre == pytest.approx(compute)
    assert found.ratio.centre == pytest.approx(found.D.centre / found.N.centre)
    # With compute fixed a large N is a small D: the ends of one are those of the other.
    assert 6 * found.N.low * found.D.high == pytest.approx(compute)
    assert found.N.low < found.N.high


def test_fantasized_hyperparameters_have_no_interval(replay):
    found = settings(replay)
    assert found is not None
    assert all(one.interval is None for one in found.settings)


def test_a_live_studys_answer_is_that_of_lawsmith_status(live, study):
    wanted = status_answer(study, study.read()).outlook.predictions[0]
    found = forecasts(live)[0]
    assert found.loss == pytest.approx(wanted.loss, rel=1e-9)
    assert found.intervals["the true loss"].low == pytest.approx(wanted.truth.low, rel=1e-9)
    assert found.intervals["the true loss"].high == pytest.approx(wanted.truth.high, rel=1e-9)


def test_a_live_study_says_what_share_of_its_budget_is_committed(live, study):
    ledger = study.read()
    assert live.spend.spent == pytest.approx(ledger.spend)
    assert live.spend.dense == pytest.approx(float(study.grid.C.sum()))
    share = 100 * ledger.spend / 2e19
    assert f"{share:.3g}% of the budget" in tiles(live)["Compute spent"].detail


def test_a_live_answer_says_how_many_runs_it_rests_on(live):
    def told(source):
        return tiles(source)["Loss at 1e21 FLOPs"].detail.split("\n")[-1]

    assert told(live) == "from all 15 finished runs"
    ahead = replace(live, live=replace(live.live, n_finished=16))
    assert told(ahead) == "from 15 of 16 finished runs, the newest is being worked in"
    ahead = replace(live, live=replace(live.live, n_finished=18))
    assert told(ahead) == "from 15 of 18 finished runs, the 3 newest are being worked in"


def test_a_table_too_says_what_its_dense_grid_costs(table):
    assert tiles(table)["A dense grid"].value == flops(float(table.study.grid.C.sum()))


def test_without_a_law_the_answer_says_why(begun):
    part = answer(begun).parts[0]
    assert isinstance(part, Absent)
    assert "no run has finished yet" in part.reason


def test_a_hyperparameter_without_a_law_is_taken_from_the_best_run():
    source = sources.table(LC)
    grid = source.study.grid
    assert settings(source).how.startswith("lr, batch by λ*")
    loss = source.study.runs.config_loss(len(grid))
    bare = sources.table(LC)
    object.__setattr__(bare, "shares", None)
    found = settings(bare)
    row = int(np.nanargmin(loss))
    assert {one.axis: one.value for one in found.settings} == {
        name: grid.numbers(name)[row] for name in ("lr", "batch")
    }
