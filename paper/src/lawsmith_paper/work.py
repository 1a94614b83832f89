"""Doing a work list: jobs over processes, one thread of linear algebra each, every line kept.

Ctrl-C, or the death of the parent, ends each process after the step it is at, or a little later in
the middle of it; what was done stays on disk and is not done again.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from lawsmith.errors import LawsmithError
from lawsmith_paper.jobs import Job
from lawsmith_paper.kinds import KINDS
from lawsmith_paper.pool import POLL, Tell, pool
from lawsmith_paper.store import Store


@dataclass(frozen=True)
class Progress:
    """How far a work list is; weights are expected seconds, those of work done earlier included.

    seconds_left   judged by the pace so far; None before there is one
    running        what is being done
    """

    n_done: int
    n_jobs: int
    weight_done: float
    weight: float
    seconds: float
    seconds_left: float | None = None
    running: tuple[str, ...] = ()


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
        every = list(dict.fromkeys(jobs))
        left = [job for job in every if not store.finished(job)]
        timed = [j for j in left if KINDS[j.kind].alone]
        # Long ones first, so that no core waits for the last of them.
        others = sorted((j for j in left if not KINDS[j.kind].alone), key=lambda j: -j.weight)
        tally = _Tally(every, left, processes, listen)
        if processes == 1:
            return _here(store, [*others, *timed], tally)
        failures = _side_by_side(store, others, processes, tally)
        return failures + _side_by_side(store, timed, 1, tally)


def seconds_expected(jobs: Sequence[Job], processes: int) -> float:
    """Of the clock, roughly: jobs side by side share them."""
    return sum(_clock_weights(jobs, processes).values())


def _clock_weights(jobs: Sequence[Job], processes: int) -> dict[str, float]:
    return {j.key: j.weight / (1 if KINDS[j.kind].alone else processes) for j in jobs}


class _Tally:
    """What was done of which job, told to the listener."""

    def __init__(
        self, jobs: Sequence[Job], left: Sequence[Job], processes: int, listen: Listener | None
    ) -> None:
        self.weights = _clock_weights(jobs, processes)
        self.names = {job.key: describe(job) for job in left}
        self.shares = {job.key: 0.0 if job.key in self.names else 1.0 for job in jobs}
        self.done = set(self.weights) - set(self.names)
        self.given = sum(self.weights[key] for key in self.done)
        self.running: dict[str, str] = {}
        self.listen, self.begin, self.told = listen, time.monotonic(), 0.0
        self.tell()

    def share(self, key: str, share: float) -> None:
        """A job is at ``share``; the first time, that is what an earlier process left."""
        if key in self.done:  # told before its end, heard after it
            return
        if key not in self.running:
            self.given += self.weights[key] * share
            self.running[key] = self.names[key]
        self.shares[key] = share
        if time.monotonic() - self.told > POLL:  # a job in this process tells of every line
            self.tell()

    def finish(self, key: str) -> None:
        self.done.add(key)
        self.running.pop(key, None)
        self.shares[key] = 1.0
        self.tell()

    def tell(self) -> None:
        if self.listen is None:
            return
        self.told = time.monotonic()
        total = sum(self.weights.values())
        done = sum(self.weights[key] * share for key, share in self.shares.items())
        seconds, new = self.told - self.begin, done - self.given
        left = seconds * (total - done) / new if seconds >= 1.0 and new > 0.0 else None
        counts = len(self.done), len(self.weights)
        self.listen(Progress(*counts, done, total, seconds, left, tuple(self.running.values())))


def describe(job: Job) -> str:
    """'oellm-english window gp lcb seed 3'."""
    known = job.settings
    words = [known.get(n) for n in ("study", "task", "event", "space", "surrogate", "acquisition")]
    return " ".join(str(word) for word in words if word) + f" seed {known.get('seed', 0)}"


def _here(store: Store, jobs: Sequence[Job], tally: _Tally) -> list[Failure]:
    """One job after another in this process."""
    failures = []
    with threadpool_limits(limits=1):
        for job in jobs:
            try:
                do(store, job, partial(tally.share, job.key))
            except Exception as error:
                failures.append(Failure(job, _reason(error)))
            tally.finish(job.key)
    return failures


def _side_by_side(
    store: Store, jobs: Sequence[Job], processes: int, tally: _Tally
) -> list[Failure]:
    failures: list[Failure] = []
    if not jobs:
        return failures
    with pool(min(processes, len(jobs)), partial(_do_in, store.folder), jobs) as (waiting, told):
        while waiting:
            _listen(told, tally)
            for future in [future for future in waiting if future.done()]:
                job = waiting.pop(future)
                failure = _outcome(future, job)
                failures += [failure] if failure else []
                tally.finish(job.key)
    return failures


def _do_in(folder: Path, job: Job, tell: Tell) -> None:
    do(Store(folder), job, tell)


def _outcome(future: Future[None], job: Job) -> Failure | None:
    try:
        future.result()
    except BrokenProcessPool:
        want = "memory enough for the jobs side by side"
        got = "a process killed from outside"
        raise LawsmithError("bench", got=got, want=want, hint="run again to go on") from None
    except Exception as error:
        return Failure(job, _reason(error))
    return None


def _reason(error: Exception) -> str:
    """One line; what is no error of ours is told with its type, for it may be a mistake of ours."""
    told = str(error) if isinstance(error, LawsmithError) else f"{type(error).__name__}: {error}"
    return " ".join(told.split())


def _listen(told: Any, tally: _Tally) -> None:
    """Take in what the processes told, for at most a moment."""
    with suppress(queue.Empty):
        tally.share(*told.get(timeout=POLL))
        while True:
            tally.share(*told.get_nowait())


def do(store: Store, job: Job, tell: Tell) -> None:
    """One job, from where an earlier process left it; ``tell`` hears what share is done."""
    kind, settings = KINDS[job.kind], job.settings
    with store.writer(job, kind.block(settings)) as (kept, writer):
        if kept.end is not None:
            return
        begin = time.monotonic()
        n, expected = len(kept.lines), max(kind.n_lines(settings), 1)
        tell(min(n / expected, 1.0))
        for values in kind.lines(settings, kept.lines):
            writer.line(values)
            n += 1
            tell(min(n / expected, 1.0))
        writer.end({"lines": n, "seconds": round(time.monotonic() - begin, 3)})
