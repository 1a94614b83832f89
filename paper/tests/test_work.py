"""Work lists: done once, over processes as alone, gone on with after an interruption."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import lawsmith
import lawsmith_paper.work as working
from lawsmith_paper import kinds, replays
from lawsmith_paper.jobs import NO_PART, Job, code_version, data_digest
from lawsmith_paper.plan import Figure, Options, Suite, line, setting
from lawsmith_paper.results import curves, write_results
from lawsmith_paper.store import Store
from lawsmith_paper.studies import load
from lawsmith_paper.studies.presets import preset_study
from lawsmith_paper.work import Progress, work

OPTIONS = Options(seeds=2, iterations=40)


def small_suite() -> Suite:
    lines = {
        "Window": line("synthetic-porian-hp", "LC", setting(), OPTIONS),
        "random": line("synthetic-porian-hp", "LC", setting(surrogate="none"), OPTIONS),
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
    monkeypatch.setattr(replays, "replay_block", lambda settings: 8)
    kind = kinds.Kind(replays.replay_lines, replays.n_replay_lines, lambda settings: 8)
    monkeypatch.setitem(kinds.KINDS, "replay", kind)
    work(tmp_path / "whole", [job], processes=1)
    whole = Store(tmp_path / "whole").read(job)

    def broken(settings, done):
        for i, values in enumerate(replays.replay_lines(settings, done)):
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
        yield from replays.replay_lines(settings, done)

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


@pytest.mark.parametrize("processes", [1, 2])
def test_what_is_no_error_of_ours_is_told_with_its_type_and_stops_nothing(tmp_path, processes):
    jobs = small_suite().jobs
    bad = Job("replay", {**jobs[0].settings, "seed": "zero"}, jobs[0].data, weight=9.0)
    failures = work(tmp_path, [bad, jobs[2]], processes=processes)
    assert [failure.job for failure in failures] == [bad]
    assert failures[0].error.startswith("TypeError: ")
    assert "\n" not in failures[0].error
    assert Store(tmp_path).finished(jobs[2])


def test_progress_ends_with_everything_done(tmp_path):
    told: list[Progress] = []
    jobs = small_suite().jobs[2:]
    work(tmp_path, jobs, processes=2, listen=told.append)
    assert (told[0].n_done, told[-1].n_done, told[-1].n_jobs) == (0, 2, 2)
    assert told[-1].weight_done == pytest.approx(told[-1].weight)
    names = {name for progress in told for name in progress.running}
    assert names <= {f"synthetic-porian-hp window none lcb seed {seed}" for seed in (0, 1)}
    assert told[-1].running == ()


def test_progress_counts_what_was_finished_earlier(tmp_path):
    jobs = small_suite().jobs[2:]
    work(tmp_path, jobs[:1], processes=1)
    told: list[Progress] = []
    work(tmp_path, jobs, processes=1, listen=told.append)
    assert (told[0].n_done, told[0].n_jobs) == (1, 2)
    assert told[0].weight_done == pytest.approx(jobs[0].weight)
    told.clear()
    work(tmp_path, jobs, processes=2, listen=told.append)
    assert [(progress.n_done, progress.n_jobs) for progress in told] == [(2, 2)]


def tally(told, jobs, left, processes=1, seconds=10.0):
    """A tally that began some seconds ago."""
    made = working._Tally(jobs, left, processes, told.append)
    made.begin -= seconds
    return made


def test_time_left_is_by_the_pace_of_this_process_not_by_what_earlier_ones_left():
    told: list[Progress] = []
    jobs = [Job("replay", {"study": "s", "seed": seed}, "d", weight=100.0) for seed in range(3)]
    half = tally(told, jobs, jobs[1:])
    half.share(jobs[1].key, 0.5)  # kept from an earlier process: it says nothing of the pace
    assert told[-1].seconds_left is None
    half.told = 0.0
    half.share(jobs[1].key, 0.6)
    # 10 of 100 seconds' worth in 10 seconds, and 140 seconds' worth left.
    assert told[-1].seconds_left == pytest.approx(140.0, rel=0.05)
    assert told[-1].weight_done == pytest.approx(160.0)


def test_jobs_side_by_side_share_the_clock_and_timed_ones_do_not():
    shared = [Job("replay", {"study": "s", "seed": seed}, "d", weight=60.0) for seed in (0, 1)]
    timed = Job("race", {"study": "s", "seed": 0}, "d", weight=30.0)
    assert working.seconds_expected([*shared, timed], 2) == pytest.approx(90.0)
    assert working.seconds_expected([*shared, timed], 1) == pytest.approx(150.0)


def test_a_share_heard_after_the_end_of_its_job_is_not_counted():
    told: list[Progress] = []
    job = Job("replay", {"study": "s", "seed": 0}, "d")
    late = tally(told, [job], [job])
    late.finish(job.key)
    late.told = 0.0
    late.share(job.key, 0.9)
    late.tell()
    assert told[-1].weight_done == told[-1].weight
    assert told[-1].running == ()


def test_timed_jobs_wait_for_the_others_and_run_one_at_a_time(tmp_path, monkeypatch):
    shared = [Job("replay", {"study": "s", "seed": seed}, "d", weight=seed) for seed in range(3)]
    timed = [Job("race", {"study": "s", "seed": seed}, "d", weight=seed) for seed in range(2)]
    asked = []

    def noted(store, jobs, processes, tally):
        asked.append(([job.weight for job in jobs], processes))
        return []

    monkeypatch.setattr(working, "_side_by_side", noted)
    work(tmp_path, [*timed, *shared], processes=4)
    # The longest first where they fill the cores, the order of the plan where they are timed.
    assert asked == [([2, 1, 0], 4), ([0, 1], 1)]


def test_an_error_in_the_parent_calls_its_processes_off_soon(tmp_path):
    def fail(progress):
        if progress.running:
            raise RuntimeError("enough")

    options = Options(seeds=2, iterations=2000)
    long = [
        replace(job, weight=1.0) for job in line("synthetic-porian-hp", "LC", setting(), options)
    ]
    with pytest.raises(RuntimeError, match="enough"):
        work(tmp_path, long, processes=2, listen=fail)
    store = Store(tmp_path)
    assert not any(store.finished(job) for job in long)  # each has hundreds of steps
    jobs = [job for job in small_suite().jobs if job.settings["surrogate"] == "none"]
    assert work(tmp_path, jobs, processes=2) == []


def test_a_change_of_data_or_code_is_another_job(monkeypatch):
    study = load("synthetic-warmstart")
    assert data_digest(study) == data_digest(preset_study("synthetic-warmstart"))
    assert data_digest(study) != data_digest(preset_study("synthetic-warmstart", seed=1))
    key = Job("replay", {"seed": 0}, "d").key
    code_version.cache_clear()
    monkeypatch.setattr("lawsmith_paper.jobs.code_version", lambda kind: "other")
    assert Job("replay", {"seed": 0}, "d").key != key


def test_what_jobs_are_computed_with_imports_nothing_that_their_key_leaves_out():
    folder = Path(lawsmith.__file__).parent
    left_out = {f"lawsmith.{name}" for name in NO_PART} - {"lawsmith_paper"}
    for source in folder.rglob("*.py"):
        part = source.relative_to(folder).parts[0]
        if part in NO_PART or part == "__init__.py":
            continue
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            assert ".".join((module or "").split(".")[:2]) not in left_out, source
