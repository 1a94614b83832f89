"""The race: equal work for all, times that add up, a rival that may be absent, tables by value."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest

from lawsmith.laws.catalogue import CHINCHILLA
from lawsmith.laws.fit import fit_law
from lawsmith.surrogates.gp import GP
from lawsmith_paper import race, replays
from lawsmith_paper.jobs import Job
from lawsmith_paper.kinds import KINDS
from lawsmith_paper.plan import Options, line, setting
from lawsmith_paper.race.fitter import classical_fit, classical_starts, fitter_lines, points
from lawsmith_paper.replays import replay_lines
from lawsmith_paper.speed import (
    Loop,
    fitter_table,
    law_table,
    loop_table,
    speed,
    speed_tables,
)
from lawsmith_paper.store import Store
from lawsmith_paper.tidy import curves_of_lines
from lawsmith_paper.work import work

SHORT = Options(seeds=1, iterations=40)


def loop_settings(surrogate="gp", options=SHORT):
    (job,) = line("synthetic-warmstart", "LC", setting(surrogate=surrogate), options)
    return {**job.settings, "event": "loop"}


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still unless it is moved."""
    seconds = [0.0]
    monkeypatch.setattr("lawsmith_paper.race.loop.process_time", lambda: seconds[0])
    return seconds


def test_a_pair_of_loops_a_seed_differs_in_nothing_but_the_surrogate():
    fitter, *loops = speed(Options(seeds=3)).jobs
    assert fitter.settings["event"] == "fitter"
    assert [job.settings["seed"] for job in loops] == [0, 0, 1, 1, 2, 2]
    for ours, theirs in zip(loops[::2], loops[1::2], strict=True):
        assert ours.settings["surrogate"] == "gp"
        assert dict(theirs.settings) == {**ours.settings, "surrogate": "botorch"}
        assert ours.settings["iterations"] == 210
        assert (ours.settings["space"], ours.settings["acquisition"]) == ("window", "lcb")
    assert {job.settings["iterations"] for job in speed(SHORT).jobs[1:]} == {40}


def test_a_raced_replay_is_the_replay_and_its_seconds_add_up():
    settings = loop_settings()
    begin = time.process_time()
    lines = list(race.race_lines(settings, []))
    spent = time.process_time() - begin
    run = curves_of_lines(settings, list(replay_lines(settings, [])))
    assert [values["n"] for values in lines] == list(range(1, 41))
    np.testing.assert_allclose([values["cost_fraction"] for values in lines], run.cost_fraction)
    found = np.array([values["difference"] for values in lines], dtype=float)
    np.testing.assert_allclose(found, run.extrapolation("1e25", "fantasized"), atol=1e-4)
    seconds = np.array([values["seconds"] for values in lines])
    surrogate = np.array([values["surrogate_seconds"] for values in lines])
    assert 0.3 * spent < seconds.sum() < spent
    assert (surrogate >= 0).all()
    assert (surrogate[:9] == 0).all()  # the initial design asks nothing of a surrogate
    assert (surrogate[10:] > 0).all()
    assert (seconds >= surrogate).all()


def test_seconds_of_the_surrogate_are_those_of_its_fits(monkeypatch, clock):
    class Slow(GP):
        def fit(self, grid, runs):
            clock[0] += len(runs)
            return super().fit(grid, runs)

    monkeypatch.setattr(replays, "make_surrogate", lambda *_, **__: Slow())
    lines = list(race.race_lines(loop_settings(options=Options(1, 14)), []))
    # Asked after the run, for the law, and again for the choice of the next one.
    expected = [0.0] * 9 + [2.0 * n for n in (10, 11, 12, 13, 14)]
    assert [values["surrogate_seconds"] for values in lines] == expected
    assert [values["seconds"] for values in lines] == expected


def test_what_a_first_fit_loads_is_not_timed(monkeypatch, clock):
    loaded = []

    class Loading(GP):
        def fit(self, grid, runs):
            if not loaded:
                loaded.append(len(runs))
                clock[0] += 1.0
            return super().fit(grid, runs)

    monkeypatch.setattr(replays, "make_surrogate", lambda *_, **__: Loading())
    lines = list(race.race_lines(loop_settings(options=Options(1, 12)), []))
    assert loaded == [5]
    assert sum(values["seconds"] for values in lines) == 0.0


def test_an_interrupted_race_starts_over():
    kind = KINDS["race"]
    settings = loop_settings()
    assert kind.block(settings) == kind.n_lines(settings) == 40
    assert kind.alone


def test_classical_starts_are_the_whole_grid_in_the_laws_own_order():
    starts = classical_starts()
    assert starts.shape == (4500, 5)
    assert len(np.unique(starts, axis=0)) == 4500
    assert [param.name for param in CHINCHILLA.params] == ["E", "A", "alpha", "B", "beta"]
    for j, values in enumerate([(-1, 1), (0, 25), (0, 2), (0, 25), (0, 2)]):
        assert (starts[:, j].min(), starts[:, j].max()) == values


