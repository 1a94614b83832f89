"""What became of a run on Ray: from the files in its folder and from what Ray says of its actor."""

from __future__ import annotations

import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from lawsmith.files import check_inside, read_bytes
from lawsmith.numbers import read_json
from lawsmith.runners.base import Ending, Job, Phase, Status

MAX_BYTES = 2**20
_STOPS = {"timeout": Ending.TIMEOUT, "cancelled": Ending.CANCELLED}


def began(job: Job) -> bool:
    """Whether an actor started the run."""
    return (job.folder / "ray" / "began").exists()


def was_cancelled(job: Job) -> bool:
    """Whether this runner was told to cancel the run."""
    return (job.folder / "ray" / "cancel").exists()


def note(job: Job, what: str) -> Path:
    """A file that says something by being there."""
    path = job.folder / "ray" / what
    check_inside(path.parent, job.folder)
    path.parent.mkdir(exist_ok=True)
    with suppress(FileExistsError):
        path.touch(exist_ok=False)
    return path


def gone_for(job: Job) -> float:
    """Seconds since it was first seen that the actor is gone and has left no word."""
    return time.time() - note(job, "gone").stat().st_mtime


def read_exit(job: Job) -> dict[str, Any] | None:
    """What the wrapper left."""
    try:
        values = read_json(read_bytes(job.folder / "exit.json", limit=MAX_BYTES))
    except (OSError, ValueError):
        return None
    return values if isinstance(values, dict) and isinstance(values.get("code"), int) else None


def ended_by_itself(job: Job, values: dict[str, Any]) -> Status | None:
    """The status of a run whose wrapper told; None if it was stopped from outside."""
    code, why = values["code"], str(values.get("why"))
    if why == "cancelled" and not was_cancelled(job):
        return None  # its worker died: Ray knows why
    if code == 137 and why == "exit" and (job.folder / "ray" / "oom").exists():
        return Status(Phase.ENDED, Ending.OUT_OF_MEMORY, "killed by the kernel for memory", code)
    ending = _STOPS.get(why, Ending.COMPLETED if code == 0 else Ending.FAILED)
    return Status(Phase.ENDED, ending, _detail(values), code)


def ended_by_ray(job: Job, cause: str) -> Status:
    """The status of a run whose actor is gone, from Ray's word for the reason; '' if it has none.

    A cause is the name of Ray's field for it: oom_context, or NODE_DIED, WORKER_DIED, RAY_KILL.
    """
    if was_cancelled(job) or cause == "RAY_KILL":
        return Status(Phase.ENDED, Ending.CANCELLED, "its actor was killed")
    if cause == "oom_context":
        return Status(
            Phase.ENDED, Ending.OUT_OF_MEMORY, "Ray ended it: its node had no memory left"
        )
    if began(job):
        detail = "its node died" if cause == "NODE_DIED" else "its Ray worker died"
        return Status(Phase.ENDED, Ending.NODE_FAILURE, detail)
    if cause == "creation_task_failure_context":
        return Status(Phase.ENDED, Ending.FAILED, "its actor could not start")
    return Status(Phase.LOST, detail="Ray knows no such actor")


def _detail(values: dict[str, Any]) -> str:
    code, why = values["code"], values.get("why")
    if values.get("detail"):
        return str(values["detail"])
    if why == "timeout":
        return "stopped at its time limit"
    if code > 128:
        with suppress(ValueError):
            return f"killed by {signal.Signals(code - 128).name}"
    return f"exit code {code}" if code else ""
