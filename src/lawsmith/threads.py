"""One thread for linear algebra, so that the number of threads cannot change a digit of a result.

The order in which a product is summed depends on how many threads share it. The matrices here are
small enough that one thread is also the quickest way on a machine that has other work.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from threading import Lock

from threadpoolctl import ThreadpoolController


class _Inside:
    """Blocks under way, in all threads of Python: the limit is one of the whole process."""

    lock = Lock()
    n = 0
    limit: AbstractContextManager[object] | None = None


@contextmanager
def one_thread() -> Iterator[None]:
    """A block in which numpy's and scipy's linear algebra uses one thread.

    The first block that begins sets the limit, and the last that ends lifts it. A page that is
    drawn in one thread does not lift it for an answer that is made in another.
    """
    with _Inside.lock:
        if _Inside.n == 0:
            _Inside.limit = _controller().limit(limits=1)
            _Inside.limit.__enter__()
        _Inside.n += 1
    try:
        yield
    finally:
        with _Inside.lock:
            _Inside.n -= 1
            if _Inside.n == 0 and _Inside.limit is not None:
                _Inside.limit.__exit__(None, None, None)
                _Inside.limit = None


@cache
def _controller() -> ThreadpoolController:
    # Looking for the libraries takes milliseconds, so it is done once, when both are loaded.
    import numpy.linalg  # noqa: F401
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()
