"""The replay runner: a table answers, in the order in which its runs would have ended."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lawsmith.errors import LawsmithError
from lawsmith.runners import Ending, Phase, make_runner
from lawsmith.runners.replay import ReplayRunner
from tests.runners.waiting import make_job, submit

TABLE = """params,tokens,lr,val_loss
1e7,1e8,0.001,3.5
1e7,1e8,0.003,3.25
2e7,1e8,0.003,3.0
2e7,1e8,0.001,nan
"""


@pytest.fixture
def runner(tmp_path: Path) -> ReplayRunner:
    (tmp_path / "runs.csv").write_text(TABLE)
    made = make_runner("replay", {"table": "runs.csv", "flops_per_second": 1e15}, tmp_path)
    assert isinstance(made, ReplayRunner)
    return made


def loss(job) -> float | None:
    return json.loads((job.folder / "result.json").read_text())["loss"]


def test_a_job_answers_with_the_loss_of_its_configuration(runner, tmp_path: Path):
    job = submit(runner, make_job(tmp_path, lr=0.003))
    assert runner.poll([job])[job.name].ending is Ending.COMPLETED
    assert loss(job) == 3.25


def test_a_run_that_diverged_has_no_loss(runner, tmp_path: Path):
    job = submit(runner, make_job(tmp_path, N=2e7, lr=0.001))
    runner.poll([job])
    assert loss(job) is None


def test_jobs_end_in_the_order_of_their_compute(runner, tmp_path: Path):
    small = make_job(tmp_path, "a-1", lr=0.001, C=6e15)
    large = make_job(tmp_path, "a-2", lr=0.003, C=12e15)
    jobs = [submit(runner, large), submit(runner, small)]
    first = runner.poll(jobs)
    assert (first["a-1"].phase, first["a-2"].phase) == (Phase.ENDED, Phase.RUNNING)
    assert runner.now == pytest.approx(6.0)
    assert runner.poll(jobs)["a-2"].phase is Phase.ENDED
    assert runner.now == pytest.approx(12.0)


def test_a_configuration_that_is_not_in_the_table_fails(runner, tmp_path: Path):
    job = submit(runner, make_job(tmp_path, lr=0.5))
    status = runner.poll([job])[job.name]
    assert status.ending is Ending.FAILED
    assert "no run of this configuration" in status.detail


def test_a_job_submitted_again_by_another_process_keeps_its_times(runner, tmp_path: Path):
    job = make_job(tmp_path)
    first = submit(runner, job)
    other = make_runner("replay", {"table": "runs.csv"}, tmp_path)
    assert submit(other, job).handle == first.handle


def test_a_cancelled_job_has_no_result(runner, tmp_path: Path):
    job = submit(runner, make_job(tmp_path))
    runner.cancel([job])
    assert runner.poll([job])[job.name].ending is Ending.CANCELLED
    assert not (job.folder / "result.json").exists()


def test_cancelling_what_has_ended_changes_nothing(runner, tmp_path: Path):
    job = submit(runner, make_job(tmp_path))
    runner.poll([job])
    runner.cancel([job])
    assert runner.poll([job])[job.name].ending is Ending.COMPLETED


def test_a_job_never_submitted_is_lost(runner, tmp_path: Path):
    job = make_job(tmp_path)
    assert runner.poll([job])[job.name].phase is Phase.LOST


def test_a_table_with_an_axis_the_study_lacks_is_told(tmp_path: Path):
    (tmp_path / "runs.csv").write_text("N,D,wd,loss\n1e7,1e8,1,3\n1e7,1e8,2,4\n")
    runner = make_runner("replay", {"table": "runs.csv"}, tmp_path)
    job = submit(runner, make_job(tmp_path))
    with pytest.raises(LawsmithError, match="column wd: got an axis the study does not have"):
        runner.poll([job])


def test_a_table_that_is_not_there_is_told(tmp_path: Path):
    runner = make_runner("replay", {"table": "no.csv"}, tmp_path)
    job = submit(runner, make_job(tmp_path))
    with pytest.raises(LawsmithError, match=r"no\.csv"):
        runner.poll([job])
