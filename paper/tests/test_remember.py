"""Remembering a posterior: once for the same runs, anew for others."""

from __future__ import annotations

import numpy as np

from lawsmith.grid import Grid
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Posterior
from lawsmith_paper.rivals.remember import Remember


class Counting:
    name = "counting"

    def __init__(self):
        self.n_fits = 0

    def fit(self, grid, runs):
        self.n_fits += 1
        return Posterior(np.full(len(grid), float(len(runs))), np.ones(len(grid)), "loss", 0.0)


def test_the_same_runs_are_fitted_once_and_others_anew():
    grid = Grid.from_columns({"C": [1.0, 2.0, 3.0]}, compute="C")
    inner = Counting()
    surrogate = Remember(inner)
    runs = Runs.from_losses([0, 1], [3.0, np.nan])
    first = surrogate.fit(grid, runs)
    assert surrogate.fit(grid, Runs.from_losses([0, 1], [3.0, np.nan])) is first
    assert (inner.n_fits, surrogate.name) == (1, "counting")
    for other in (
        Runs.from_losses([0, 1], [3.1, np.nan]),
        Runs.from_losses([0, 2], [3.0, np.nan]),
        Runs(np.array([0, 1]), np.array([3.0, np.nan]), np.array([State.DONE, State.PENDING])),
        Runs.from_losses([0, 1, 2], [3.0, np.nan, 2.0]),
    ):
        assert surrogate.fit(grid, other).mean[0] == len(other)
    assert inner.n_fits == 5
    twin = Grid.from_columns({"C": [1.0, 2.0, 3.0]}, compute="C")
    surrogate.fit(twin, Runs.from_losses([0, 1, 2], [3.0, np.nan, 2.0]))
    assert inner.n_fits == 6
