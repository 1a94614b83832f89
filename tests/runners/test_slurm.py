"""The Slurm runner on real clusters, with accounting and without."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from lawsmith.errors import LawsmithError
from lawsmith.runners.base import Ending, Job, Phase
from lawsmith.runners.slurm import SlurmOptions, SlurmRunner
from lawsmith.runners.slurm.client import SlurmClient
from tests.runners.clusters import call, slurm_conf
from tests.runners.contract import (
    Place,
    RunnerContract,
    submitted,
    until,
    until_ended,
    until_file,
    until_running,
)

TEMPLATE = """#!/bin/bash
#SBATCH --time=10
{directives}

exec sh {{{{script}}}} {{{{note}}}}
"""


def make_place(folder: Path, *, directives: str = "", array: int = 100) -> Place:
    """A study's folder with a template of these directives."""
    (folder / "job.sbatch").write_text(TEMPLATE.format(directives=directives), encoding="utf-8")
    options = {"template": "job.sbatch", "array": array}
    return Place(
        {"kind": "slurm", "options": options},
        folder,
        lambda: SlurmRunner(SlurmOptions(**options), folder),
    )


@pytest.fixture
def accounting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_CONF", str(slurm_conf("accounting")))


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_CONF", str(slurm_conf("plain")))


class TestWithAccounting(RunnerContract):
    @pytest.fixture
    def place(self, accounting, tmp_path):
        return make_place(tmp_path)


class TestWithoutAccounting(RunnerContract):
    @pytest.fixture
    def place(self, plain, tmp_path):
        return make_place(tmp_path, array=1)


def test_runs_of_one_round_are_tasks_of_one_array_and_runs_that_need_other_things_are_not(
    plain, tmp_path
):
    place = make_place(tmp_path, directives="#SBATCH --mem={{mem}}")
    jobs = [place.job("exit 0", mem=mem) for mem in (20, 20, 30, 20)]
    handles = [job.handle for job in submitted(place.make(), jobs)]
    array = handles[0].partition("_")[0]
    assert handles[:2] + handles[3:] == [f"{array}_0", f"{array}_1", f"{array}_2"]
    assert handles[2].isdigit()
    found = until_ended(place.make(), jobs)
    assert [status.ending for status in found] == 4 * [Ending.COMPLETED]


def test_a_batch_cut_short_by_a_crash_is_found_again_when_it_comes_with_others(
    accounting, tmp_path
):
    place = make_place(tmp_path)
    old = [place.job("echo x >> starts; sleep 1") for _ in range(3)]
    first = submitted(place.make(), old)
    mixed = [old[2], place.job("echo x >> starts"), old[0]]
    second = submitted(place.make(), mixed)
    assert [second[0].handle, second[2].handle] == [first[2].handle, first[0].handle]
    until_ended(place.make(), second)
    assert {(job.folder / "starts").read_text() for job in mixed} == {"x\n"}


def test_of_two_jobs_with_one_name_the_first_to_begin_runs_and_the_other_steps_back(
    plain, tmp_path
):
    place = make_place(tmp_path)
    runner, job = place.make(), place.job("echo x >> starts; sleep 2; exit 7")
    (first,) = submitted(runner, [job])
    # What a driver does that was killed with its sbatch still under way.
    batch = job.folder / "slurm" / "batch.sh"
    twin = call("sbatch", "--parsable", f"--job-name={job.name}", "-o", "/dev/null", str(batch))
    handles = [dataclasses.replace(job, handle=handle) for handle in (first.handle, twin)]
    for known in handles:
        (status,) = until_ended(runner, [known])
        assert status.exit_code == 7
    until(
        runner,
        [job],
        lambda _: "RUNNING" not in call("squeue", "-h", "-j", twin, "-t", "all", "-o", "%T"),
        "stepped back",
    )
    assert (job.folder / "starts").read_text() == "x\n"


def test_preempted_is_told(accounting, tmp_path):
    place = make_place(tmp_path, directives="#SBATCH --partition=low --no-requeue")
    runner = place.make()
    jobs = submitted(runner, [place.job("sleep 300")])
    until_running(runner, jobs)
    call("sbatch", "--partition=high", "--output=/dev/null", "--wrap=true")
    assert until_ended(runner, jobs)[0].ending is Ending.PREEMPTED


