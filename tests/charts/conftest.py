"""Small studies with analyses to draw: exact laws, hand-made grids, the synthetic demo."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from lawsmith.analysis import Analysis, FitOptions, Target, analyse
from lawsmith.datasets import ReadLog, Study, demo_study
from lawsmith.grid import Grid, HeldOut
from lawsmith.laws.catalogue import CHINCHILLA, LC
from lawsmith.runs import Runs

TRUTH = {"E": 1.7, "A": 400.0, "alpha": 0.34, "B": 410.0, "beta": 0.28}

MakeStudy = Callable[..., Study]


@pytest.fixture
def make_study() -> MakeStudy:
    """``make_study(columns, loss, name=…)``: one run per row; a NaN loss is a diverged run."""

    def make(columns: Mapping[str, object], loss: object, *, name: str = "small") -> Study:
        grid = Grid.from_columns(columns)
        runs = Runs.from_losses(np.arange(len(grid)), loss)
        log = ReadLog(len(grid))
        return Study(name, name, grid, runs, log, np.zeros(len(grid), bool), None)

    return make


def grid_columns() -> dict[str, np.ndarray]:
    """5 sizes × 5 token counts, two-fold apart, so that isoFLOP levels are exact."""
    N, D = np.meshgrid(1e8 * 2.0 ** np.arange(5), 2e9 * 2.0 ** np.arange(5))
    return {"N": N.ravel(), "D": D.ravel()}


def wiggle(n: int) -> np.ndarray:
    """Small deterministic deviations, so that intervals are not of zero width."""
    return 1 + 1e-3 * np.sin(7.0 * np.arange(n))


@pytest.fixture
def chinchilla(make_study: MakeStudy) -> Analysis:
    """A law of N and D on 25 runs, the largest N held out, one target."""
    columns = grid_columns()
    loss = CHINCHILLA.predict(TRUTH, columns) * wiggle(25)
    options = FitOptions(CHINCHILLA, HeldOut.largest("N"), (Target(1e23),))
    return analyse(make_study(columns, loss), options)


@pytest.fixture
def compute_law(make_study: MakeStudy) -> Analysis:
    """L(C) on 25 runs, the upper half of compute held out, no target."""
    columns = grid_columns()
    loss = CHINCHILLA.predict(TRUTH, columns) * wiggle(25)
    return analyse(make_study(columns, loss), FitOptions(LC, HeldOut.by_compute(0.5)))


@pytest.fixture(scope="session")
def demo() -> Analysis:
    """The synthetic study: hyperparameters, replicates, diverged runs."""
    options = FitOptions(CHINCHILLA, HeldOut.largest("N"), (Target(1e22), Target(1e23)))
    return analyse(demo_study(), options)


@pytest.fixture(scope="session")
def demo_compute() -> Analysis:
    """The synthetic study under L(C)."""
    return analyse(demo_study(), FitOptions(LC, HeldOut.by_compute(0.5), (Target(1e23),)))
