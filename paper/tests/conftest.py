"""Fixtures for tests of lawsmith-paper: those of lawsmith's tests, with the paper's catalogue."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lawsmith.datasets import Study
from lawsmith_paper.cli import main
from lawsmith_paper.studies import CATALOGUE
from tests.browser.conftest import browser as browser
from tests.browser.conftest import tab as tab
from tests.charts.conftest import chinchilla as chinchilla
from tests.charts.conftest import chinchilla_task as chinchilla_task
from tests.charts.conftest import compute_law as compute_law
from tests.charts.conftest import compute_task as compute_task
from tests.charts.conftest import make_curves as make_curves
from tests.charts.conftest import make_study as make_study
from tests.cli.conftest import Result, json_of_replay, typed
from tests.cli.conftest import sweep as sweep
from tests.conftest import data_dir as data_dir
from tests.conftest import own_cache as own_cache
from tests.conftest import published_of
from tests.surrogates.conftest import one_thread as one_thread


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
