"""The kind 'replay': what its settings decide."""

from __future__ import annotations

import json

import pytest

from lawsmith.policies import Method
from lawsmith_paper.plan import Options, line, setting
from lawsmith_paper.replays import n_replay_lines, replay_lines, stop_of, task_of

STUDY = "synthetic-warmstart"


def settings_of(method: Method | None = None, **more):
    (job,) = line(STUDY, "LC", method or setting(), Options(seeds=1, iterations=25))
    return {**job.settings, **more}


def rows_of(settings) -> list[int]:
    return [record["row"] for record in replay_lines(settings, [])]


def test_a_replay_ends_at_its_share_of_the_compute():
    settings = settings_of(budget=0.05, iterations=None)
    task = task_of(settings)
    rows = rows_of(settings)
    spent = task.pool.C[rows].sum()
    assert 10 < len(rows) < len(task.pool)
    assert spent <= 0.05 * task.pool.C.sum()
    # It ended with the first run that would have gone beyond.
    longer = rows_of({**settings, "budget": 0.2})
    assert longer[: len(rows)] == rows
    assert task.pool.C[longer[: len(rows) + 1]].sum() > 0.05 * task.pool.C.sum()


def test_runs_and_budget_may_both_end_a_replay():
    settings = settings_of(iterations=12, budget=0.9)
    assert len(rows_of(settings)) == 12
    stop = stop_of(settings, task_of(settings))
    assert (stop.iterations, stop.budget) == (12, 0.9 * task_of(settings).total_compute)
    assert stop_of({**settings, "budget": None}, task_of(settings)).budget is None


def test_the_lines_expected_are_no_more_than_the_pool_the_budget_and_the_runs_allow():
    settings = settings_of(iterations=None)
    n = len(task_of(settings).pool)
    assert n_replay_lines(settings) == n
    assert n_replay_lines({**settings, "iterations": 12}) == 12
    assert n_replay_lines({**settings, "budget": 1.0}) == n
    assert 1 < n_replay_lines({**settings, "budget": 0.1}) < n


def test_a_line_has_its_budget_in_every_setting():
    jobs = line(STUDY, "LC", setting(), Options(seeds=2), budget=0.1)
    assert [job.settings["budget"] for job in jobs] == [0.1, 0.1]
    assert len({job.key for job in (*jobs, *line(STUDY, "LC", setting(), Options(seeds=2)))}) == 4


def test_weights_of_fantasized_points_change_laws_and_no_run():
    plain, known = (
        list(replay_lines(settings_of(fantasies=name), [])) for name in ("alike", "as known")
    )
    assert [record["row"] for record in plain] == [record["row"] for record in known]
    assert [record["observed"] for record in plain] == [record["observed"] for record in known]
    assert plain[-1]["fantasized"] != known[-1]["fantasized"]


@pytest.mark.parametrize("name", ["N", "D"])
def test_a_window_climbs_by_what_slices_the_study(name):
    settings = settings_of(setting(slice_by=name, reach=1.0))
    pool = task_of(settings).pool
    values = getattr(pool, name)[rows_of(settings)]
    levels = sorted(set(getattr(pool, name)))
    for n in range(10, len(values)):
        assert levels.index(values[n]) <= levels.index(values[:n].max()) + 1


def test_a_replay_goes_on_from_what_was_kept():
    settings = settings_of(setting(surrogate="none"), iterations=100)
    whole = list(replay_lines(settings, []))
    kept = [json.loads(json.dumps(record)) for record in whole[:64]]
    rest = list(replay_lines(settings, kept))
    assert [record["row"] for record in rest] == [record["row"] for record in whole[64:]]
    for one, other in zip(rest, whole[64:], strict=True):
        assert one["observed"][0] == pytest.approx(other["observed"][0], rel=1e-8)
        assert one["envelope"] == other["envelope"]
