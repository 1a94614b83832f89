"""A browser for the tests of pages, and the pages: of a table, of a replay, and with bad names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lawsmith.analysis import FitOptions, Target
from lawsmith.datasets import ReadLog, ReadOptions, Study
from lawsmith.grid import Grid
from lawsmith.laws.catalogue import LC
from lawsmith.report import (
    Record,
    read_replay,
    replay_source,
    table_source,
    write_report,
)
from lawsmith.runs import Runs

from ..report import sources
from . import chromium
from .chromium import Tab


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for a module's tests; without one they are skipped, or fail where it is required.

    Not for longer: while it is open, no test of this process can run an event loop.
    """
    if chromium.find() is None and os.environ.get("LAWSMITH_REQUIRE_BROWSER") != "1":
        pytest.skip("no chromium and playwright on this machine")
    with chromium.browser() as found:
        yield found


@pytest.fixture
def tab(browser: Any) -> Iterator[Tab]:
    """A new page, 1280 pixels wide."""
    with chromium.tab(browser) as found:
        yield found


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports by name."""
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAWSMITH_CACHE", str(tmp_path_factory.mktemp("cache")))
        replay = sources.replay_folder(folder / "replay")
        found = {
            "table": sources.table(),
            "replay": replay_source(read_replay(replay / "trace.json", ReadOptions()), Record()),
            "attack": attacked(),
        }
        return {name: write_report(one, folder / f"{name}.html") for name, one in found.items()}


def attacked():
    """A study called after a script, with an axis and a value that are scripts too."""
    attack = sources.ATTACK
    N, D, kind = np.meshgrid(1e8 * 2.0 ** np.arange(4), 2e9 * 2.0 ** np.arange(4), [0, 1])
    columns = {"N": N.ravel(), "D": D.ravel(), attack: np.array([attack, "plain"])[kind.ravel()]}
    grid = Grid.from_columns(columns)
    loss = (1.7 + 400 * grid.N**-0.34 + 410 * grid.D**-0.28) * (1 + 0.01 * kind.ravel())
    runs = Runs.from_losses(np.arange(len(grid)), loss)
    nothing = np.zeros(len(grid), bool)
    study = Study(attack, attack, grid, runs, ReadLog(len(grid)), nothing, "LC", notes=(attack,))
    study = replace(study, run_names=(attack,) * len(grid))
    targets = (Target(1e22),)
    source = table_source(study, FitOptions(LC, targets=targets), targets, Record((attack,)))
    return replace(source, record=Record((attack,), {attack: attack}))
