"""Jobs for tests of one runner, and how to wait for what becomes of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lawsmith.runners import Job, Phase, Runner, Status

DEADLINE = 60.0


def make_job(folder: Path, name: str = "s-1-t0001-1", **values: float | int | str) -> Job:
    """A job with its folder; its result goes to result.json there."""
    place = folder / "trials" / name
    place.mkdir(parents=True, exist_ok=True)
    env = {"LAWSMITH_TRIAL": name, "LAWSMITH_RESULT": str(place / "result.json")}
    return Job(name, place, {"N": 1e7, "D": 1e8, "C": 6e15, "lr": 0.003, **values}, env)


def submit(runner: Runner, job: Job) -> Job:
    """The job with the handle it was given."""
    return replace(job, handle=runner.submit([job])[job.name])


def wait_until(runner: Runner, job: Job, wanted: Callable[[Status], bool]) -> Status:
    """The first status that is ``wanted``."""
    deadline = time.monotonic() + DEADLINE
    while True:
        status = runner.poll([job])[job.name]
        if wanted(status):
            return status
        assert time.monotonic() < deadline, f"still {status}"
        time.sleep(0.02)


def ended(status: Status) -> bool:
    return status.phase is Phase.ENDED
