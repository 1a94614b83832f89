"""How an answer is made: what it rests on, what it is refused for, and what it warns of."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from lawsmith.answer import Target, answer, default_target, target_of
from lawsmith.answer.cautions import (
    FIRM,
    ROUGH,
    above_observed,
    allocation_extrapolated,
    best_at_edge,
    few_held_out,
    missed,
    verdict,
    warnings,
)
from lawsmith.answer.make import thin
from lawsmith.answer.records import Forecast, HeldOutRuns
from lawsmith.errors import LawsmithError
from lawsmith.grid import Grid
from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.runs import Runs, State
from lawsmith.surface import Range

from . import tables


def around(centre: float, spread: float = 2.0) -> Range:
    near = spread**0.5
    return Range(centre, centre / spread, centre * spread, centre / near, centre * near)


def forecast(half: float = 0.02, **more) -> Forecast:
    """2.0 at 1e22, known to ± ``half``, a decade beyond the data."""
    ends = {"low": 2 - 2 * half, "high": 2 + 2 * half, "run_low": 2 - 3 * half}
    told = {
        **ends,
        "run_high": 2 + 3 * half,
        "decades": 0.9,
        "scales": {"N": around(1e9), "D": around(1e22 / 6e9), "D/N": around(1e22 / 6e18)},
        "hp": {},
        "levels": {},
    }
    return Forecast(**{"target": Target(1e22), "loss": 2.0, **told, **more})


def judged(n: int, n_outside: int) -> HeldOutRuns:
    loss = np.where(np.arange(n) < n_outside, 3.0, 2.0)
    one = np.ones(n)
    return HeldOutRuns(np.arange(n), 1e20 * one, loss, 2.0 * one, 1.9 * one, 2.1 * one)


GRID = Grid.from_columns({"N": [1e8, 1e8, 1e9], "D": [2e9, 1e10, 4e10]})
LOSS = np.array([3.0, 2.8, 2.5])


@pytest.fixture(scope="module")
def sweep():
    return tables.study(tables.sweep(), "sweep")


def test_a_target_may_be_of_whole_numbers_that_no_array_holds():
    """Python's own whole numbers have no largest one; those of numpy end at 9.2e18."""
    made = tables.study(tables.sweep())
    whole, plain = (
        answer(made.grid, made.runs, [Target(C), Target(6 * N * N, N=N, D=N)]).forecasts
        for C, N in ((10**22, 10**11), (1e22, 1e11))
    )
    assert [f.loss for f in whole] == [f.loss for f in plain]


def test_a_target_is_called_by_what_it_gives():
    assert Target(1.5e23).label == "1.5e23 FLOPs"
    assert Target(6e21, 1e9, 1e12).label == "N = 1B, D = 1T"
    assert Target(6e21, 1e9, 1e12, {"lr": 3e-4, "opt": "muon"}).label == (
        "N = 1B, D = 1T, lr = 0.0003, opt = muon"
    )
    assert Target(math.nan, N=7e9).label == "N = 7B"


@pytest.mark.parametrize(
    "target",
    [
        Target(1e25),
        Target(6e21, 1e9, 1e12),
        Target(6e21, 1e9, 1e12, {"lr": 3e-4, "opt": "muon"}),
        Target(math.nan, N=7e9),
        Target(math.nan, D=7e9),
    ],
)
def test_a_target_on_record_is_read_back(target):
    written = json.loads(json.dumps(target.plain, allow_nan=False))
    read = target_of(written)
    assert (read.N, read.D, dict(read.hp), read.label) == (
        *(target.N, target.D, dict(target.hp), target.label),
    )
    assert pytest.approx(target.C, nan_ok=True) == read.C


