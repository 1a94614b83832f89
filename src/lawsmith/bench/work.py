"""Doing a work list: jobs over processes, one thread of linear algebra each, every line kept.

Ctrl-C, or the death of the parent, ends each process after the step it is at; what was done stays
on disk and is not done again.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from lawsmith.bench.jobs import Job
from lawsmith.bench.kinds import KINDS
from lawsmith.bench.store import Store
from lawsmith.errors import LawsmithError

POLL = 0.2  # seconds between looks at the queue


@dataclass(frozen=True)
class Progress:
    """How far a work list is; weights are expected seconds."""

    n_done: int
    n_jobs: int
    weight_done: float
    weight: float
    seconds: float
    note: str = ""

    @property
    def seconds_left(self) -> float | None:
        """Judged by the pace so far; None before there is one."""
        if self.seconds < 1.0 or self.weight_done <= 0.0:
            return None
        return self.seconds * (self.weight - self.weight_done) / self.weight_done


Listener = Callable[[Progress], None]


@dataclass(frozen=True)
class Failure:
    """A job that raised."""

    job: Job
    error: str


def work(
    folder: Path, jobs: Sequence[Job], *, processes: int, listen: Listener | None = None
) -> list[Failure]:
    """Do what is not done yet; the failures, after everything else was done."""
    store = Store(folder)
    with store.locked():
        left = [job for job in dict.fromkeys(jobs) if not store.finished(job)]
        # Long ones first, so that no core waits for the last of them.
        left.sort(key=lambda job: -job.weight)
        tally = _Tally(left, listen)
        if not left:
            return []
        if processes == 1:
            return _alone(store, left, tally)
        return _side_by_side(store, left, min(processes, len(left)), tally)


class _Tally:
    """What was done of which job, told to the listener."""

    def __init__(self, jobs: Sequence[Job], listen: Listener | None) -> None:
        self.weights = {job.key: job.weight for job in jobs}
        self.shares = dict.fromkeys(self.weights, 0.0)
        self.done: set[str] = set()
        self.listen, self.begin = listen, time.monotonic()
        self.tell("")

    def share(self, key: str, note: str, share: float) -> None:
        self.shares[key] = share
        self.tell(note)

    def finish(self, key: str) -> None:
        self.done.add(key)
        self.share(key, "", 1.0)

    def tell(self, note: str) -> None:
        if self.listen is None:
            return
        done = sum(self.weights[key] * share for key, share in self.shares.items())
        total, seconds = sum(self.weights.values()), time.monotonic() - self.begin
        n, n_done = len(self.weights), len(self.done)
        self.listen(Progress(n_done, n, done, total, seconds, note))


def _alone(store: Store, jobs: Sequence[Job], tally: _Tally) -> list[Failure]:
    failures = []
    with threadpool_limits(limits=1):
        for job in jobs:
            try:
                _do(store, job, partial(tally.share, job.key, _name(job)))
            except LawsmithError as error:
                failures.append(Failure(job, str(error)))
            tally.finish(job.key)
    return failures


def _side_by_side(
    store: Store, jobs: Sequence[Job], processes: int, tally: _Tally
) -> list[Failure]:
    context = multiprocessing.get_context("spawn")
    told: Any = context.Queue()
    stop = context.Event()
    failures: list[Failure] = []
    pool = ProcessPoolExecutor(
        processes, mp_context=context, initializer=_begin, initargs=(told, stop)
    )
    try:
        waiting = {pool.submit(_in_process, store.folder, job): job for job in jobs}
        while waiting:
            _listen(told, tally)
            for future in [future for future in waiting if future.done()]:
                job = waiting.pop(future)
                failure = _outcome(future, job)
                failures += [failure] if failure else []
                tally.finish(job.key)
    except BaseException:
        # Each process ends after its step; jobs not begun are dropped.
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown()
    return failures


def _outcome(future: Future[None], job: Job) -> Failure | None:
    try:
        future.result()
    except LawsmithError as error:
        return Failure(job, str(error))
    except BrokenProcessPool:
        want = "memory enough for the jobs side by side"
        got = "a process killed from outside"
        raise LawsmithError("bench", got=got, want=want, hint="run again to go on") from None
    return None


def _listen(told: Any, tally: _Tally) -> None:
    """Take in what the processes told, for at most a moment."""
    with contextlib.suppress(queue.Empty):
        tally.share(*told.get(timeout=POLL))
        while True:
            tally.share(*told.get_nowait())


class _Stopped(Exception):
    """The work was called off."""


_TOLD: Any = None
_STOP: Any = None


def _begin(told: Any, stop: Any) -> None:
    """Set up a process: the parent alone answers to Ctrl-C."""
    global _TOLD, _STOP
    _TOLD, _STOP = told, stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(limits=1)


def _in_process(folder: Path, job: Job) -> None:
    parent = os.getppid()
    last = time.monotonic()

    def tell(share: float) -> None:
        nonlocal last
        if _STOP.is_set() or os.getppid() != parent:
            raise _Stopped
        if time.monotonic() - last > POLL:
            _TOLD.put((job.key, _name(job), share))
            last = time.monotonic()

    with contextlib.suppress(_Stopped):
        _do(Store(folder), job, tell)


def _do(store: Store, job: Job, tell: Callable[[float], None]) -> None:
    """One job, from where an earlier process left it."""
    kind, settings = KINDS[job.kind], job.settings
    with store.writer(job, kind.block(settings)) as (kept, writer):
        if kept.end is not None:
            return
        begin = time.monotonic()
        n, expected = len(kept.lines), kind.n_lines(settings)
        for values in kind.lines(settings, kept.lines):
            writer.line(values)
            n += 1
            tell(min(n / max(expected, 1), 1.0))
        writer.end({"lines": n, "seconds": round(time.monotonic() - begin, 3)})


def _name(job: Job) -> str:
    known = job.settings
    words = [known.get(name) for name in ("study", "task", "space", "surrogate", "acquisition")]
    return " ".join(str(word) for word in words if word) + f" seed {known.get('seed', 0)}"
