"""The replay runner: the results come from a table of finished runs, on a simulated clock.

For tests and demonstrations: a study runs as it would on a cluster, in the order in which its runs
would have ended, and takes no time. A job lasts C / flops_per_second. When no job has ended, the
clock jumps to the next end. The start and end of each job are kept in its folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from lawsmith.datasets import ReadOptions, Study, load
from lawsmith.errors import LawsmithError
from lawsmith.files import reason, write_file
from lawsmith.grid import AnyArray, FloatArray
from lawsmith.numbers import as_float
from lawsmith.runners.base import Ending, Job, Phase, Status
from lawsmith.runners.folder import read_json_object
from lawsmith.spec.models import Positive
from lawsmith.spec.reading import Table

_STATE = "replay.json"
TOLERANCE = 1e-6  # relative; a table may have rounded its values


class ReplayOptions(Table):
    """The keys of ``[runner]`` with ``kind = "replay"``.

    table             a file of finished runs, or the name of a catalogued study
    columns           which of its columns are N, D, the loss and the axes, as in `lawsmith fit`
    flops_per_second  speed of a job on the simulated clock
    """

    table: str
    columns: dict[str, str] = Field(default_factory=dict)
    flops_per_second: Positive = 1e15


class ReplayRunner:
    """Takes losses from a table; its path may be relative to ``folder``, the study's."""

    def __init__(self, options: ReplayOptions, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.now = 0.0

    def submit(self, jobs: Sequence[Job]) -> dict[str, str]:
        """Record when each job begins and ends; a job on record stays as it is."""
        return {job.name: self._begin(job) for job in jobs}

    def poll(self, jobs: Sequence[Job]) -> dict[str, Status]:
        """The status of each job; if none has ended, the clock moves to the next end."""
        times = {job.name: _read_times(job) for job in jobs}
        running = [known for job in jobs if (known := times[job.name]) and not _is_over(job, known)]
        if running:
            begun = max(known["start"] for known in running)
            self.now = max(self.now, begun, min(known["end"] for known in running))
        return {job.name: self._status(job, times[job.name]) for job in jobs}

    def cancel(self, jobs: Sequence[Job]) -> None:
        """Record that each job was cancelled, unless it has ended."""
        for job in jobs:
            times = _read_times(job)
            if times and not _is_over(job, times):
                _write(job.folder / _STATE, {**times, "cancelled": True})

    def _begin(self, job: Job) -> str:
        times = _read_times(job)
        if times is None:
            seconds = (as_float(job.values.get("C")) or 0.0) / self.options.flops_per_second
            times = {"start": self.now, "end": self.now + seconds, "cancelled": False}
            _write(job.folder / _STATE, times)
        return f"replay until {times['end']:.6g} s"

    def _status(self, job: Job, times: dict[str, Any] | None) -> Status:
        if times is None:
            return Status(Phase.LOST, detail="no record of it")
        if times["cancelled"]:
            return Status(Phase.ENDED, Ending.CANCELLED)
        if not _is_over(job, times):
            if times["end"] > self.now:
                return Status(Phase.RUNNING)
            row = self._row(job.values)
            if row is None:
                detail = f"{self.options.table} has no run of this configuration"
                return Status(Phase.ENDED, Ending.FAILED, detail, 1)
            loss = float(self._losses[row])
            _write(_result_file(job), {"loss": loss if np.isfinite(loss) else None})
        return Status(Phase.ENDED, Ending.COMPLETED, exit_code=0)

    @cached_property
    def _study(self) -> Study:
        path = self.folder / self.options.table
        source: str | Path = path if path.is_file() else self.options.table
        return load(source, ReadOptions(columns=dict(self.options.columns), ignore=("*",)))

    @cached_property
    def _losses(self) -> FloatArray:
        """(m,) mean loss of each configuration of the table, NaN where it diverged."""
        return self._study.runs.config_loss(len(self._study.grid))

    def _row(self, values: Mapping[str, float | int | str]) -> int | None:
        """The row of the table that has these values on every axis."""
        grid = self._study.grid
        match = np.ones(len(grid), dtype=np.bool_)
        for axis in grid.axes:
            if axis.name not in values:
                want = "one of " + ", ".join(values)
                where = f"runner.table: column {axis.name}"
                raise LawsmithError(where, got="an axis the study does not have", want=want)
            match &= _same(grid.columns[axis.name], values[axis.name])
        rows = np.flatnonzero(match)
        return int(rows[0]) if len(rows) else None


def _same(column: AnyArray, value: float | int | str) -> AnyArray:
    if column.dtype != np.float64:
        return np.equal(column, str(value))
    number = np.nan if isinstance(value, str) else float(value)
    return np.isclose(column, number, rtol=TOLERANCE, atol=0.0)


def _result_file(job: Job) -> Path:
    return Path(job.env["LAWSMITH_RESULT"])


def _is_over(job: Job, times: Mapping[str, Any]) -> bool:
    return bool(times["cancelled"]) or _result_file(job).exists()


def _read_times(job: Job) -> dict[str, Any] | None:
    """Start and end of a job in seconds, and whether it was cancelled."""
    times = read_json_object(job.folder / _STATE)
    if times is None or not {"start", "end", "cancelled"} <= set(times):
        return None
    return times if None not in (as_float(times["start"]), as_float(times["end"])) else None


def _write(path: Path, values: Mapping[str, Any]) -> None:
    try:
        write_file(path, json.dumps(values))
    except OSError as error:
        want = "a file that can be written"
        raise LawsmithError(str(path), got=reason(error), want=want) from None