@pytest.mark.parametrize(("largest", "want"), [(1e20, 1e21), (4e20, 1e22), (3e20, 1e21)])
def test_unsaid_the_target_is_a_power_of_ten_half_a_decade_or_more_beyond(largest, want):
    grid = Grid.from_columns({"N": [1e8, 1e8], "D": [1e9, largest / 6e8]})
    assert pytest.approx(want) == default_target(grid, Runs.from_losses([0, 1], [3.0, 2.0])).C


def test_three_runs_are_too_few(sweep):
    for n in (0, 3):
        with pytest.raises(LawsmithError, match=f"answer: got {n} finished runs, want at least 4"):
            answer(sweep.grid, Runs.from_losses(np.arange(n), np.full(n, 3.0)), [Target(1e22)])


def test_a_diverged_run_is_counted_apart_and_what_is_pending_not_at_all(sweep):
    loss = sweep.runs.loss.copy()
    loss[:2] = np.nan
    lost = Runs.from_losses(sweep.runs.index, loss)
    found = answer(sweep.grid, lost, [Target(1e22)])
    assert (found.n_runs, found.n_diverged) == (80, 2)
    assert "80 runs, 2 of them diverged" in found.summary()
    state = np.asarray(lost.state).copy()
    state[5:9] = State.PENDING.value
    some = Runs(lost.index, np.where(state == State.PENDING.value, np.nan, loss), state)
    kept = np.delete(np.arange(80), slice(5, 9))
    without = answer(sweep.grid, Runs.from_losses(lost.index[kept], loss[kept]), [Target(1e22)])
    assert answer(sweep.grid, some, [Target(1e22)]).forecasts == without.forecasts


def test_what_is_held_out_is_predicted_and_not_looked_at(sweep):
    rows = np.argsort(sweep.grid.C, kind="stable")[-10:]
    found = answer(sweep.grid, sweep.runs, [Target(1e22)], held_out=rows)
    moved = sweep.runs.loss.copy()
    moved[np.isin(sweep.runs.index, rows)] *= 0.5
    blind = answer(
        sweep.grid, Runs.from_losses(sweep.runs.index, moved), [Target(1e22)], held_out=rows
    )
    assert found.forecasts == blind.forecasts
    assert found.n_runs == 70
    assert found.largest == pytest.approx(float(np.delete(sweep.grid.C, rows).max()))
    np.testing.assert_array_equal(found.left_out, rows)
    assert found.held_out is not None
    assert set(found.held_out.rows) <= set(rows)
    loss = sweep.runs.config_loss(len(sweep.grid))
    np.testing.assert_array_equal(found.held_out.measured, loss[found.held_out.rows])
    assert found.held_out.inside.all()
    assert "held_out_missed" in {w.code for w in blind.warnings}


def test_what_is_held_out_does_not_say_how_far_hyperparameters_range(sweep):
    rows = np.flatnonzero(sweep.grid.columns["lr"] == sweep.grid.columns["lr"].max())
    kept = np.setdiff1d(np.arange(len(sweep.grid)), rows)
    found = answer(sweep.grid, sweep.runs, [Target(1e22)], held_out=rows)
    without = answer(sweep.grid.subset(kept), sweep.runs.select(kept), [Target(1e22)])
    assert found.forecasts == without.forecasts


def test_the_order_of_targets_is_kept_and_one_does_not_change_another(sweep):
    wanted = [Target(1e23), Target(6e20, 1e9, 1e11), Target(1e22)]
    found = answer(sweep.grid, sweep.runs, wanted)
    assert [f.target for f in found.forecasts] == wanted
    alone = answer(sweep.grid, sweep.runs, wanted[2:])
    assert alone.forecasts[0] == found.forecasts[2]
    assert found.at(1e22) == found.forecasts[2]
    with pytest.raises(LawsmithError, match="target: got 1e"):
        found.at(1e24)


def test_the_order_of_runs_does_not_matter(sweep):
    turned = Runs.from_losses(sweep.runs.index[::-1], sweep.runs.loss[::-1])
    mine = answer(sweep.grid, sweep.runs, [Target(1e22)]).forecasts[0]
    theirs = answer(sweep.grid, turned, [Target(1e22)]).forecasts[0]
    assert (mine.loss, mine.low, mine.high) == pytest.approx((theirs.loss, theirs.low, theirs.high))


