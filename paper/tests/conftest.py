"""Fixtures for tests of lawsmith-paper: those of lawsmith's tests, with the paper's catalogue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lawsmith.datasets import Study
from lawsmith.grid import Grid
from lawsmith.replay import Task
from lawsmith_paper.cli import main
from lawsmith_paper.curves import Curves
from lawsmith_paper.studies import CATALOGUE
from tests.browser.conftest import browser as browser
from tests.browser.conftest import tab as tab
from tests.charts.conftest import chinchilla as chinchilla
from tests.charts.conftest import chinchilla_task as chinchilla_task
from tests.charts.conftest import compute_law as compute_law
from tests.charts.conftest import compute_task as compute_task
from tests.charts.conftest import make_study as make_study
from tests.cli.conftest import Result, json_of_replay, typed
from tests.cli.conftest import sweep as sweep
from tests.conftest import caches as caches
from tests.conftest import data_dir as data_dir
from tests.conftest import one_thread as one_thread
from tests.conftest import own_cache as own_cache
from tests.conftest import published_of


@pytest.fixture
def published(data_dir: Path) -> Callable[..., Study]:
    """``published(name, options)`` loads a study of the paper's catalogue or skips the test."""
    return published_of(CATALOGUE, data_dir)


@pytest.fixture
def lawsmith_paper(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """``lawsmith_paper("run", "main", …)`` as typed in a terminal 80 columns wide."""
    return typed(main, capsys, monkeypatch)


@pytest.fixture
def replay_json(lawsmith_paper: Callable[..., Result]) -> Callable[..., Any]:
    """The JSON of ``lawsmith-paper replay …``, which must succeed and say nothing else."""
    return json_of_replay(lawsmith_paper)


MakeCurves = Callable[..., Curves]


@pytest.fixture
def make_curves() -> MakeCurves:
    """``make_curves(task, spent, fantasized, observed)``: a replay whose spends are as told.

    The values are distances of the law from the reference in every searched parameter, None for
    no law; envelope shares follow the spend. The pool is made to measure: a run for each spend,
    and one more that is never run.
    """

    def make(
        task: Task,
        spent: Sequence[float],
        fantasized: Sequence[float | None],
        observed: Sequence[float | None] | None = None,
        *,
        policy: str = "window",
        seed: int = 0,
    ) -> Curves:
        found = {"fantasized": fantasized, "observed": observed or fantasized}
        shares = np.append(spent, 1.0)
        N = np.arange(1.0, len(shares) + 1)
        C = np.maximum(np.diff(shares, prepend=0.0), 1e-15) * 1e20
        phi = task.reference.validation.phi
        none = np.full(len(phi), np.nan)
        laws = {k: [none if v is None else phi + v for v in vs] for k, vs in found.items()}
        envelope = {"observed": [share / 2 for share in spent]}
        pairs = zip(spent, fantasized, strict=True)
        envelope["fantasized"] = [np.nan if v is None else share for share, v in pairs]
        return Curves(
            task=replace(task, pool=Grid.from_columns({"N": N, "D": C / (6 * N)})),
            policy=policy,
            seed=seed,
            settings={},
            rows=np.arange(len(spent)),
            window=np.full(len(spent), np.nan),
            laws={k: np.array(v).reshape(len(spent), len(phi)) for k, v in laws.items()},
            n_points={k: np.array([0 if v is None else 5 for v in vs]) for k, vs in found.items()},
            envelope={k: np.array(v) for k, v in envelope.items()},
        )

    return make
