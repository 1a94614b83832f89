"""One source of each kind, made once: they are only read."""

from __future__ import annotations

import pytest

from lawsmith.datasets import ReadOptions
from lawsmith.report import (
    Findings,
    Memory,
    Record,
    find_all,
    live_source,
    read_replay,
    replay_source,
)

from . import sources


@pytest.fixture(autouse=True, scope="module")
def _shared(shared_fits):
    """Many pages are made of the same few studies."""


@pytest.fixture(scope="session")
def table():
    """A report on a table, by a law of N and D."""
    return sources.table()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The folder of a replay."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAWSMITH_CACHE", str(tmp_path_factory.mktemp("cache")))
        return sources.replay_folder(tmp_path_factory.mktemp("replay"))


@pytest.fixture(scope="session")
def replayed(folder):
    """That replay, read back."""
    return read_replay(folder / "trace.json", ReadOptions())


@pytest.fixture(scope="session")
def replay(replayed):
    """A report on it."""
    return replay_source(replayed, Record(("lawsmith replay …",), {"seed": 0}))


@pytest.fixture(scope="session")
def study(tmp_path_factory):
    """A live study of 16 runs, one of which diverged, and one more that failed."""
    made = sources.live_study(tmp_path_factory.mktemp("live"), n_runs=16, diverge=4)
    sources.fail_one(made, f"step 1\n{sources.ATTACK}\nRuntimeError: out of luck\n")
    return made


@pytest.fixture(scope="session")
def live(study):
    """A report on it."""
    ledger = study.read()
    return live_source(study, ledger, find_all(study, ledger, Memory()), Record())


@pytest.fixture(scope="session")
def begun(tmp_path_factory):
    """A report on a live study without a run."""
    made = sources.live_study(tmp_path_factory.mktemp("begun"), n_runs=0)
    return live_source(made, made.read(), Findings(), Record())


@pytest.fixture(params=["table", "replay", "live", "begun"])
def source(request):
    """Each kind in turn."""
    return request.getfixturevalue(request.param)
