"""The local runner: processes that outlive the driver, limits, stubborn trainers, odd values."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lawsmith.errors import LawsmithError
from lawsmith.runners import Ending, Job, Phase, make_runner
from lawsmith.runners.local import LocalRunner
from tests.runners.contract import UNTIL_GO, until_dead, until_file
from tests.runners.contract import is_alive as alive
from tests.runners.waiting import ended, make_job, submit, wait_until


def local(folder: Path, line: str, **options: object) -> LocalRunner:
    told = {"command": ["/bin/sh", "-c", line], "grace": 0.3, **options}
    runner = make_runner("local", told, folder)
    assert isinstance(runner, LocalRunner)
    return runner


def kill(pid: int) -> None:
    """End a process at once, and wait until it is gone."""
    os.kill(pid, signal.SIGKILL)
    until_dead(pid)


def test_a_run_outlives_the_process_that_started_it(tmp_path: Path):
    script = (
        "import os, signal\n"
        "from pathlib import Path\n"
        "from tests.runners.waiting import make_job\n"
        "from tests.runners.test_local import local\n"
        f"folder = Path({str(tmp_path)!r})\n"
        f"local(folder, {UNTIL_GO + '; echo done > done.txt'!r}).submit([make_job(folder)])\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(__file__).parents[2]
    died = subprocess.run([sys.executable, "-c", script], cwd=root, check=False)
    assert died.returncode == -signal.SIGKILL
    runner, job = local(tmp_path, "true"), make_job(tmp_path)
    assert runner.poll([job])[job.name].phase is Phase.RUNNING
    (job.folder / "go").touch()
    assert wait_until(runner, job, ended).ending is Ending.COMPLETED
    assert (job.folder / "done.txt").exists()


def test_a_terminal_that_interrupts_the_driver_leaves_runs_alone(tmp_path: Path):
    runner = local(tmp_path, "ps -o sid= -p $$ > sid.txt; sleep 0.2")
    job = submit(runner, make_job(tmp_path))
    wait_until(runner, job, ended)
    assert int((job.folder / "sid.txt").read_text()) != os.getsid(0)


def test_a_run_beyond_its_time_limit_is_stopped(tmp_path: Path):
    runner = local(tmp_path, "sleep 300", timeout=0.2)
    status = wait_until(runner, submit(runner, make_job(tmp_path)), ended)
    assert status.ending is Ending.TIMEOUT
    assert "time limit" in status.detail


def test_a_trainer_that_ignores_term_is_killed_with_children_that_left_its_group(tmp_path: Path):
    line = (
        "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$ > child.txt; sleep 300; sleep 300' & "
        "while :; do sleep 0.1; done"
    )
    runner = local(tmp_path, line)
    job = submit(runner, make_job(tmp_path))
    child_file = job.folder / "child.txt"
    until_file(child_file)
    runner.cancel([job])
    assert runner.poll([job])[job.name].ending is Ending.CANCELLED
    child = int(child_file.read_text())
    wait_until(runner, job, lambda _: not alive(child))


def test_a_run_whose_wrapper_is_killed_is_not_started_twice(tmp_path: Path):
    runner = local(tmp_path, f"echo x >> ran.txt; {UNTIL_GO}")
    job = submit(runner, make_job(tmp_path))
    pids_file = job.folder / "pid.json"
    until_file(job.folder / "ran.txt")
    wait_until(runner, job, lambda _: pids_file.exists())
    kill(json.loads(pids_file.read_text())["wrapper"])
    assert runner.poll([job])[job.name].phase is Phase.RUNNING
    runner.submit([job])
    assert (job.folder / "ran.txt").read_text() == "x\n"
    (job.folder / "go").touch()
    assert wait_until(runner, job, lambda s: s.phase is Phase.LOST)


def test_an_orphan_of_a_killed_wrapper_can_still_be_cancelled(tmp_path: Path):
    runner = local(tmp_path, "echo $$ > shell.txt; sleep 300; sleep 300")
    job = submit(runner, make_job(tmp_path))
    pids_file = job.folder / "pid.json"
    until_file(job.folder / "shell.txt")
    wait_until(runner, job, lambda _: pids_file.exists())
    kill(json.loads(pids_file.read_text())["wrapper"])
    runner.cancel([job])
    assert wait_until(runner, job, lambda s: s.phase is not Phase.RUNNING)
    assert not alive(int((job.folder / "shell.txt").read_text()))


def test_a_command_that_does_not_exist_is_failed_with_the_reason(tmp_path: Path):
    runner = make_runner("local", {"command": ["/no/such/trainer"]}, tmp_path)
    status = wait_until(runner, submit(runner, make_job(tmp_path)), ended)
    assert status.ending is Ending.FAILED
    assert "/no/such/trainer: No such file" in status.detail


def test_a_run_killed_by_a_signal_says_which(tmp_path: Path):
    runner = local(tmp_path, "kill -SEGV $$")
    status = wait_until(runner, submit(runner, make_job(tmp_path)), ended)
    assert (status.ending, status.detail) == (Ending.FAILED, "killed by SIGSEGV")


NASTY = [
    *("$(touch hacked)", "`touch hacked`", "; touch hacked;", "' ; touch hacked; '", "a b"),
    *("| touch hacked", "\n touch hacked", "{N}", "{{", "--help", "*", "$HOME", "é\u202e"),
]


@pytest.mark.parametrize("value", NASTY)
def test_a_value_is_one_argument_and_nothing_else(tmp_path: Path, value: str):
    command = [sys.executable, "-c", "import sys; print(repr(sys.argv[1:]))", "{opt}", "x{opt}y"]
    runner = make_runner("local", {"command": command}, tmp_path)
    job = submit(runner, make_job(tmp_path, opt=value))
    wait_until(runner, job, ended)
    assert (job.folder / "log.txt").read_text() == repr([value, f"x{value}y"]) + "\n"
    assert not (job.folder / "hacked").exists()


@pytest.mark.parametrize("value", NASTY[:7])
def test_a_value_that_a_shell_could_read_is_refused_where_a_shell_reads(tmp_path: Path, value: str):
    runner = make_runner("local", {"command": "echo '{opt}'", "shell": True}, tmp_path)
    job = make_job(tmp_path, opt=value)
    with pytest.raises(LawsmithError, match="in a value that a shell will read"):
        runner.submit([job])
    assert not (job.folder / "hacked").exists()


def test_a_shell_is_there_when_asked_for(tmp_path: Path):
    runner = make_runner("local", {"command": "echo {lr} | tr 3 4", "shell": True}, tmp_path)
    job = submit(runner, make_job(tmp_path))
    wait_until(runner, job, ended)
    assert (job.folder / "log.txt").read_text() == "0.004\n"


def test_the_environment_reaches_the_run_and_no_file(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "hunter2")
    runner = local(tmp_path, 'echo "$SECRET_KEY $EXTRA"', env={"EXTRA": "more"})
    job = submit(runner, make_job(tmp_path))
    wait_until(runner, job, ended)
    assert (job.folder / "log.txt").read_text() == "hunter2 more\n"
    others = [path for path in job.folder.iterdir() if path.name != "log.txt"]
    assert all(b"hunter2" not in path.read_bytes() for path in others)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "runner.command: got nothing"),
        ({"command": []}, "runner.command: got []"),
        ({"command": "echo"}, "runner.command: got 'echo', want one line of text with shell"),
        ({"command": ["a"], "shell": True}, "runner.command"),
        ({"command": ["a"], "tiemout": 3}, "runner.tiemout: got an unknown key"),
        ({"command": ["a"], "timeout": "soon"}, "runner.timeout: got 'soon'"),
        ({"command": ["a\0b"]}, "runner.command"),
    ],
)
def test_bad_options_are_told(tmp_path: Path, options: dict[str, object], message: str):
    with pytest.raises(LawsmithError) as caught:
        make_runner("local", options, tmp_path)
    assert message in str(caught.value)


def test_a_placeholder_that_is_no_value_is_told_with_those_there_are(tmp_path: Path):
    runner = make_runner("local", {"command": ["echo", "{lrr}"]}, tmp_path)
    with pytest.raises(LawsmithError, match=r"got \{lrr\}, want one of .*did you mean lr"):
        runner.submit([make_job(tmp_path)])


def test_a_folder_that_is_gone_is_told(tmp_path: Path):
    runner = local(tmp_path, "true")
    job = Job("s-1-t0001-1", tmp_path / "no", {}, {})
    with pytest.raises(LawsmithError, match="No such file"):
        runner.submit([job])


def test_an_exit_file_that_is_not_ours_is_a_failure_and_no_crash(tmp_path: Path):
    runner, job = local(tmp_path, "true"), make_job(tmp_path)
    (job.folder / "exit.json").write_text('{"code": "zero"}')
    assert runner.poll([job])[job.name].ending is Ending.FAILED
    assert wait_until(runner, job, lambda s: s.phase is not Phase.RUNNING)
