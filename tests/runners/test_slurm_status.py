"""What Slurm and a run's folder say, read as phases and endings; no cluster needed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lawsmith.runners.base import Ending, Job, Phase, Status
from lawsmith.runners.slurm.client import JobEntry, SlurmClient, SlurmUnavailable
from lawsmith.runners.slurm.runner import batch_name
from lawsmith.runners.slurm.status import (
    entries_by_name,
    entry_of,
    parse_state,
    read_intent,
    read_owner,
    status_from_folder,
    status_of,
    status_unknown,
)


@pytest.mark.parametrize(
    ("text", "phase", "ending"),
    [
        ("PENDING", Phase.QUEUED, None),
        ("CONFIGURING", Phase.QUEUED, None),
        ("REQUEUED", Phase.QUEUED, None),
        ("REQUEUE_HOLD", Phase.QUEUED, None),
        ("RUNNING", Phase.RUNNING, None),
        ("SUSPENDED", Phase.RUNNING, None),
        ("COMPLETING", Phase.RUNNING, None),
        ("A_STATE_OF_A_NEWER_SLURM", Phase.RUNNING, None),
        ("", Phase.RUNNING, None),
        ("COMPLETED", Phase.ENDED, Ending.COMPLETED),
        ("FAILED", Phase.ENDED, Ending.FAILED),
        ("CANCELLED by 1000", Phase.ENDED, Ending.CANCELLED),
        ("CANCELLED+", Phase.ENDED, Ending.CANCELLED),
        ("TIMEOUT", Phase.ENDED, Ending.TIMEOUT),
        ("DEADLINE", Phase.ENDED, Ending.TIMEOUT),
        ("PREEMPTED", Phase.ENDED, Ending.PREEMPTED),
        ("NODE_FAIL", Phase.ENDED, Ending.NODE_FAILURE),
        ("BOOT_FAIL", Phase.ENDED, Ending.NODE_FAILURE),
        ("OUT_OF_MEMORY", Phase.ENDED, Ending.OUT_OF_MEMORY),
    ],
)
def test_every_state_of_slurm_has_a_meaning(text, phase, ending):
    assert parse_state(text) == (phase, ending)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    (tmp_path / "slurm").mkdir()
    return Job("study-t0001-1", tmp_path, {}, {}, handle="12")


def leave(job: Job, **files: str) -> None:
    for name, text in files.items():
        (job.folder / "slurm" / name).write_text(text, encoding="utf-8")


def test_a_job_of_another_name_under_the_same_id_is_not_this_one(job):
    shown = entries_by_name([JobEntry("12", "somebody-else", "FAILED")])
    assert entry_of(shown, job) is None
    shown = entries_by_name(
        [JobEntry("12", "somebody-else", "FAILED"), JobEntry("12", job.name, "COMPLETED")]
    )
    assert entry_of(shown, job) == JobEntry("12", job.name, "COMPLETED")


def test_a_task_is_known_by_the_name_of_its_array_and_its_index(job):
    leave(job, intent=json.dumps({"name": "batch", "task": 3, "output": ""}))
    shown = entries_by_name([JobEntry(f"40_{k}", "batch", "RUNNING") for k in range(5)])
    assert entry_of(shown, replace(job, handle="")) == JobEntry("40_3", "batch", "RUNNING")


def test_a_task_that_is_missing_from_an_array_that_is_shown_was_cancelled_before_it_began(job):
    leave(job, intent=json.dumps({"name": "batch", "task": 3, "output": ""}))
    others = entries_by_name(
        [JobEntry("40_1", "batch", "RUNNING"), JobEntry("41_3", "other", "RUNNING")]
    )
    seen = entry_of(others, job)
    assert seen is not None
    assert (seen.id, status_of(job, seen).ending) == ("40_3", Ending.CANCELLED)
    leave(job, owner="40_3\n")  # but not if it began: then it has merely been forgotten
    assert entry_of(others, job) is None


def test_the_job_that_began_tells_not_its_twin(job):
    twins = entries_by_name(
        [JobEntry("12", job.name, "COMPLETED"), JobEntry("13", job.name, "RUNNING")]
    )
    assert entry_of(twins, job) == JobEntry("12", job.name, "COMPLETED")
    leave(job, owner="13\n")
    assert entry_of(twins, job) == JobEntry("13", job.name, "RUNNING")
    assert entry_of(entries_by_name([JobEntry("12", job.name, "COMPLETED")]), job) is None


def test_without_a_trace_a_job_is_lost_and_with_one_it_is_not(job):
    assert status_from_folder(job).phase is Phase.LOST
    leave(job, owner="12\n")
    assert (status_from_folder(job).phase, status_from_folder(job).ending) == (
        Phase.ENDED,
        Ending.FAILED,
    )
    for text, ending, code in [
        ("12 0 no", Ending.COMPLETED, 0),
        ("12 3 no", Ending.FAILED, 3),
        ("12 143 TERM 0", Ending.NODE_FAILURE, 143),  # by whom is on no record: tried again
        ("12 0 TERM", Ending.COMPLETED, 0),
    ]:
        leave(job, exit=text)
        status = status_from_folder(job)
        assert (status.phase, status.ending, status.exit_code) == (Phase.ENDED, ending, code)


@pytest.mark.parametrize(
    ("said", "ending"),
    [
        (" DUE TO PREEMPTION", Ending.PREEMPTED),
        (" DUE TO TIME LIMIT", Ending.TIMEOUT),
        (" DUE TO NODE FAILURE", Ending.NODE_FAILURE),
        (" DUE TO A REASON OF A NEWER SLURM", Ending.NODE_FAILURE),
        ("", Ending.CANCELLED),
    ],
)
@pytest.mark.parametrize("exit_", ["12 143 TERM 0", "12 143 no 0", None])
def test_of_a_forgotten_job_slurm_s_own_output_tells_why_it_was_stopped(
    job, tmp_path, said, ending, exit_
):
    output = tmp_path / "out"
    leave(job, owner="12\n", intent=json.dumps({"name": "x", "task": None, "output": str(output)}))
    if exit_ is not None:
        leave(job, exit=exit_)
    line = f"slurmstepd: error: *** JOB 12 ON main CANCELLED AT 2026-01-01T00:00:00{said} ***\n"
    output.write_text("bash: a line of the shell\n" + line)
    status = status_from_folder(job)
    assert (status.phase, status.ending) == (Phase.ENDED, ending)


def test_a_forgotten_job_that_we_cancelled_is_cancelled(job):
    leave(job, owner="12\n", exit="12 143 TERM 0", cancel="")
    assert status_from_folder(job).ending is Ending.CANCELLED


def test_a_start_that_slurm_refused_after_a_requeue_has_not_the_exit_code_of_the_one_before(job):
    leave(job, owner="12\n", exit="12 7 no 0")
    failed = JobEntry("12", job.name, "FAILED")
    assert status_of(job, failed, restarts=0).exit_code == 7
    refused = status_of(job, failed, restarts=1)
    assert (refused.ending, refused.exit_code) == (Ending.NODE_FAILURE, None)
    assert "start number 2 never began" in refused.detail
    leave(job, exit="12 9 no 1")
    assert status_of(job, failed, restarts=1).exit_code == 9


def test_slurm_s_own_output_tells_of_memory(job, tmp_path):
    output = tmp_path / "out"
    leave(job, intent=json.dumps({"name": job.name, "task": None, "output": str(output)}))
    failed = JobEntry("12", job.name, "FAILED", exit_code=137)
    output.write_text("error: Detected 1 oom-kill event(s) in StepId=12.batch\n")
    assert status_of(job, failed).ending is Ending.OUT_OF_MEMORY
    output.write_text("slurmstepd: error: Exceeded job memory limit\n")
    assert status_of(job, failed).ending is Ending.OUT_OF_MEMORY
    output.write_text("step memory is fine\n")
    status = status_of(job, failed)
    assert status.ending is Ending.FAILED
    assert status.detail == "Slurm job 12: FAILED, killed by SIGKILL"


def test_a_slurm_that_does_not_answer_leaves_a_job_where_it_was(job):
    detail = "Slurm does not answer: away"
    assert status_unknown(job, "away") == Status(Phase.QUEUED, detail=detail)
    leave(job, owner="12\n")
    assert status_unknown(job, "away") == Status(Phase.RUNNING, detail=detail)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": 1}', "[" * 100_000, "\0", "null"])
def test_files_that_are_not_ours_are_no_word(job, text):
    leave(job, intent=text, owner=text, exit=text)
    assert read_intent(job) is None
    assert read_owner(job) == ""
    assert status_from_folder(job).phase is Phase.LOST


def test_an_array_s_name_is_the_same_for_the_same_jobs_and_fits_slurm(job):
    jobs = [replace(job, name=f"study-{k}") for k in range(3)]
    assert batch_name(jobs[:1]) == "study-0"
    assert batch_name(jobs) == batch_name(list(jobs)) != batch_name(jobs[:2])
    assert batch_name(jobs).replace(".", "").replace("-", "").isalnum()


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Commands of Slurm that print and exit as told."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()

    def put(name: str, out: str = "", err: str = "", code: int = 0) -> None:
        path = tmp_path / "bin" / name
        (tmp_path / f"{name}.out").write_text(out)
        (tmp_path / f"{name}.err").write_text(err)
        cat = "/bin/cat" if Path("/bin/cat").exists() else "/usr/bin/cat"
        files = f"{cat} {tmp_path}/{name}.out; {cat} {tmp_path}/{name}.err >&2"
        path.write_text(f"#!/bin/sh\n{files}; exit {code}\n")
        path.chmod(0o755)

    return put


def test_what_squeue_and_sacct_print_is_read_whatever_other_jobs_are_called(fake):
    fake("squeue", "7|PENDING|Priority|a\n8_1|RUNNING|None|odd|name|x\nslurm notice\n")
    assert SlurmClient().queue() == [
        JobEntry("7", "a", "PENDING", "Priority"),
        JobEntry("8_1", "x", "RUNNING", "None|odd|name"),
    ]
    fake("sacct", "7|FAILED|3:0|a\n9|CANCELLED by 0|0:15|b|c\n8_[1-3,7%2]|PENDING|0:0|d\n")
    failed, cancelled, *waiting = SlurmClient().accounting(ids=["7"]) or []
    assert (failed.exit_code, cancelled.exit_code, cancelled.name) == (3, 143, "b|c")
    assert [seen.id for seen in waiting] == ["8_1", "8_2", "8_3", "8_7"]


def test_accounting_that_is_off_is_no_error_and_one_that_is_down_is(fake):
    fake("sacct", err="Slurm accounting storage is disabled\n", code=1)
    assert SlurmClient().accounting(ids=["1"]) is None
    fake("sacct", err="sacct: error: Problem talking to the database\n", code=1)
    with pytest.raises(SlurmUnavailable, match="Problem talking"):
        SlurmClient().accounting(names=["a"])


@pytest.mark.parametrize(
    "text",
    [
        "Unable to contact slurm controller (connect failure)",
        "Socket timed out on send/recv operation",
        "Slurm temporarily unable to accept job, sleeping and retrying",
        "error: AssocMaxSubmitJobLimit\nerror: Batch job submission failed: Job violates "
        "accounting/QOS policy (job submit limit, user's size and/or time limits)",
    ],
)
def test_a_refusal_that_may_pass_is_told_apart(fake, text):
    fake("sbatch", err=f"sbatch: {text}\n", code=1)
    with pytest.raises(SlurmUnavailable):
        SlurmClient().submit("#!/bin/sh\n", [])


def test_the_variables_of_an_allocation_are_not_handed_on(fake, monkeypatch, tmp_path):
    fake("squeue")
    path = tmp_path / "bin" / "squeue"
    path.write_text('#!/bin/sh\necho "1|$SLURM_JOB_ID|$SLURM_CONF|name"\n')
    monkeypatch.setenv("SLURM_JOB_ID", "77")
    monkeypatch.setenv("SLURM_CONF", "/conf")
    assert SlurmClient().queue() == [JobEntry("1", "name", "", "/conf")]
