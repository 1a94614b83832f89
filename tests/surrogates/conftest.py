"""Fixtures for tests of surrogates."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="package")
def one_thread() -> Iterator[None]:
    """One thread for linear algebra: the matrices are small, and test processes share the cores."""
    with threadpool_limits(limits=1):
        yield
