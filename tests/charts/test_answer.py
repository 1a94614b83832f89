"""The answer chart: runs, the best loss with its band, targets and held-out runs, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lawsmith.charts import ChartUnavailable, answer
from lawsmith.charts.answer import N_LINE, answer_data, replay_with_runs
from lawsmith.charts.runs import FITTED, NOT_RUN, RUN
from lawsmith.grid import Grid
from lawsmith.replay import Answers
from lawsmith.runs import Runs

from .answers import SD, answered, best_loss, key_of


@pytest.fixture(scope="module")
def made():
    return answered()


def test_every_run_is_shown_and_the_best_so_far_are_told_apart(made):
    runs = answer_data(made).runs.frame
    assert len(runs) == 8
    assert runs["loss"].min() == pytest.approx(4.2)
    for row in runs.itertuples():
        cheaper = runs[(runs["C"] <= row.C * (1 + 1e-9)) & (runs.index != row.Index)]
        assert (row.kind == FITTED) == (row.loss < cheaper["loss"].min() or cheaper.empty)
    assert set(runs["kind"]) == {RUN, FITTED}


def test_the_line_is_the_best_loss_and_the_band_its_interval(made):
    line = answer_data(made).line
    np.testing.assert_allclose(line["loss"], best_loss(line["C"]), rtol=1e-5)
    # The quantiles of the hand-made surface are straight: 5 % and 95 % lie 0.9 · SD off.
    np.testing.assert_allclose(line["low"], best_loss(line["C"]) * np.exp(-0.9 * SD), rtol=1e-5)
    np.testing.assert_allclose(line["high"], best_loss(line["C"]) * np.exp(0.9 * SD), rtol=1e-5)


def test_the_line_goes_from_the_cheapest_run_to_the_nearest_target_beyond(made):
    C = answer_data(made).line["C"]
    assert len(C) == N_LINE
    assert C.iloc[[0, -1]].tolist() == pytest.approx([6e16, 1e22])
    near = replace(made, answer=replace(made.answer, forecasts=made.answer.forecasts[2:]))
    assert answer_data(near).line["C"].iloc[-1] == pytest.approx(1e25)
    none = replace(made, answer=replace(made.answer, forecasts=()))
    assert answer_data(none).line["C"].iloc[-1] == pytest.approx(3e21)  # held out up to 3e20


def test_targets_are_those_that_are_a_compute(made):
    targets = answer_data(made).targets
    assert targets["C"].tolist() == [1e22, 1e25]
    assert targets["label"].tolist() == ["1e22 FLOPs", "1e25 FLOPs"]
    np.testing.assert_allclose(targets["loss"], best_loss(np.array([1e22, 1e25])))
    np.testing.assert_allclose(targets["low"], 0.91 * targets["loss"])
    np.testing.assert_allclose(targets["high"], 1.09 * targets["loss"])


def test_held_out_runs_stand_beside_their_prediction(made):
    held = answer_data(made).held_out
    assert held.to_dict("records") == [
        {"C": 3e20, "loss": 2.8, "predicted": 2.9, "low": 2.7, "high": 3.1}
    ]
    assert answer_data(answered(held_out=False)).held_out.empty


def test_a_diverged_run_stands_at_the_edge(made):
    data = answer_data(made)
    assert (data.n_diverged, data.n_above) == (1, 0)
    assert data.off_scale[["N", "D"]].to_numpy().tolist() == [[1e7, 4e9]]


def test_the_whole_pools_answer_is_a_line_behind(made):
    assert answer_data(made).reference.empty
    both = answered(factor=1.1)
    line = answer_data(both).reference
    np.testing.assert_allclose(line["loss"], 1.1 * best_loss(line["C"]), rtol=1e-5)
    assert "best loss from the whole pool" in key_of(answer(both))
    assert "best loss from the whole pool" not in key_of(answer(made))


def test_runs_of_the_pool_that_were_not_made_lie_behind_those_that_were(made):
    """Of the nine runs three are made, one of them dearer and worse than the second."""
    loss = made.loss
    rest = np.setdiff1d(np.arange(9), [0, 2, 8])
    some = replace(
        made,
        runs=Runs.from_losses([0, 2, 8], [loss[0], loss[2], 4.85]),
        unused_runs=Runs.from_losses(rest, loss[rest]),
    )
    runs = answer_data(some).runs.frame
    assert runs["kind"].to_dict() == {
        **{0: FITTED, 2: FITTED, 8: RUN, 1: NOT_RUN, 4: NOT_RUN, 5: NOT_RUN},
        **{6: NOT_RUN, 7: NOT_RUN},
    }
    assert "not run" in key_of(answer(some))
    assert "not run" not in key_of(answer(made))


def test_a_replays_answer_has_the_rest_of_its_pool(compute_task, make_trace, compute_law):
    trace = make_trace(compute_task, (0.1, 0.2), (None, None), rows=(4, 1))
    found = answered().answer
    made = replay_with_runs(trace, compute_law.study, Answers(found, found))
    pool = compute_task.rows
    assert made.runs.index.tolist() == pool[[4, 1]].tolist()
    assert sorted([*made.runs.index, *made.unused_runs.index]) == sorted(pool)
    losses = compute_law.study.runs.loss
    np.testing.assert_array_equal(made.unused_runs.loss, losses[made.unused_runs.index])


def test_the_chart_marks_the_target_it_reaches_and_no_other(made):
    spec = answer(made).to_dict()
    drawn = [row for rows in spec["datasets"].values() for row in rows if "label" in row]
    assert {row["C"] for row in drawn} == {1e22}
    assert [row["loss"] for row in drawn] == pytest.approx([float(best_loss(1e22))] * len(drawn))


def test_the_title_says_what_it_rests_on(made):
    title = answer(made).to_dict()["title"]
    assert "Best loss by compute: small" in " ".join([*title["text"]])
    assert "9 runs, 1 of them diverged, up to 1.54e19 FLOPs" in " ".join([*title["subtitle"]])


def test_runs_of_one_compute_have_no_chart(made):
    grid = Grid.from_columns({"N": [1e8, 2e8], "D": [2e9, 1e9]})
    flat = replace(made, grid=grid, runs=Runs.from_losses([0, 1], [3.0, 3.1]))
    with pytest.raises(ChartUnavailable, match="same compute"):
        answer_data(flat)