def test_the_time_limit_is_told(plain, tmp_path):
    place = make_place(tmp_path, directives="#SBATCH --time=1")
    runner = place.make()
    jobs = submitted(runner, [place.job("sleep 300")])
    until_running(runner, jobs)
    call("scontrol", "update", f"jobid={jobs[0].handle}", "EndTime=now+1")
    assert until_ended(runner, jobs)[0].ending is Ending.TIMEOUT


def test_too_much_memory_is_told_though_this_cluster_calls_it_a_failure(plain, tmp_path):
    place = make_place(tmp_path, directives="#SBATCH --mem=30")
    hog = "python3 -c 'import time; x = bytearray(300 * 2**20); time.sleep(60)'"
    runner = place.make()
    jobs = submitted(runner, [place.job(hog)])
    (status,) = until_ended(runner, jobs)
    assert status.ending is Ending.OUT_OF_MEMORY


def test_a_node_that_fails_ends_a_run_or_queues_it_again_as_the_template_says(accounting, tmp_path):
    (tmp_path / "once").mkdir()
    (tmp_path / "again").mkdir()
    once = make_place(tmp_path / "once", directives="#SBATCH --partition=doomed --no-requeue")
    again = make_place(tmp_path / "again", directives="#SBATCH --partition=doomed --requeue")
    runner = once.make()
    ends = submitted(runner, [once.job("sleep 300")])
    waits = submitted(again.make(), [again.job("sleep 300")])
    until_running(runner, [*ends, *waits])
    call("scontrol", "update", "nodename=doomed", "state=down", "reason=test")
    try:
        assert until_ended(runner, ends)[0].ending is Ending.NODE_FAILURE
        # Accounting says NODE_FAIL of this one too; only the controller knows that it waits.
        until(runner, waits, lambda s: s.phase is Phase.QUEUED, "queued")
    finally:
        runner.cancel(waits)
        resume("doomed")
    assert until_ended(runner, waits)[0].ending is Ending.CANCELLED


def test_a_run_waits_for_a_drained_node_and_is_cancelled_or_run_when_it_is_back(plain, tmp_path):
    call("scontrol", "update", "nodename=doomed", "state=drain", "reason=test")
    try:
        place = make_place(tmp_path, directives="#SBATCH --partition=doomed", array=1)
        runner = place.make()
        jobs = submitted(runner, [place.job("exit 0"), place.job("echo x > ran")])
        found = until(runner, jobs, lambda s: "node" in s.detail.lower(), "told why")
        assert {status.phase for status in found} == {Phase.QUEUED}
        runner.cancel(jobs[1:])
        assert until_ended(runner, jobs[1:])[0].ending is Ending.CANCELLED
        assert not (jobs[1].folder / "ran").exists()
    finally:
        resume("doomed")
    assert until_ended(runner, jobs[:1])[0].ending is Ending.COMPLETED


def test_a_task_cancelled_while_it_waits_is_cancelled_though_slurm_keeps_no_record(plain, tmp_path):
    place = make_place(tmp_path, directives="#SBATCH --begin=now+1hour")
    runner = place.make()
    jobs = submitted(runner, [place.job("exit 0") for _ in range(3)])
    runner.cancel(jobs[1:2])
    (status,) = until_ended(runner, jobs[1:2])
    assert status.ending is Ending.CANCELLED
    assert runner.poll(jobs)[jobs[2].name].phase is Phase.QUEUED
    again = submitted(runner, [dataclasses.replace(job, handle="") for job in jobs])
    assert [job.handle for job in again] == [job.handle for job in jobs]
    runner.cancel(jobs)
    assert {status.ending for status in until_ended(runner, jobs)} == {Ending.CANCELLED}


