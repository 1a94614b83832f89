"""The process that supervises one run of the local or the Ray runner; it outlives the driver.

`launch` starts it as ``python wrapper.py FOLDER LOCK``. It imports nothing of lawsmith. It inherits
the open file LOCK, which is locked, and the run inherits it in turn, so the lock is held while any
process of the run lives. The wrapper starts the command of FOLDER/job.json in a process group of
its own, enforces the time limit, passes on a request to stop, and writes FOLDER/exit.json, renamed
into place: {"code": 0, "why": "exit" | "timeout" | "cancelled" | "start"}. Disk space for that file
is reserved before the run starts, so that it can be written even if the disk fills up.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import FrameType

_STOP = False
ROOM = 2048  # bytes of each of our files, padded with blanks; the longest text has about 600


def launch(
    program: list[str],
    folder: str,
    lock: int,
    job: Mapping[str, object],
    *,
    env: Mapping[str, str],
    first: Callable[[], None] | None = None,
) -> subprocess.Popen[bytes]:
    """Start this program for a run, in a session of its own.

    program   arguments of Python: the path of this file, or -c and its text
    job       command, timeout and grace, for job.json; not env, whose secrets belong on no disk
    first     called in the new process before it becomes this program
    """
    put(os.path.join(folder, "job.json"), job)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(os.path.join(folder, "log.txt"), flags, 0o666), "ab") as log:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", *program, folder, str(lock)],
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(lock,),
            start_new_session=True,
            preexec_fn=first,
        )


def put(path: str, values: Mapping[str, object]) -> None:
    """Write a JSON file, renamed into place; a link at that place is not followed."""
    with suppress(FileNotFoundError):
        os.unlink(path + ".new")
    with open(path + ".new", "x", encoding="utf-8") as file:
        json.dump(values, file)
    os.replace(path + ".new", path)


def main(folder: str, lock: int) -> None:
    """Run the command of ``folder`` to its end."""
    os.chdir(folder)
    signal.signal(signal.SIGTERM, _on_term)
    with open("job.json", encoding="utf-8") as file:
        job = json.load(file)
    try:
        for name in ("pid.json", "exit.json"):
            _reserve(name)
    except OSError as error:
        print(f"lawsmith: no room for the exit code: {error.strerror or error}", flush=True)
        return  # without an exit.json, the run counts as never begun
    try:
        child = subprocess.Popen(job["command"], pass_fds=(lock,), process_group=0)
    except OSError as error:
        _leave(127, "start", f"{job['command'][0][:500]}: {error.strerror or error}")
        return
    for ignored in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    _write("pid.json", {"wrapper": os.getpid(), "command": child.pid})
    code, why = _wait(child, job["timeout"], job["grace"])
    _leave(code, why, "")


def _wait(child: subprocess.Popen[bytes], timeout: float, grace: float) -> tuple[int, str]:
    """(exit code as in a shell, why it ended); a timeout of 0 is no time limit."""
    deadline = time.monotonic() + timeout if timeout else float("inf")
    pause = 0.002
    while child.poll() is None:
        if _STOP or time.monotonic() > deadline:
            why = "cancelled" if _STOP else "timeout"
            return _stop(child, grace), why
        # Short runs are noticed at once, and waiting for long ones costs little.
        time.sleep(pause)
        pause = min(pause * 1.3, 0.25)
    return _code_of(child), "exit"


def _stop(child: subprocess.Popen[bytes], grace: float) -> int:
    """Ask every process that the command started to end, then kill what is left."""
    everything = _family(child.pid)
    _send(everything, signal.SIGTERM)
    deadline = time.monotonic() + grace
    while time.monotonic() < deadline:
        if child.poll() is not None and not any(map(_alive, everything)):
            return _code_of(child)
        time.sleep(0.02)
    _send(everything | _family(child.pid), signal.SIGKILL)
    return _code_of(child)


def _family(child: int) -> set[int]:
    """Process ids of the command, its group and, with /proc, descendants that left the group."""
    members = {child}
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return members
    parents = {pid: _parent_and_group(pid) for pid in pids}
    members |= {pid for pid, (_, group) in parents.items() if group == child}
    while True:
        more = {pid for pid, (parent, _) in parents.items() if parent in members} - members
        if not more:
            return members
        members |= more


def _parent_and_group(pid: int) -> tuple[int, int]:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name in brackets may contain anything, also blanks and brackets.
            fields = file.read().rpartition(b")")[2].split()
        return int(fields[1]), int(fields[2])
    except (OSError, ValueError, IndexError):
        return 0, 0


def _alive(pid: int) -> bool:
    """Whether a process still runs; a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (OSError, IndexError):
        pass
    if os.path.isdir("/proc/self"):
        return False
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _send(pids: set[int], number: signal.Signals) -> None:
    """Send a signal to each process and, because /proc may be missing, to the groups they lead."""
    for pid in pids:
        for kill in (os.killpg, os.kill):
            try:
                if kill is os.kill or os.getpgid(pid) == pid:
                    kill(pid, number)
            except OSError:
                pass  # the process is gone


def _code_of(child: subprocess.Popen[bytes]) -> int:
    """The exit code; 128 + the signal if one ended it."""
    code = child.wait()
    return code if code >= 0 else 128 - code


def _leave(code: int, why: str, detail: str) -> None:
    """Write exit.json, as a whole or not at all."""
    _write("exit.json", {"code": code, "why": why, "detail": detail})


def _reserve(name: str) -> None:
    """Reserve disk space for the file ``name``; a link at that place is not followed."""
    with suppress(FileNotFoundError):
        os.unlink(name + ".new")
    with open(name + ".new", "xb") as file:
        file.write(b" " * ROOM)
        file.flush()
        os.fsync(file.fileno())


def _write(name: str, values: dict[str, object]) -> None:
    """Write a file into its reserved space and rename it into place.

    Tried again while the disk is full, because some file systems never write in place.
    """
    text = json.dumps(values).encode()[:ROOM].ljust(ROOM)
    for pause in (0.1, 1.0, 5.0, 30.0, 60.0, 300.0):
        try:
            if not os.path.exists(name + ".new"):
                _reserve(name)
            descriptor = os.open(name + ".new", os.O_WRONLY | os.O_NOFOLLOW)
            with os.fdopen(descriptor, "wb") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name + ".new", name)
            return
        except OSError:
            time.sleep(pause)


def _on_term(_number: int, _frame: FrameType | None) -> None:
    global _STOP
    _STOP = True


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
