"""`benchmarks/live.py` still does what it says, on a few runs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "live.py"


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_live", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_a_study_of_a_thousand_candidates_is_played(live: ModuleType, tmp_path: Path):
    study = live.make_study(tmp_path)
    assert len(study.grid) == 1000
    assert len(live.play(study, 12)) == 12
    assert study.read().counts()["finished"] == 12


def test_a_journal_is_filled_with_as_many_events_as_asked(live: ModuleType, tmp_path: Path):
    study = live.make_study(tmp_path)
    live.fill(study, 400)
    assert study.read().n_events == 401
    assert study.read().counts()["finished"] == 20
