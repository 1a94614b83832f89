"""The results of jobs on disk: one file a job, a line a step, complete once its last line says so.

A file begins with the job's header, goes on with result lines in order, and ends with
``{"end": …}``. A process that dies leaves a beginning, perhaps with a torn last line; the next one
reads what is whole and goes on from there. A lock on the file keeps a second writer away.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from lawsmith.errors import LawsmithError
from lawsmith_paper.jobs import Job, Json

LOCK_TIMEOUT = 60.0  # seconds; an orphan of a killed process notices within a step of its job
FLUSH_SECONDS = 1.0


@dataclass(frozen=True)
class Kept:
    """What a file holds: whole result lines, and the end if it was reached."""

    lines: list[Json]
    end: Json | None


class Store:
    """A folder of results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = folder / "runs"
        self.runs.mkdir(parents=True, exist_ok=True)

    def path(self, job: Job) -> Path:
        return self.runs / f"{job.key}.jsonl"

    def read(self, job: Job) -> Kept:
        """The whole lines of a job; none where it has not begun."""
        try:
            text = self.path(job).read_text(encoding="utf-8")
        except FileNotFoundError:
            return Kept([], None)
        return _kept(text, job)

    def finished(self, job: Job) -> bool:
        """Whether the job has ended, told by the tail of its file."""
        try:
            with self.path(job).open("rb") as file:
                file.seek(0, os.SEEK_END)
                file.seek(max(0, file.tell() - 400))
                return b'\n{"end": ' in file.read()
        except FileNotFoundError:
            return False

    @contextmanager
    def writer(self, job: Job, block: int) -> Iterator[tuple[Kept, Writer]]:
        """What is kept of a job, in whole blocks of lines, and a writer that goes on after it."""
        with self.path(job).open("a+", encoding="utf-8") as file:
            _lock(file, self.path(job))
            file.seek(0)
            kept = _kept(file.read(), job)
            if kept.end is None:
                kept = Kept(kept.lines[: len(kept.lines) // block * block], None)
                _rewrite(file, job, kept)
            yield kept, Writer(file)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Only one process works on a folder at a time."""
        with (self.folder / ".lock").open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                hint = "wait for it, or choose another --out"
                got = "another benchmark at work in it"
                raise LawsmithError(str(self.folder), got=got, hint=hint) from None
            yield


class Writer:
    """Appends lines, to the disk about once a second and at the end."""

    def __init__(self, file: IO[str]) -> None:
        self._file, self._flushed = file, time.monotonic()

    def line(self, values: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(values, allow_nan=False) + "\n")
        if time.monotonic() - self._flushed > FLUSH_SECONDS:
            self._file.flush()
            self._flushed = time.monotonic()

    def end(self, values: Mapping[str, Any]) -> None:
        self._file.write(json.dumps({"end": dict(values)}, allow_nan=False) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def _kept(text: str, job: Job) -> Kept:
    whole = text.split("\n")[:-1]  # what follows the last newline is torn, or nothing
    if not whole or _parsed(whole[0]) != job.header():
        return Kept([], None)
    lines: list[Json] = []
    for line in whole[1:]:
        values = _parsed(line)
        if values is None:
            break
        if "end" in values:
            return Kept(lines, values["end"])
        lines.append(values)
    return Kept(lines, None)


def _parsed(line: str) -> Json | None:
    try:
        values = json.loads(line)
    except ValueError:
        return None
    return values if isinstance(values, dict) else None


def _rewrite(file: IO[str], job: Job, kept: Kept) -> None:
    """The file cut back to its header and whole lines."""
    file.seek(0)
    file.truncate()
    for values in (job.header(), *kept.lines):
        file.write(json.dumps(values, allow_nan=False) + "\n")
    file.flush()


def _lock(file: IO[str], path: Path) -> None:
    deadline = time.monotonic() + LOCK_TIMEOUT
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError:
            if time.monotonic() > deadline:
                raise LawsmithError(str(path), got="another process writing it") from None
            time.sleep(0.1)