def test_given_hyperparameters_are_the_ones_told(sweep):
    """The loss is that of the given λ, so its λ is the given one and not the best one."""
    given = Target(6e20, 1e9, 1e11, {"lr": 8e-3})
    found = answer(sweep.grid, sweep.runs, [given, replace(given, hp={})])
    at, best = found.forecasts
    assert at.loss > 1.005 * best.loss
    assert at.hp["lr"] == (8e-3,) * 5
    assert "lr" not in at.at_edge
    assert best.hp["lr"].centre < 4e-3
    (told,) = [a["hyperparameters"]["lr"] for a in found.to_dict()["answers"][:1]]
    assert told == {"value": 8e-3, "interval": [8e-3, 8e-3], "near": [8e-3, 8e-3]}


def test_a_target_without_the_studys_scales_is_refused(sweep):
    with pytest.raises(LawsmithError, match="target: got N = 1B, want N, D"):
        answer(sweep.grid, sweep.runs, [Target(math.nan, N=1e9)])


def test_of_many_configurations_a_part_is_used_chosen_by_compute_alone(monkeypatch):
    study = tables.study(tables.sweep(12))  # 240 configurations
    monkeypatch.setattr("lawsmith.answer.make.MOST_CONFIGS", 80)
    kept = thin(study.grid, study.runs)
    assert len(kept) == 80
    shuffled = Runs(study.runs.index, study.runs.loss[::-1], study.runs.state)
    assert kept.index.tolist() == thin(study.grid, shuffled).index.tolist()
    largest = np.argsort(study.grid.C, kind="stable")[-15:]
    assert set(largest.tolist()) <= set(kept.index.tolist())
    found = answer(study.grid, study.runs, [Target(1e22)])
    assert next(w.message for w in found.warnings if w.code == "thinned").startswith(
        "the answer rests on 80 of 240 runs"
    )
    assert found.forecasts[0].low < tables.best_loss(1e22) < found.forecasts[0].high
    monkeypatch.undo()
    whole = answer(study.grid, study.runs, [Target(1e22)])
    assert "thinned" not in {w.code for w in whole.warnings}


def test_few_runs_are_said_to_be_few():
    table = tables.study(tables.few(12))
    found = answer(table.grid, table.runs, [Target(1e21)])
    (told,) = [w for w in found.warnings if w.code == "few_runs"]
    assert told.numbers == {"n_runs": 12}
    assert "12 runs" in told.message
    assert not found.verdict.startswith("Firm")


@pytest.mark.parametrize(("n", "told"), [(1, True), (4, True), (5, False)])
def test_few_held_out_runs_are_said_to_be_few(n, told):
    found = few_held_out(judged(n, 0))
    assert (found is not None) is told
    assert found is None or found.numbers == {"n_held_out": n}
    assert few_held_out(None) is None


@pytest.mark.parametrize(
    ("n", "outside", "told"),
    # By chance alone 3 of 20 are outside in 7.5 % of cases, 4 in 1.6 %; 1 of 4 in 19 %, 2 in 1.4 %.
    [(20, 0, False), (20, 3, False), (20, 4, True), (4, 1, False), (4, 2, True)],
)
def test_held_out_runs_that_were_missed_are_told(n, outside, told):
    found = missed(judged(n, outside), 0.95)
    assert (found is not None) is told
    assert found is None or found.numbers == {"n_held_out": n, "n_missed": outside}