def resume(node: str) -> None:
    """Bring a node back, and wait for it."""
    deadline = time.monotonic() + 60
    while call("sinfo", "-h", "-n", node, "-o", "%T") not in ("idle", "mixed", "allocated"):
        assert time.monotonic() < deadline, f"{node} stays away"
        command = ["scontrol", "update", f"nodename={node}", "state=resume"]
        subprocess.run(command, check=False, capture_output=True)
        time.sleep(0.5)


def test_a_requeued_run_is_run_again_in_its_folder(plain, tmp_path):
    place = make_place(tmp_path, directives="#SBATCH --requeue")
    script = "echo x >> starts; [ $(wc -l < starts) = 2 ] || sleep 300"
    runner = place.make()
    jobs = submitted(runner, [place.job(script)])
    until_file(jobs[0].folder / "starts")
    call("scontrol", "requeue", jobs[0].handle)
    until(runner, jobs, lambda s: "BeginTime" in s.detail, "queued again, for two minutes from now")
    # Slurm counts in whole seconds: one that begins in the second of its end is "already killed".
    until_file(jobs[0].folder / "slurm" / "exit")
    call("scontrol", "update", f"jobid={jobs[0].handle}", "StartTime=now+2")
    (status,) = until_ended(runner, jobs)
    assert status.ending is Ending.COMPLETED
    assert (jobs[0].folder / "starts").read_text() == "x\nx\n"


def test_a_second_start_that_slurm_refuses_has_not_the_exit_code_of_the_first(plain, tmp_path):
    place = make_place(tmp_path, directives="#SBATCH --requeue")
    runner = place.make()
    # Slurm refuses a start in the second of the end. It starts jobs once a second, at a fraction of
    # it that differs from daemon to daemon. So the run ends as early in a second as can be.
    for _ in range(30):  # as a rule the first; on a busy machine Slurm is late for the refusal
        jobs = submitted(runner, [place.job("echo x >> starts; sleep 300")])
        until_file(jobs[0].folder / "starts")
        time.sleep(1.005 - time.time() % 1.0)
        call("scontrol", "requeue", jobs[0].handle)
        until(runner, jobs, lambda s: s.phase is Phase.QUEUED, "queued again", pause=0.01)
        call("scontrol", "update", f"jobid={jobs[0].handle}", "StartTime=now")
        until(runner, jobs, lambda s: s.phase is not Phase.QUEUED, "started again, or refused")
        time.sleep(0.5)
        (status,) = runner.poll(jobs).values()
        runner.cancel(jobs)
        if status.phase is Phase.ENDED:
            break
    assert (status.ending, status.exit_code) == (Ending.NODE_FAILURE, None)
    assert "start number 2 never began" in status.detail
    assert (jobs[0].folder / "starts").read_text() == "x\n"


def test_a_signal_to_the_batch_shell_reaches_the_run(plain, tmp_path):
    place = make_place(tmp_path)
    script = "trap 'exit 42' USR1; echo up > up; while true; do sleep 0.1; done"
    runner = place.make()
    jobs = submitted(runner, [place.job(script)])
    until_file(jobs[0].folder / "up")
    call("scancel", "--batch", "--signal=USR1", jobs[0].handle)
    (status,) = until_ended(runner, jobs)
    assert (status.ending, status.exit_code) == (Ending.FAILED, 42)


@pytest.fixture
def forgetful(tmp_path, monkeypatch):
    """A controller that has forgotten every job, as Slurm does minutes after an end."""
    squeue = tmp_path / "bin" / "squeue"
    squeue.parent.mkdir()
    squeue.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    squeue.chmod(0o755)
    return lambda: monkeypatch.setenv("PATH", f"{squeue.parent}:{os.environ['PATH']}")


def on_record(job: Job) -> bool:
    """Whether accounting, which lags a little, knows how a job ended."""
    state = call("sacct", "-X", "-n", "-P", "-o", "State", "-j", job.handle)
    return state.startswith(("FAILED", "CANCELLED"))


