"""One thread for linear algebra, so that the number of threads cannot change a digit of a result.

The order of summation in a matrix product depends on the number of threads. The matrices here are
so small that one thread is also fastest on a busy machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


class _Inside:
    """The number of open blocks in all Python threads: the limit holds for the whole process.

    before   threads of each library before the first block
    """

    lock = Lock()
    n = 0
    before: tuple[int, ...] = ()


@contextmanager
def one_thread() -> Iterator[None]:
    """A block in which numpy's and scipy's linear algebra uses one thread.

    The first block sets the limit and the last one lifts it: a page drawn in one Python thread does
    not lift it for an answer computed in another.
    """
    with _Inside.lock:
        if _Inside.n == 0:
            _Inside.before = tuple(library.num_threads for library in _libraries())
            _set([1] * len(_Inside.before))
        _Inside.n += 1
    try:
        yield
    finally:
        with _Inside.lock:
            _Inside.n -= 1
            if _Inside.n == 0:
                _set(_Inside.before)


def _set(counts: Sequence[int]) -> None:
    for library, n in zip(_libraries(), counts, strict=True):
        # Since threadpoolctl 3.8, only the first thread that ever set a limit can set one; others
        # are silently ignored. All blocks here set the same limit, so every thread may set it.
        getattr(library, "_real_set_num_threads", library.set_num_threads)(n)


@cache
def _libraries() -> tuple[Any, ...]:
    # Finding the libraries takes milliseconds, so it is done once, after both are loaded.
    import numpy.linalg  # noqa: F401
    import scipy.linalg  # noqa: F401

    return tuple(ThreadpoolController().lib_controllers)
