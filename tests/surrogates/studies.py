"""Small studies for tests of surrogates: grids, their true loss, and runs drawn from them."""

from __future__ import annotations

from itertools import product

import numpy as np

from lawsmith.grid import Grid
from lawsmith.runs import Runs, State


def small_grid(*, unit_of_n: float = 1.0, extra: dict[str, object] | None = None) -> Grid:
    """48 candidates: N × D × lr; ``extra`` adds a constant column by name, as an axis."""
    rows = list(product([1e7, 3e7, 1e8, 4e8], [1e9, 4e9, 2e10], [3e-4, 1e-3, 3e-3, 1e-2]))
    N, D, lr = np.array(rows).T
    more = {name: np.full(len(rows), value) for name, value in (extra or {}).items()}
    return Grid.from_columns({"N": N / unit_of_n, "D": D, "lr": lr, **more})


def large_grid() -> Grid:
    """512 candidates, enough for linear algebra to be shared among threads."""
    axes = np.geomspace(1e7, 1e9, 8), np.geomspace(1e9, 1e11, 8), np.geomspace(1e-4, 1e-2, 8)
    N, D, lr = np.array(list(product(*axes))).T
    return Grid.from_columns({"N": N, "D": D, "lr": lr})


def truth(grid: Grid) -> np.ndarray:
    """(m,) a law in N and D with a bowl in lr."""
    bowl = 0.08 * (np.log10(grid.numbers("lr")) + 2.6) ** 2
    return 1.7 + 400.0 / grid.N**0.34 + 410.0 / grid.D**0.28 + bowl


def done(rows, losses) -> Runs:
    return Runs.from_losses(np.asarray(rows), np.asarray(losses))


def in_state(state: State, rows) -> Runs:
    return Runs(np.asarray(rows), np.full(len(rows), np.nan), np.full(len(rows), state.value))


def observed(grid: Grid, k: int, seed: int = 0) -> Runs:
    """``k`` finished runs on distinct rows, without noise."""
    rows = np.random.default_rng(seed).permutation(len(grid))[:k]
    return done(rows, truth(grid)[rows])
