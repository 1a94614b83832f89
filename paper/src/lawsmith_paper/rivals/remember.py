"""Remembering the last posterior: a policy and a fit of the mixed grid ask for the same one."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lawsmith.grid import Grid
from lawsmith.runs import Runs
from lawsmith.surrogates.base import Posterior, Surrogate


@dataclass(frozen=True)
class Remember:
    """A surrogate that answers at once when asked again about the same runs on the same grid."""

    surrogate: Surrogate
    _memory: list[tuple[Grid, Runs, Posterior]] = field(
        default_factory=list, repr=False, compare=False
    )

    @property
    def name(self) -> str:
        return self.surrogate.name

    def fit(self, grid: Grid, runs: Runs) -> Posterior:
        for known_grid, known_runs, posterior in self._memory:
            if known_grid is grid and _same(known_runs, runs):
                return posterior
        posterior = self.surrogate.fit(grid, runs)
        self._memory[:] = [(grid, runs, posterior)]
        return posterior


def _same(a: Runs, b: Runs) -> bool:
    return (
        np.array_equal(a.index, b.index)
        and np.array_equal(a.loss, b.loss, equal_nan=True)
        and np.array_equal(a.state, b.state)
    )
