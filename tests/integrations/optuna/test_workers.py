"""Eight workers, processes of their own, share one Optuna study in a real PostgreSQL."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.conftest import extra

optuna, psycopg = extra("optuna"), extra("psycopg")
optuna.logging.set_verbosity(optuna.logging.ERROR)

from lawsmith.integrations.optuna.trials import CLAIM  # noqa: E402
from tests.integrations.optuna import worker  # noqa: E402


@dataclass(frozen=True)
class Shared:
    """A study in a server."""

    storage: str
    name: str

    def start(self, budget: float, *more: str) -> subprocess.Popen[bytes]:
        """A worker."""
        words = [self.storage, self.name, str(budget), *more]
        command = [sys.executable, "-m", worker.__name__, *words]
        return subprocess.Popen(command, stderr=subprocess.DEVNULL)

    def trials(self) -> list[optuna.trial.FrozenTrial]:
        return optuna.load_study(study_name=self.name, storage=self.storage).trials


@pytest.fixture
def shared() -> Iterator[Shared]:
    """An empty study in a database of its own; where there is no server the test is skipped.

    Where LAWSMITH_REQUIRE_POSTGRES is 1, as in .ci/run, absence is a failure instead.
    """
    told = os.environ.get("LAWSMITH_POSTGRES")
    if not told:
        reason = "LAWSMITH_POSTGRES is not set: no PostgreSQL (tests/daemons/postgres starts one)"
        if os.environ.get("LAWSMITH_REQUIRE_POSTGRES") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    base, name = told.rpartition("/")[0], f"test_{os.urandom(4).hex()}"
    with psycopg.connect(told.replace("+psycopg", ""), autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        optuna.create_study(study_name="shared", storage=f"{base}/{name}")
        yield Shared(f"{base}/{name}", "shared")
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_eight_workers_on_postgresql_run_every_candidate_once_and_lose_no_result(shared):
    lost = shared.start(math.inf, "dies")  # one takes a row along: it stays pending
    assert lost.wait() == 9
    workers = [shared.start(math.inf) for _ in range(8)]
    assert [process.wait() for process in workers] == 8 * [0]
    trials = shared.trials()
    claimed = [trial for trial in trials if trial.system_attrs.get(CLAIM)]
    rows = [trial.system_attrs[CLAIM]["row"] for trial in claimed]
    assert sorted(rows) == list(range(len(worker.make_grid())))
    assert [trial.number for trial in claimed if trial.state.name != "COMPLETE"] == [0]
    for trial in claimed[1:]:
        told = worker.loss(trial.params)
        assert trial.value == pytest.approx(math.inf if math.isnan(told) else told)
    # Those that found nothing left said so and took nothing.
    assert len(trials) - len(claimed) <= 8


def test_workers_on_postgresql_keep_the_budget_together(shared):
    grid = worker.make_grid()
    budget = 0.15 * float(grid.C.sum())
    workers = [shared.start(budget) for _ in range(4)]
    assert [process.wait() for process in workers] == 4 * [0]
    trials = shared.trials()
    rows = [t.system_attrs[CLAIM]["row"] for t in trials if t.system_attrs.get(CLAIM)]
    assert len(rows) == len(set(rows))
    assert 0.9 * budget < grid.C[rows].sum() <= budget * (1 + 1e-9)
