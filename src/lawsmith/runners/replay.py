"""The replay runner: a table of finished runs answers at once, on a clock that is only counted.

For tests and for teaching: a study runs as it would on a cluster, in the order in which its runs
would have ended, and takes no time. A job lasts C / flops_per_second; the clock stands still until
nothing has ended, then goes on to the next end. What a job must be known by lies in its folder.
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
CLOSE = 1e-6  # relative; a table may have rounded its values


class ReplayOptions(Table):
    """The keys of ``[runner]`` with ``kind = "replay"``.

    table             a file of finished runs, or the name of a catalogued study
    columns           which of its columns are N, D, the loss and the axes, as in `lawsmith fit`
    flops_per_second  how fast the counted clock lets a job run
    """

    table: str
    columns: dict[str, str] = Field(default_factory=dict)
    flops_per_second: Positive = 1e15


class ReplayRunner:
    """Answers from a table. ``folder`` is the study's, for a table named by a relative path."""

    name = "replay"

    def __init__(self, options: ReplayOptions, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.now = 0.0

    def submit(self, jobs: Sequence[Job]) -> dict[str, str]:
        """Note when each job begins and ends; one that is noted stays as it is."""
        return {job.name: self._begin(job) for job in jobs}

    def poll(self, jobs: Sequence[Job]) -> dict[str, Status]:
        """Jobs whose end has come; if none has, the clock goes on to the next."""
        notes = {job.name: _read(job) for job in jobs}
        waiting = [note for job in jobs if (note := notes[job.name]) and not _is_over(job, note)]
        if waiting:
            begun = max(note["start"] for note in waiting)
            self.now = max(self.now, begun, min(note["end"] for note in waiting))
        return {job.name: self._status(job, notes[job.name]) for job in jobs}

    def cancel(self, jobs: Sequence[Job]) -> None:
        """Note that each job was called off, unless it ended."""
        for job in jobs:
            note = _read(job)
            if note and not _is_over(job, note):
                _write(job.folder / _STATE, {**note, "cancelled": True})

    def _begin(self, job: Job) -> str:
        note = _read(job)
        if note is None:
            lasts = (as_float(job.values.get("C")) or 0.0) / self.options.flops_per_second
            note = {"start": self.now, "end": self.now + lasts, "cancelled": False}
            _write(job.folder / _STATE, note)
        return f"replay until {note['end']:.6g} s"

    def _status(self, job: Job, note: dict[str, Any] | None) -> Status:
        if note is None:
            return Status(Phase.LOST, detail="no record of it")
        if note["cancelled"]:
            return Status(Phase.ENDED, Ending.CANCELLED)
        if not _is_over(job, note):
            if note["end"] > self.now:
                return Status(Phase.RUNNING)
            row = self._row(job.values)
            if row is None:
                detail = f"{self.options.table} has no run of this configuration"
                return Status(Phase.ENDED, Ending.FAILED, detail, 1)
            loss = float(self._losses[row])
            _write(_answer(job), {"loss": loss if np.isfinite(loss) else None})
        return Status(Phase.ENDED, Ending.COMPLETED, exit_code=0)

    @cached_property
    def _study(self) -> Study:
        path = self.folder / self.options.table
        source: str | Path = path if path.is_file() else self.options.table
        return load(source, ReadOptions(columns=dict(self.options.columns), ignore=("*",)))

    @cached_property
    def _losses(self) -> FloatArray:
        """(m,) mean loss of each of the table's configurations, NaN where it diverged."""
        return self._study.runs.config_loss(len(self._study.grid))

    def _row(self, values: Mapping[str, float | int | str]) -> int | None:
        """The table's row with these values on all of its axes."""
        grid = self._study.grid
        match = np.ones(len(grid), dtype=np.bool_)
        for axis in grid.axes:
            if axis.name not in values:
                want = "one of " + ", ".join(values)
                where = f"runner.table: column {axis.name}"
                raise LawsmithError(where, got="an axis the study does not have", want=want)
            match &= _same(grid.columns[axis.name], values[axis.name])
        found = np.flatnonzero(match)
        return int(found[0]) if len(found) else None


def _same(column: AnyArray, value: float | int | str) -> AnyArray:
    if column.dtype != np.float64:
        return np.equal(column, str(value))
    number = np.nan if isinstance(value, str) else float(value)
    return np.isclose(column, number, rtol=CLOSE, atol=0.0)


def _answer(job: Job) -> Path:
    return Path(job.env["LAWSMITH_RESULT"])


def _is_over(job: Job, note: Mapping[str, Any]) -> bool:
    return bool(note["cancelled"]) or _answer(job).exists()


def _read(job: Job) -> dict[str, Any] | None:
    note = read_json_object(job.folder / _STATE)
    if note is None or not {"start", "end", "cancelled"} <= set(note):
        return None
    return note if None not in (as_float(note["start"]), as_float(note["end"])) else None


def _write(path: Path, values: Mapping[str, Any]) -> None:
    try:
        write_file(path, json.dumps(values))
    except OSError as error:
        want = "a file that can be written"
        raise LawsmithError(str(path), got=reason(error), want=want) from None