def test_a_classical_start_finds_our_minimum_and_none_a_better_one():
    settings = {"study": "synthetic-demo", "drop_largest_loss": 0, "seed": 0}
    lines = list(fitter_lines({**settings, "repeats": 2, "starts": 20}))
    ours, theirs = lines[:2], lines[2:]
    assert {values["contender"] for values in theirs} == {"scipy"}
    least = ours[0]["objective"]
    values = np.array([values["objective"] for values in theirs])
    assert values.min() == pytest.approx(least, rel=1e-6)
    assert (values >= least * (1 - 1e-9)).all()
    assert len({values["n"] for values in theirs}) == 20
    inputs, loss = points("synthetic-demo", 0)
    fit = fit_law(CHINCHILLA, inputs, loss)
    assert classical_fit(fit.x, np.log(loss), fit.phi) == pytest.approx(fit.value, rel=1e-9)


def test_without_the_package_the_rival_fails_in_one_line_and_the_rest_is_shown(
    tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "botorch", None)
    suite = speed(Options(seeds=1, iterations=13))
    failures = work(tmp_path, suite.jobs, processes=1)
    assert [failure.job.settings["surrogate"] for failure in failures] == ["botorch"]
    assert "got no package botorch" in failures[0].error
    assert "want what lawsmith-paper installs" in failures[0].error
    loops, laws, fitters = speed_tables(Store(tmp_path), suite)
    assert [row[0] for row in loops.rows] == ["GP of lawsmith", "BoTorch, refitted each step"]
    assert set(loops.rows[1][1:]) == {"–"}
    assert "BoTorch, refitted each step: did not run." in loops.note
    assert len(laws.rows) == 1
    assert len(fitters.rows) == 2


def test_before_anything_is_finished_there_is_no_table(tmp_path):
    assert speed_tables(Store(tmp_path), speed(Options(seeds=1, iterations=13))) == []


def made_loop(seconds, surrogate=0.0, n=60, error=2.0):
    """A loop of equal steps that spends a tenth of the pool."""
    ones = np.ones(n)
    spent = np.linspace(0.1 / n, 0.1, n)
    errors = np.where(np.arange(n) < 10, np.nan, error)
    return Loop(np.arange(1.0, n + 1), seconds * ones, surrogate * ones, spent, errors)


def test_totals_ratios_and_steps_are_means_over_seeds():
    loops = {
        "gp": {0: made_loop(0.01, 0.005), 1: made_loop(0.03, 0.005)},
        "botorch": {0: made_loop(0.1, 0.05), 1: made_loop(0.15, 0.15)},
    }
    table = loop_table(loops)
    ours, theirs = table.rows
    assert table.title == "Processor seconds of a replay of 60 runs, Window, LCB"
    # 60 steps of 0.01 and 0.03 s; ratios of the seeds 10 and 5, and 10 and 30.
    assert ours[1:6] == ("1.2 ± 0.8", "1×", "0.3 ± 0.0", "1×", "20")
    assert theirs[1:6] == ("7.5 ± 2.1", "7.5×", "6.0 ± 4.2", "20×", "125")
    assert ours[6:] == theirs[6:] == ("–", "–")  # 100 and 200 runs were not reached
    assert "did not run" not in table.note


def test_a_step_is_the_mean_of_its_neighbours():
    loop = made_loop(0.01)
    seconds = loop.seconds.copy()
    seconds[49] = 0.12  # at n = 50, alone of the eleven from 45 to 55
    spiky = Loop(loop.n, seconds, loop.surrogate, loop.spent, loop.error)
    assert spiky.step_ms(50) == pytest.approx((10 * 10 + 120) / 11)
    assert np.isnan(spiky.step_ms(61))


def test_the_law_table_tells_what_stood_at_a_budget_and_in_the_end():
    loops = {"gp": {0: made_loop(0.01, error=2.0), 1: made_loop(0.01, error=4.0)}}
    (row,) = law_table(loops).rows
    assert row[0] == "GP of lawsmith"
    assert row[1:4] == ("–", "–", "3.00 ± 1.41")  # a law from the 11th of 60 runs on, 1.8 %
    assert row[5:] == ("3.00 ± 1.41", "3.00 ± 1.41", "10.00 ± 0.00 %")


def test_the_classical_total_is_scaled_up_and_said_to_be():
    ours = [{"contender": "lawsmith", "n": i, "seconds": 0.01, "objective": 1.5} for i in range(3)]
    theirs = [{"contender": "scipy", "n": i, "seconds": 0.02, "objective": 2.0} for i in range(4)]
    theirs[1]["objective"] = 1.5
    table = fitter_table("synthetic-demo", 0, [*ours, *theirs])
    assert "36 points of synthetic-demo (synthetic)" in table.title
    assert table.rows[0][1:] == ("0.01", "1×", "1.5000000000e+00")
    assert table.rows[1][1:] == ("90", "9000×", "1.5000000000e+00")
    assert "4 of its 4500 starts" in table.note


def test_botorch_runs_the_same_loop_from_the_same_initial_runs():
    short = Options(seeds=1, iterations=12)
    ours = list(race.race_lines(loop_settings("gp", short), []))
    theirs = list(race.race_lines(loop_settings("botorch", short), []))
    assert [v["n"] for v in theirs] == list(range(1, 13))
    for mine, other in zip(ours[:10], theirs[:10], strict=True):
        assert mine["cost_fraction"] == other["cost_fraction"]
    assert {v["contender"] for v in theirs} == {"botorch"}
    # Fits from scratch at 10, 11 and 12 runs; importing torch is not among their seconds.
    assert all(0.0 < v["surrogate_seconds"] < 5.0 for v in theirs[9:])


def test_a_race_is_no_job_of_another_kind():
    settings = loop_settings()
    assert Job("race", settings, "d").key != Job("replay", settings, "d").key