@pytest.mark.parametrize(
    ("ratio", "told"), [(19.0, True), (20.0, False), (100.0, False), (110.0, True)]
)
def test_a_ratio_of_D_and_N_that_was_not_run_is_told(ratio, told):
    one = forecast(scales={"N": around(1e9), "D": around(ratio * 1e9), "D/N": around(ratio)})
    found = allocation_extrapolated(one, GRID, LOSS)
    assert (found is not None) is told
    if found is not None:
        assert found.numbers == {"ratio": ratio, "least_run": 20.0, "largest_run": 100.0}
        assert "1e22 FLOPs" in found.message
    sized = replace(one, target=Target(6e18 * ratio, 1e9, ratio * 1e9))
    given = allocation_extrapolated(sized, GRID, LOSS)
    assert (given is not None) is told
    if given is not None and found is not None:
        assert (given.code, given.numbers) == (found.code, found.numbers)
        assert sized.target.label in given.message


def test_ratios_that_were_not_run_do_not_count_as_run():
    one = forecast(scales={"N": around(1e9), "D": around(9e10), "D/N": around(90.0)})
    assert allocation_extrapolated(one, GRID, LOSS) is None
    unfinished = np.array([3.0, np.nan, 2.5])
    assert allocation_extrapolated(one, GRID, unfinished) is not None


def test_less_loss_than_expected_at_no_more_compute_is_told():
    one = forecast(loss=2.6)  # LOSS has 2.5 at 2.4e20 FLOPs
    found = above_observed(one, GRID, LOSS)
    assert found is not None
    assert found.numbers == pytest.approx(
        {"predicted": 2.6, "reached": 2.5, "reached_compute": 2.4e20}
    )
    assert above_observed(forecast(loss=2.4), GRID, LOSS) is None
    assert above_observed(replace(one, target=Target(6e20, 1e9, 1e11)), GRID, LOSS) is None
    cheap = replace(one, target=Target(1e19))  # no run with less costs no more
    assert above_observed(cheap, GRID, LOSS) is None
    inside = replace(one, target=Target(1e21), decades=-0.1, run_low=2.49)
    assert above_observed(inside, GRID, LOSS) is None
    assert above_observed(replace(inside, run_low=2.51), GRID, LOSS) is not None


def test_a_best_value_at_the_end_of_what_was_tried_is_told():
    one = forecast(hp={"lr": around(1e-3), "wd": around(0.1)}, at_edge=("N", "lr"))
    found = best_at_edge(one)
    assert found is not None
    assert found.numbers == {"lr": 1e-3}
    assert "lr = 0.001" in found.message
    assert best_at_edge(forecast(hp={"lr": around(1e-3)})) is None


def test_a_warning_is_told_once_however_many_targets_share_it():
    far = forecast(decades=3.0)
    told = warnings([far, far], judged(3, 3), GRID, LOSS, 12, 0.95)
    codes = [w.code for w in told]
    assert codes.count("few_runs") == codes.count("extrapolation_decades") == 1
    assert set(codes) == {
        *("few_runs", "few_held_out", "held_out_missed", "extrapolation_decades"),
        "allocation_extrapolated",
    }


@pytest.mark.parametrize(
    ("half", "word"),
    [(0.9 * FIRM, "Firm"), (1.1 * FIRM, "Rough"), (0.9 * ROUGH, "Rough"), (1.1 * ROUGH, "Open")],
)
def test_a_verdict_says_how_far_to_trust_and_how_far_it_goes(half, word):
    told = verdict([forecast(half)], (), 0.95)
    assert told.startswith(f"{word}: 1e22 FLOPs is 0.9 decades beyond the largest run")
    assert f"±{float(f'{100 * half:.2g}'):g}% at 95%" in told
    assert "inside the data" in verdict([forecast(half, decades=-0.1)], (), 0.95)
    assert verdict([], (), 0.95) == ""


def test_a_verdict_is_never_firm_where_runs_were_missed():
    missed = Diagnostic("held_out_missed", "…")
    told = verdict([forecast(0.01)], [missed], 0.95)
    assert told.startswith("Rough: ")
    assert told.endswith("; held-out runs were missed.")
