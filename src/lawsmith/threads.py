"""One thread for linear algebra, so that the number of threads cannot change a digit of a result.

The order in which a product is summed depends on how many threads share it. The matrices here are
small enough that one thread is also the quickest way on a machine that has other work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


class _Inside:
    """Blocks under way, in all threads of Python: the limit is one of the whole process.

    before   threads of each library when the first of them began
    """

    lock = Lock()
    n = 0
    before: tuple[int, ...] = ()


@contextmanager
def one_thread() -> Iterator[None]:
    """A block in which numpy's and scipy's linear algebra uses one thread.

    The first block that begins sets the limit, and the last that ends lifts it. A page that is
    drawn in one thread does not lift it for an answer that is made in another.
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
        # Since threadpoolctl 3.8 a limit that is set in any thread but the first one that ever set
        # one is ignored, silently. The blocks here agree on one limit, so all threads may set it.
        getattr(library, "_real_set_num_threads", library.set_num_threads)(n)


@cache
def _libraries() -> tuple[Any, ...]:
    # Looking for the libraries takes milliseconds, so it is done once, when both are loaded.
    import numpy.linalg  # noqa: F401
    import scipy.linalg  # noqa: F401

    return tuple(ThreadpoolController().lib_controllers)
