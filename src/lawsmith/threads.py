"""One thread for linear algebra, so that the number of threads cannot change a digit of a result.

The order in which a product is summed depends on how many threads share it. The matrices here are
small enough that one thread is also the quickest way on a machine that has other work.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[object]:
    """A block in which numpy's and scipy's linear algebra uses one thread."""
    limited: AbstractContextManager[object] = _controller().limit(limits=1)
    return limited


@cache
def _controller() -> ThreadpoolController:
    # Looking for the libraries takes milliseconds, so it is done once, when both are loaded.
    import numpy.linalg  # noqa: F401
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()
