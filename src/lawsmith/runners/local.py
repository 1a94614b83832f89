"""The local runner: runs as processes of this machine, which outlive the driver that started them.

An attempt is identified by its folder. Its wrapper (see `wrapper`) holds a lock there while any
process of the run lives, and writes exit.json when it ends. While the lock is held, and once there
is an exit.json, the job is not started again, whenever the driver was killed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from pydantic import Field, model_validator

from lawsmith.errors import LawsmithError
from lawsmith.files import open_file, reason
from lawsmith.runners import wrapper
from lawsmith.runners.base import Job, Phase, Status
from lawsmith.runners.folder import read_json_object, status_from_exit
from lawsmith.runners.template import fill, fill_shell, with_common_values
from lawsmith.spec.models import Seconds
from lawsmith.spec.reading import Table, checking

_TEMPORARY = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)  # the machine is too busy


class LocalOptions(Table):
    """The keys of ``[runner]`` with ``kind = "local"``."""

    command: list[str] | str
    shell: bool = False
    timeout: Seconds = 0.0
    grace: Seconds = 10.0
    env: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    @checking
    def _command_fits_shell(self) -> LocalOptions:
        if isinstance(self.command, str) != self.shell:
            want = "one line of text with shell = true, else a list of arguments"
            raise LawsmithError("command", got=f"{self.command!r}"[:60], want=want)
        if not self.command or "\0" in "".join(self.command):
            raise LawsmithError("command", got=f"{self.command!r}"[:60], want="a command")
        return self


class LocalRunner:
    """Runs one command per job. ``folder`` is the study's, the value of {study} in a command."""

    def __init__(self, options: LocalOptions, folder: Path) -> None:
        self.options, self.folder = options, folder
        self._children: list[subprocess.Popen[bytes]] = []  # kept only to reap them

    def submit(self, jobs: Sequence[Job]) -> dict[str, str]:
        """Start the jobs that have not begun."""
        handles: dict[str, str] = {}
        for job in jobs:
            try:
                handles[job.name] = self._start(job)
            except OSError as error:
                if error.errno not in _TEMPORARY:
                    where, want = str(job.folder), "a folder to start a run in"
                    raise LawsmithError(where, got=reason(error), want=want) from None
        return handles

    def poll(self, jobs: Sequence[Job]) -> dict[str, Status]:
        """Ended if there is an exit.json, running while the lock is held, else lost."""
        self._reap()
        return {job.name: _status(job) for job in jobs}

    def cancel(self, jobs: Sequence[Job]) -> None:
        """Ask each wrapper to stop its run, then wait for all: they end within the grace period."""
        self._reap()  # a killed wrapper that is not reaped would still accept a signal
        for job in jobs:
            if _status(job).phase is Phase.RUNNING:
                _stop(job)
        deadline = time.monotonic() + self.options.grace + 5.0
        while time.monotonic() < deadline:
            if all(_status(job).phase is not Phase.RUNNING for job in jobs):
                return
            time.sleep(0.02)

    def _reap(self) -> None:
        self._children = [child for child in self._children if child.poll() is None]

    def preview(self, values: Mapping[str, float | int | str]) -> list[str]:
        """The arguments of a run with these values."""
        known = with_common_values(values, self.folder)
        where = "runner.command"
        if isinstance(self.options.command, str):
            return ["/bin/sh", "-c", fill_shell(self.options.command, known, where=where)]
        return [fill(text, known, where=where) for text in self.options.command]

    def _start(self, job: Job) -> str:
        with _lock(job.folder) as lock:
            if lock is None or (job.folder / "exit.json").exists():
                return "local"
            options, command = self.options, self.preview(job.values)
            values = {"command": command, "timeout": options.timeout, "grace": options.grace}
            env = {**options.env, **job.env}
            child = wrapper.launch([wrapper.__file__], str(job.folder), lock, values, env=env)
        self._children.append(child)
        return "local"


def _status(job: Job) -> Status:
    ended = read_json_object(job.folder / "exit.json")
    if ended is None and _alive(job.folder):
        return Status(Phase.RUNNING)
    # Read again: the run may have ended after the first look.
    ended = ended or read_json_object(job.folder / "exit.json")
    if ended is None:
        return Status(Phase.LOST, detail="no process and no exit code")
    return status_from_exit(ended)


@contextmanager
def _lock(folder: Path) -> Iterator[int | None]:
    """A descriptor that holds the folder's lock; None if another process holds it."""
    with open_file(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW) as file:
        yield file.fileno() if _try_lock(file, fcntl.LOCK_EX) else None


def _alive(folder: Path) -> bool:
    try:
        with open_file(folder / "lock") as file:
            return not _try_lock(file, fcntl.LOCK_SH)
    except OSError:
        return False  # it never began


def _try_lock(file: IO[bytes], how: int) -> bool:
    """Take the lock if it is free; whether it was."""
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _stop(job: Job) -> None:
    """Send TERM to the wrapper, which ends the run; if only the run is left, KILL its group."""
    pids = _wait_for_pids(job.folder)
    with suppress(OSError):
        os.kill(int(pids["wrapper"]), signal.SIGTERM)
        return
    with suppress(OSError):
        os.killpg(int(pids["command"]), signal.SIGKILL)


def _wait_for_pids(folder: Path) -> dict[str, Any]:
    """The process ids, which a wrapper writes as soon as its run begins."""
    for _ in range(250):
        pids = read_json_object(folder / "pid.json")
        if pids is not None and {"wrapper", "command"} <= set(pids):
            return pids
        if not _alive(folder):
            break
        time.sleep(0.02)
    return {"wrapper": 2**31 - 1, "command": 2**31 - 1}  # no process has these ids
