"""Fixtures for every test: no cache of the user's is touched, published tables may be absent."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from importlib import import_module
from itertools import count
from pathlib import Path
from types import ModuleType

import pytest
from threadpoolctl import threadpool_limits

from lawsmith.cli.views import Drawn
from lawsmith.datasets import ENTRIES, Entry, ReadOptions, Study, entry, load
from lawsmith.surface import PUBLIC, Prior, Surface
from lawsmith.surface.data import Observed
from lawsmith.surface.fit import fit_observed

# Started in the background of a shell, or with nohup, tests would inherit that such signals are
# ignored, and so would every process and script they start to send one to.
for _number, _usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """One thread for linear algebra, here and in processes that tests start.

    Tests run in several processes side by side, whose threads would wait for each other.
    """
    with threadpool_limits(limits=1), pytest.MonkeyPatch.context() as patch:
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            patch.setenv(name, "1")
        yield


@pytest.fixture(scope="session")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders that are not there yet.

    `mktemp` lists all folders of the session to find the next number: seconds, over thousands of
    tests.
    """
    parent = tmp_path_factory.mktemp("caches")
    return (parent / str(i) for i in count())


@pytest.fixture(autouse=True)
def own_cache(caches: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder, so that no test reads or writes the user's."""
    cache = next(caches)
    cache.mkdir()
    monkeypatch.setenv("LAWSMITH_CACHE", str(cache))
    return cache


@pytest.fixture
def data_dir() -> Path:
    """The folder of published tables, $LAWSMITH_DATA; the test is skipped without it."""
    told = os.environ.get("LAWSMITH_DATA")
    if not told:
        pytest.skip("LAWSMITH_DATA is not set: no published tables")
    return Path(told)


@pytest.fixture
def published(data_dir: Path) -> Callable[..., Study]:
    """``published(name, options)`` loads a catalogued study or skips the test; no download."""
    return published_of(ENTRIES, data_dir)


def published_of(entries: Mapping[str, Entry], data_dir: Path) -> Callable[..., Study]:
    """What loads a study of the catalogue ``entries``, or skips the test."""

    def load_or_skip(name: str, options: ReadOptions | None = None) -> Study:
        known = entry(name, entries)
        for source in known.sources:
            path = data_dir / known.folder / source.file
            if not path.is_file():
                pytest.skip(f"LAWSMITH_DATA has no {known.folder}/{source.file}")
        return load(name, options, entries=entries)

    return load_or_skip


_FITTED: dict[bytes, Surface] = {}


@pytest.fixture(scope="module")
def shared_fits() -> Iterator[None]:
    """A surface of the same runs is fitted once for all tests that ask for this.

    For tests of what is said of a fit; those of the fit itself must not ask.
    """

    def fitted(data: Observed, prior: Prior = PUBLIC) -> Surface:
        key = sha256(pickle.dumps((data, prior))).digest()
        if key not in _FITTED:
            _FITTED[key] = fit_observed(data, prior)
        return _FITTED[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("lawsmith.surface.fit"), "fit_observed", fitted)
        yield


@contextmanager
def no_charts() -> Iterator[None]:
    """A block in which `replay --out` draws no charts, for what reads its other files only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lawsmith.cli.replay.draw_replay", lambda folder, done: Drawn())
        yield


@pytest.fixture
def without_charts() -> Iterator[None]:
    with no_charts():
        yield


def extra(package: str) -> ModuleType:
    """The package of an extra; without it the test, or the module that asks, is skipped.

    Where LAWSMITH_REQUIRE_EXTRAS is 1, as `make test-all` has it, absence is a failure instead.
    """
    if os.environ.get("LAWSMITH_REQUIRE_EXTRAS") == "1":
        return import_module(package)
    return pytest.importorskip(package)
