"""Work lists: done once, over processes as alone, gone on with after an interruption."""

from __future__ import annotations

import pandas as pd
import pytest

from lawsmith.bench import kinds
from lawsmith.bench.jobs import Job, code_version, data_digest
from lawsmith.bench.plan import Figure, Method, Options, Suite, line
from lawsmith.bench.results import curves, write_results
from lawsmith.bench.store import Store
from lawsmith.bench.work import Progress, work
from lawsmith.datasets import load, preset_study

OPTIONS = Options(seeds=2, iterations=40)


def small_suite() -> Suite:
    lines = {
        "Window": line("synthetic-porian-hp", "LC", Method(), OPTIONS),
        "random": line("synthetic-porian-hp", "LC", Method(surrogate="none"), OPTIONS),
    }
    figure = Figure("small", "small", "synthetic-porian-hp", "LC", lines)
    return Suite("small", "small", "", (figure,))


def table(folder, suite):
    write_results(folder, [suite], OPTIONS)
    return pd.read_parquet(folder / "results.parquet")


def test_processes_give_the_table_that_one_alone_gives(tmp_path):
    suite = small_suite()
    for name, processes in (("one", 1), ("two", 2)):
        assert work(tmp_path / name, suite.jobs, processes=processes) == []
    one, two = table(tmp_path / "one", suite), table(tmp_path / "two", suite)
    pd.testing.assert_frame_equal(one, two, check_exact=True)
    assert (tmp_path / "one/results.csv").read_bytes() == (
        tmp_path / "two/results.csv"
    ).read_bytes()
    assert set(one["fit"]) == {"observed", "fantasized"}
    assert len(one.groupby(["surrogate", "seed", "fit"])) == 8


def test_a_finished_job_is_not_done_again_and_a_stopped_one_goes_on(tmp_path, monkeypatch):
    suite = small_suite()
    job = suite.jobs[0]
    assert job.settings["surrogate"] == "gp"
    monkeypatch.setattr(kinds, "replay_block", lambda settings: 8)
    kind = kinds.Kind(kinds.replay_lines, kinds._n_replay_lines, lambda settings: 8)
    monkeypatch.setitem(kinds.KINDS, "replay", kind)
    work(tmp_path / "whole", [job], processes=1)
    whole = Store(tmp_path / "whole").read(job)

    def broken(settings, done):
        for i, values in enumerate(kinds.replay_lines(settings, done)):
            if i == 21:
                raise KeyboardInterrupt
            yield values

    monkeypatch.setitem(kinds.KINDS, "replay", kinds.Kind(broken, kind.n_lines, kind.block))
    with pytest.raises(KeyboardInterrupt):
        work(tmp_path / "broken", [job], processes=1)
    store = Store(tmp_path / "broken")
    assert len(store.read(job).lines) == 21
    given = []

    def seen(settings, done):
        given.append(len(done))
        yield from kinds.replay_lines(settings, done)

    monkeypatch.setitem(kinds.KINDS, "replay", kinds.Kind(seen, kind.n_lines, kind.block))
    work(tmp_path / "broken", [job], processes=1)
    assert given == [16]
    assert store.read(job).lines == whole.lines
    work(tmp_path / "broken", [job], processes=1)
    assert given == [16]


def test_a_job_that_cannot_be_done_is_reported_and_the_others_are_done(tmp_path):
    jobs = small_suite().jobs
    bad = Job("replay", {**jobs[0].settings, "kernel": "none such"}, jobs[0].data)
    failures = work(tmp_path, [bad, jobs[2]], processes=2)
    assert [failure.job for failure in failures] == [bad]
    assert "kernel: got 'none such'" in failures[0].error
    assert Store(tmp_path).finished(jobs[2])
    assert curves(Store(tmp_path), bad) is None


def test_progress_ends_with_everything_done(tmp_path):
    told: list[Progress] = []
    jobs = small_suite().jobs[2:]
    work(tmp_path, jobs, processes=2, listen=told.append)
    assert (told[0].n_done, told[-1].n_done, told[-1].n_jobs) == (0, 2, 2)
    assert told[-1].weight_done == pytest.approx(told[-1].weight)


def test_a_change_of_data_or_code_is_another_job(monkeypatch):
    study = load("synthetic-warmstart")
    assert data_digest(study) == data_digest(preset_study("synthetic-warmstart"))
    assert data_digest(study) != data_digest(preset_study("synthetic-warmstart", seed=1))
    key = Job("replay", {"seed": 0}, "d").key
    code_version.cache_clear()
    monkeypatch.setattr("lawsmith.bench.jobs.code_version", lambda kind: "other")
    assert Job("replay", {"seed": 0}, "d").key != key
