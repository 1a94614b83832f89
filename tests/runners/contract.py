"""What every runner that starts processes owes to a study, as checks to be inherited.

A test class gives a fixture ``place``; a run is a shell script, so that all places run the same.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lawsmith.runners.base import Ending, Job, Phase, Runner, Status

PATIENCE = 90.0  # seconds, before a test says that nothing happens
UNTIL_GO = "while [ ! -e go ]; do sleep 0.05; done"  # a run that ends when the test says so


@dataclass
class Place:
    """A runner under test, and how to make it again in another process.

    spec   kind and options, for `make_runner`
    """

    spec: dict[str, Any]
    folder: Path
    make: Callable[[], Runner]
    tag: str = field(default_factory=lambda: f"test-{os.urandom(4).hex()}")

    def job(self, script: str, **values: float | int | str) -> Job:
        """A run of a shell script; its folder is made."""
        n = len(list(self.folder.glob("run *")))
        folder = self.folder / f"run {n} of 100% 'odd' names"
        folder.mkdir()
        (folder / "script").write_text(script, encoding="utf-8")
        env = {"LAWSMITH_RESULT": str(folder / "result.json"), "LAWSMITH_TRIAL": f"t{n}"}
        known = {"script": str(folder / "script"), "note": "-", **values}
        return Job(f"{self.tag}-{n}", folder, known, env)


def submitted(runner: Runner, jobs: Sequence[Job]) -> list[Job]:
    """The jobs with their handles, once all were taken."""
    handles: dict[str, str] = {}
    deadline = time.monotonic() + PATIENCE
    while len(handles) < len(jobs):
        assert time.monotonic() < deadline, "the runner takes no jobs"
        handles |= runner.submit(jobs)
    return [dataclasses.replace(job, handle=handles[job.name]) for job in jobs]


def until(
    runner: Runner,
    jobs: Sequence[Job],
    done: Callable[[Status], bool],
    what: str,
    *,
    pause: float = 0.2,
) -> list[Status]:
    """The statuses, once ``done`` is true of each; ``pause`` in seconds between two looks."""
    deadline = time.monotonic() + PATIENCE
    while True:
        found = runner.poll(jobs)
        statuses = [found[job.name] for job in jobs]
        if all(map(done, statuses)):
            return statuses
        assert time.monotonic() < deadline, f"never {what}: {statuses}"
        time.sleep(pause)


def until_ended(runner: Runner, jobs: Sequence[Job]) -> list[Status]:
    return until(runner, jobs, lambda s: s.phase in (Phase.ENDED, Phase.LOST), "ended")


def until_running(runner: Runner, jobs: Sequence[Job]) -> list[Status]:
    return until(runner, jobs, lambda s: s.phase is Phase.RUNNING, "running")


def until_file(path: Path) -> str:
    deadline = time.monotonic() + PATIENCE
    while not (path.exists() and path.read_text(encoding="utf-8").endswith("\n")):
        assert time.monotonic() < deadline, f"no {path}"
        time.sleep(0.05)
    return path.read_text(encoding="utf-8")


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that waits to be reaped does not."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[0] not in "ZX"


def until_dead(pid: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while is_alive(pid):
        assert time.monotonic() < deadline, f"process {pid} lives on"
        time.sleep(0.1)


class RunnerContract:
    """The checks."""

    def test_a_run_has_its_folder_its_variables_and_its_log(self, place):
        runner = place.make()
        script = 'pwd; echo "$LAWSMITH_TRIAL" > "$LAWSMITH_RESULT"; echo word >&2'
        jobs = submitted(runner, [place.job(script)])
        (status,) = until_ended(runner, jobs)
        assert (status.phase, status.ending) == (Phase.ENDED, Ending.COMPLETED)
        assert status.exit_code == 0
        log = (jobs[0].folder / "log.txt").read_text(encoding="utf-8").splitlines()
        assert {str(jobs[0].folder.resolve()), "word"} <= set(log)
        assert (jobs[0].folder / "result.json").read_text() == "t0\n"

    def test_runs_submitted_together_end_each_in_its_own_way(self, place):
        runner = place.make()
        jobs = submitted(runner, [place.job(f"echo {k} > mark; exit {k}") for k in range(4)])
        statuses = until_ended(runner, jobs)
        assert [status.exit_code for status in statuses] == [0, 1, 2, 3]
        assert [status.ending for status in statuses] == [Ending.COMPLETED] + 3 * [Ending.FAILED]
        assert [(job.folder / "mark").read_text() for job in jobs] == ["0\n", "1\n", "2\n", "3\n"]

    def test_a_run_submitted_again_is_not_started_again(self, place):
        runner, job = place.make(), place.job(f"echo x >> starts; {UNTIL_GO}")
        first = submitted(runner, [job])
        again = submitted(place.make(), [job])  # while it waits or runs, its handle forgotten
        assert again[0].handle == first[0].handle
        (job.folder / "go").touch()
        until_ended(runner, first)
        submitted(place.make(), [job])  # and when it is over
        until_ended(runner, first)
        assert (job.folder / "starts").read_text() == "x\n"

    def test_a_run_outlives_a_driver_that_is_killed_before_it_could_note_the_handle(self, place):
        jobs = [place.job(f"echo x >> starts; {UNTIL_GO}; exit 5") for _ in range(2)]
        kill_a_driver_after_submit(place, jobs)
        runner = place.make()
        found = submitted(runner, jobs)
        for job in jobs:
            (job.folder / "go").touch()
        assert [status.exit_code for status in until_ended(runner, found)] == [5, 5]
        assert [(job.folder / "starts").read_text() for job in jobs] == ["x\n", "x\n"]

    def test_a_cancelled_run_ends_with_all_its_processes(self, place):
        runner = place.make()
        jobs = submitted(runner, [place.job("sleep 300 & echo $! $$ > pids; wait")])
        pids = [int(word) for word in until_file(jobs[0].folder / "pids").split()]
        runner.cancel(jobs)
        (status,) = until_ended(runner, jobs)
        assert status.ending is Ending.CANCELLED
        for pid in pids:
            until_dead(pid)
        runner.cancel(jobs)
        assert runner.poll(jobs)[jobs[0].name].ending is Ending.CANCELLED

    def test_cancelling_what_ended_changes_nothing(self, place):
        runner = place.make()
        jobs = submitted(runner, [place.job("exit 0")])
        until_ended(runner, jobs)
        runner.cancel(jobs)
        assert runner.poll(jobs)[jobs[0].name].ending is Ending.COMPLETED

    def test_a_run_that_was_never_submitted_is_lost(self, place):
        runner, job = place.make(), place.job("exit 0")
        assert runner.poll([job])[job.name].phase is Phase.LOST
        assert runner.poll([]) == {}

    def test_values_arrive_as_they_are_and_nothing_in_them_is_run(self, place):
        note = "$(touch pwned) `touch pwned` '; touch pwned; \" & | > pwned # \\ *"
        runner = place.make()
        jobs = submitted(runner, [place.job('printf "%s\\n" "$1" > note', note=note)])
        assert until_ended(runner, jobs)[0].ending is Ending.COMPLETED
        assert (jobs[0].folder / "note").read_text(encoding="utf-8") == note + "\n"
        assert not (jobs[0].folder / "pwned").exists()


_DRIVER = """
import json, os, signal, sys
from pathlib import Path
from lawsmith.runners.base import Job
from lawsmith.runners import make_runner

told = json.load(sys.stdin)
runner = make_runner(told["kind"], told["options"], Path(told["folder"]))
jobs = [Job(n, Path(f), values, env) for n, f, values, env in told["jobs"]]
runner.submit(jobs)
os.kill(os.getpid(), signal.SIGKILL)
"""


def kill_a_driver_after_submit(place: Place, jobs: Sequence[Job]) -> None:
    """Another process submits the jobs and is killed before it can note anything."""
    told = [[job.name, str(job.folder), dict(job.values), dict(job.env)] for job in jobs]
    spec = {**place.spec, "folder": str(place.folder), "jobs": told}
    command = [sys.executable, "-c", _DRIVER]
    done = subprocess.run(command, input=json.dumps(spec), text=True, check=False)
    assert done.returncode == -9
