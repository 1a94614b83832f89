"""One thread for linear algebra: what one thread of Python ends does not end for another."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from lawsmith.threads import one_thread


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    """Outside the blocks, where all tests have one."""
    with threadpool_limits(limits=2):
        yield


def counts() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_a_block_inside_another_thread_s_block_does_not_lift_its_limit():
    before, inside, leave = counts(), threading.Event(), threading.Event()

    def other() -> None:
        with one_thread():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait()
    with one_thread():
        leave.set()
        thread.join()  # it began first and ends first
        assert counts() == {1}
    assert counts() == before == {2}


def test_the_limit_is_lifted_after_an_error():
    before = counts()
    try:
        with one_thread(), one_thread():
            raise ValueError
    except ValueError:
        assert counts() == before
