"""Grids and surrogates small enough to follow by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lawsmith.grid import Grid
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Posterior


def ladder(computes: Sequence[float], n_lr: int = 1, **options) -> Grid:
    """One row for each compute and learning rate, in the order given; lr = 1, 2, 4, … inner."""
    C = np.repeat(np.asarray(computes, dtype=float), n_lr)
    lr = np.tile(2.0 ** np.arange(n_lr), len(computes))
    return Grid.from_columns({"C": C, "lr": lr}, compute="C", **options)


def box(n_N: int, n_D: int, n_lr: int, **options) -> Grid:
    """Every combination of N = 1, 2, 4, …, D = 10, 20, 40, … and lr = 1, 2, …; lr innermost."""
    N, D, lr = np.meshgrid(
        2.0 ** np.arange(n_N), 10 * 2.0 ** np.arange(n_D), 1.0 + np.arange(n_lr), indexing="ij"
    )
    return Grid.from_columns({"N": N.ravel(), "D": D.ravel(), "lr": lr.ravel()}, **options)


def runs_of(**rows: Sequence[int]) -> Runs:
    """Runs by state, ``runs_of(done=[0, 3], pending=[1])``; a done run's loss is 5 − row/100."""
    runs = Runs.empty()
    for state, index in rows.items():
        loss = 5.0 - np.asarray(index) / 100.0 if state == "done" else np.full(len(index), np.nan)
        runs = runs.append(Runs(np.array(index, int), loss, np.full(len(index), State(state))))
    return runs


@dataclass(frozen=True)
class Told:
    """Answers with the mean and deviation it was told, whatever the runs."""

    mean: Sequence[float]
    sd: Sequence[float] | float = 0.0
    name: str = "told"

    def fit(self, grid: Grid, runs: Runs) -> Posterior:
        sd = np.broadcast_to(np.asarray(self.sd, dtype=float), (len(grid),)).copy()
        mean = np.asarray(self.mean, dtype=float)
        return Posterior(mean, sd, "loss", float(runs.of(State.DONE).loss.min()))


@dataclass(frozen=True)
class Distance:
    """The same mean everywhere; the deviation of a row is its distance to the nearest asked one.

    Every call's runs are kept in ``seen``.
    """

    name: str = "distance"
    seen: list[Runs] = field(default_factory=list)

    def fit(self, grid: Grid, runs: Runs) -> Posterior:
        self.seen.append(runs)
        x = grid.unit()
        gaps = np.linalg.norm(x[:, None, :] - x[runs.index][None, :, :], axis=2)
        loss = runs.of(State.DONE).loss
        return Posterior(np.full(len(grid), loss.mean()), gaps.min(axis=1), "loss", loss.min())
