"""A pool of processes that die with their parent and leave Ctrl-C to it.

Each holds the reading end of a pipe whose other end the parent alone has: when that is closed, by
the parent or by its death, they stop at the next thing they would tell, or soon after regardless.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

from threadpoolctl import threadpool_limits

from lawsmith_paper.jobs import Job

POLL = 0.2  # seconds between looks at the queue
GRACE = 3.0  # seconds in which a process that was called off may end its step

Tell = Callable[[float], None]
Do = Callable[[Job, Tell], None]
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@contextmanager
def pool(
    processes: int, do: Do, jobs: Sequence[Job]
) -> Iterator[tuple[dict[Future[None], Job], Any]]:
    """The jobs under way, in their order, and a queue of (key, share done) of each.

    An exception inside the block, Ctrl-C among them, calls the processes off: jobs not begun are
    dropped, those begun keep their lines.
    """
    # A forked child would inherit locks of this process's threads in whatever state they are.
    context = multiprocessing.get_context("spawn")
    told: Any = context.Queue()
    held, ours = context.Pipe(duplex=False)
    executor = ProcessPoolExecutor(
        processes, mp_context=context, initializer=_begin, initargs=(told, held)
    )
    try:
        with _deaf():
            waiting = {executor.submit(_run, do, job): job for job in jobs}
        yield waiting, told
    except BaseException:
        ours.close()
        executor.shutdown(wait=True, cancel_futures=True)
        raise
    else:
        executor.shutdown()
        ours.close()
    finally:
        held.close()


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes started here are deaf to Ctrl-C from their first moment on."""
    if threading.current_thread() is not threading.main_thread():
        yield  # no signal arrives at this thread, nor may it say so
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _CalledOff(Exception):
    """The parent wants no more, or is no more."""


_told: Any = None
_off = threading.Event()


def _begin(told: Any, held: Connection) -> None:
    """Set up a process."""
    global _told
    _told = told
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(limits=1)
    os.environ.update(dict.fromkeys(_THREADS, "1"))  # for libraries that are loaded later
    threading.Thread(target=_watch, args=(held,), daemon=True).start()


def _watch(held: Connection) -> None:
    """Wait for the other end of the pipe to close, and end this process after a grace."""
    held.poll(None)
    _off.set()
    time.sleep(GRACE)
    os._exit(1)


def _run(do: Do, job: Job) -> None:
    """A job in a process, telling its share now and then."""
    if _off.is_set():  # it was waiting in the queue
        return
    last = 0.0

    def tell(share: float) -> None:
        nonlocal last
        if _off.is_set():
            raise _CalledOff
        if time.monotonic() - last > POLL:
            _told.put((job.key, share))
            last = time.monotonic()

    with suppress(_CalledOff):
        do(job, tell)
