"""What a run's folder holds: how it ended (exit.json, see `wrapper`) and its runner's marks."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

from lawsmith.files import check_inside, read_bytes
from lawsmith.numbers import read_json
from lawsmith.runners.base import Ending, Job, Phase, Status

MAX_BYTES = 2**20  # of our own files, which have a few hundred bytes
_STOPS = {"timeout": Ending.TIMEOUT, "cancelled": Ending.CANCELLED}


def read_json_object(path: Path) -> dict[str, Any] | None:
    """The JSON object in a small file; None if there is none."""
    try:
        values = read_json(read_bytes(path, limit=MAX_BYTES))
    except (OSError, ValueError):
        return None
    return values if isinstance(values, dict) else None


def status_from_exit(values: dict[str, Any]) -> Status:
    """The status of a run from the values of its exit.json."""
    code, why = values.get("code"), values.get("why")
    if not isinstance(code, int):
        return Status(Phase.ENDED, Ending.FAILED, "exit.json was not written by lawsmith")
    ending = _STOPS.get(str(why), Ending.COMPLETED if code == 0 else Ending.FAILED)
    detail = (
        "stopped at its time limit" if why == "timeout" else exit_code_text(code) if code else ""
    )
    return Status(Phase.ENDED, ending, str(values.get("detail") or detail), code)


def exit_code_text(code: int) -> str:
    """'exit code 3', or 'killed by SIGKILL' for 137."""
    try:
        return f"killed by {signal.Signals(code - 128).name}"
    except ValueError:
        return f"exit code {code}"


def runner_folder(job: Job, runner: str) -> Path:
    """The runner's own folder inside a run's folder."""
    return job.folder.resolve() / runner


def make_runner_folder(job: Job, runner: str) -> Path:
    """The same, created if need be; a link that leads out of the run's folder is refused."""
    own = runner_folder(job, runner)
    check_inside(own, job.folder)
    own.mkdir(exist_ok=True)
    return own


def leave_mark(job: Job, runner: str, word: str) -> Path:
    """Create an empty file whose existence is the message."""
    path = make_runner_folder(job, runner) / word
    with suppress(FileExistsError):
        path.touch(exist_ok=False)
    return path


def has_mark(job: Job, runner: str, word: str) -> bool:
    """Whether that file exists."""
    return (runner_folder(job, runner) / word).exists()