def test_what_the_controller_forgot_is_asked_of_accounting(accounting, tmp_path, forgetful):
    place = make_place(tmp_path)
    runner = place.make()
    jobs = submitted(runner, [place.job("exit 4"), place.job("sleep 300")])
    until_running(runner, jobs[1:])
    runner.cancel(jobs[1:])
    until_ended(runner, jobs)
    until(runner, jobs, lambda _: on_record(jobs[0]) and on_record(jobs[1]), "on record")
    forgetful()
    for job in jobs:  # accounting knows more than the folder: what ended a job
        (job.folder / "slurm" / "exit").unlink(missing_ok=True)
    failed, cancelled = until_ended(runner, jobs)
    assert (failed.ending, failed.exit_code) == (Ending.FAILED, 4)
    assert cancelled.ending is Ending.CANCELLED
    # A driver that lost its handles finds them there as well.
    unknown = [dataclasses.replace(job, handle="") for job in jobs]
    (jobs[0].folder / "slurm" / "owner").unlink()
    assert [job.handle for job in submitted(runner, unknown)] == [job.handle for job in jobs]


def test_what_nobody_remembers_is_read_from_the_run_s_folder(plain, tmp_path, forgetful):
    place = make_place(tmp_path)
    runner = place.make()
    jobs = submitted(runner, [place.job("exit 0"), place.job("exit 4"), place.job("kill -9 $$")])
    until_ended(runner, jobs)
    forgetful()
    found = until_ended(runner, jobs)
    assert [status.ending for status in found] == [Ending.COMPLETED, Ending.FAILED, Ending.FAILED]
    assert [status.exit_code for status in found] == [0, 4, 137]
    (jobs[2].folder / "slurm" / "exit").unlink()
    assert until_ended(runner, jobs[2:])[0].ending is Ending.FAILED
    assert "no record" in runner.poll(jobs[2:])[jobs[2].name].detail


def test_preempted_and_forgotten_is_told_by_slurm_s_own_output(plain, tmp_path, forgetful):
    place = make_place(tmp_path, directives="#SBATCH --partition=low --no-requeue")
    runner = place.make()
    jobs = submitted(runner, [place.job("sleep 300")])
    until_running(runner, jobs)
    call("sbatch", "--partition=high", "--output=/dev/null", "--wrap=true")
    until_ended(runner, jobs)
    forgetful()
    (status,) = until_ended(runner, jobs)
    assert status.ending is Ending.PREEMPTED
    (jobs[0].folder / "slurm" / "out").unlink()  # without a witness it is not given up
    (status,) = until_ended(runner, jobs)
    assert status.ending is Ending.NODE_FAILURE
    assert "unknown, tried again" in status.detail


def test_a_controller_that_is_down_loses_no_run_and_takes_none(plain, tmp_path, monkeypatch):
    place = make_place(tmp_path)
    runner = place.make()
    jobs = submitted(runner, [place.job("echo x >> starts; sleep 1")])
    until_running(runner, jobs)
    settings = Path(os.environ["SLURM_CONF"])
    deaf = tmp_path / "slurm.conf"
    text = settings.read_text(encoding="utf-8")
    deaf.write_text(re.sub("SlurmctldPort=.*", "SlurmctldPort=1", text), encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setenv("SLURM_CONF", str(deaf))
        patch.setattr(runner, "client", SlurmClient(patience=2.0))  # its own takes nine seconds
        status = runner.poll(jobs)[jobs[0].name]
        assert status.phase is Phase.RUNNING
        assert "does not answer" in status.detail
        new = place.job("exit 0")
        assert runner.submit([new]) == {}
        runner.cancel(jobs)
    assert until_ended(runner, jobs)[0].ending is Ending.COMPLETED
    assert until_ended(runner, submitted(runner, [new]))[0].ending is Ending.COMPLETED


def test_a_template_that_slurm_refuses_is_told_in_slurm_s_words(plain, tmp_path):
    place = make_place(tmp_path, directives="#SBATCH --partition=nowhere")
    with pytest.raises(LawsmithError, match=r"sbatch: got .*invalid partition"):
        place.make().submit([place.job("exit 0")])


def test_a_machine_without_slurm_is_told(tmp_path, monkeypatch):
    place = make_place(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    job = Job("a", tmp_path, {"script": "s", "note": ""}, {})
    with pytest.raises(LawsmithError, match="no squeue on the PATH"):
        place.make().submit([job])
