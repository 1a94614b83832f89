"""Synthetic studies of known truth: runs drawn from a SyntheticSurface at the rows of a Design.

Bowls are zero at their centres and the best levels cost nothing, so the best loss of a cell (N, D)
follows the Chinchilla law up to the spacing of the λ grid, and the best loss at a compute C = 6ND
follows E + A'·C^α' (see `SyntheticSurface.compute_law`). Shapes: m rows, every column (m,).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Protocol

import numpy as np

from lawsmith.datasets.records import ReadOptions, Study
from lawsmith.datasets.surfaces import Bowl, Columns, SyntheticSurface
from lawsmith.datasets.tables import study_from_frame
from lawsmith.frontier import pareto
from lawsmith.grid import FloatArray, Grid, IntArray

if TYPE_CHECKING:
    import pandas as pd


Range = tuple[float, float, int]  # lowest, highest, how many values, evenly spaced in logs


class Design(Protocol):
    """What says which runs a study has."""

    def columns(self, rng: np.random.Generator) -> Columns:
        """N, D and every axis, one row per run."""
        ...


@dataclass(frozen=True)
class Shape:
    """A study of given sizes whose cells are filled evenly and at random.

    n_cells           how many (N, D) pairs exist: those of most usual D/N
    n_configurations  spread evenly over the cells, each cell's λ drawn at random
    n_replicates      configurations run a second time, drawn at random
    """

    N: Range
    D: Range
    axes: Mapping[str, Range]
    n_cells: int
    n_configurations: int
    n_replicates: int = 0

    def columns(self, rng: np.random.Generator) -> Columns:
        """One row per run, replicates last."""
        cells = _usual(list(product(spaced(self.N), spaced(self.D))), self.n_cells)
        grid = list(product(*(spaced(axis) for axis in self.axes.values())))
        # Each cell's k-th choice before any cell's (k+1)-th keeps the cells equally full.
        orders = np.stack([rng.permutation(len(grid)) for _ in cells], axis=1)
        picks = list(product(range(len(grid)), range(len(cells))))[: self.n_configurations]
        rows = [(*cells[cell], *grid[orders[rank, cell]]) for rank, cell in picks]
        again = rng.choice(len(rows), size=self.n_replicates, replace=False)
        table = np.array(sorted(rows) + sorted(rows[i] for i in again), dtype=np.float64)
        return dict(zip(("N", "D", *self.axes), table.T, strict=True))


def spaced(spec: Range) -> list[float]:
    """Evenly spaced in logs, to four significant digits as a person would choose them."""
    low, high, n = spec
    return [float(f"{x:.4g}") for x in np.geomspace(low, high, n)]


def _usual(cells: list[tuple[float, float]], n: int) -> list[tuple[float, float]]:
    """The n cells whose tokens per parameter are nearest the median of all, cheaper ones first."""
    ratios = np.log([D / N for N, D in cells])
    # Rounded, so that equal distances tie whatever the last digit of a logarithm.
    distance = np.round(np.abs(ratios - np.median(ratios)), 9).tolist()
    order = sorted(range(len(cells)), key=lambda i: (distance[i], cells[i][0] * cells[i][1]))
    return [cells[i] for i in order[:n]]


@dataclass(frozen=True, eq=False)
class Truth:
    """What a synthetic study was made from.

    loss      (m,) noise-free loss of every configuration, NaN where it diverges
    frontier  rows of the grid on the true compute frontier, ascending in C
    """

    surface: SyntheticSurface
    loss: FloatArray
    frontier: IntArray

    @classmethod
    def on(cls, surface: SyntheticSurface, grid: Grid) -> Truth:
        """The truth at every row of ``grid``."""
        loss = np.exp(surface.mean_log_loss(grid.columns))
        loss[surface.diverges(grid.columns)] = np.nan
        return cls(surface, loss, pareto(grid.C, loss))

    @property
    def params(self) -> dict[str, dict[str, float]]:
        """Natural parameters by law: chinchilla exactly, if it is one; LC as on a dense grid."""
        compute = {"LC": self.surface.compute_law}
        return compute if self.surface.joint != 1.0 else {"chinchilla": self.surface.law, **compute}

    def best_loss(self, C: float) -> float:
        """The least noise-free loss there is at ``C`` FLOPs, over every N, D and λ."""
        law = self.surface.compute_law
        return float(law["E"] + law["A"] * C ** law["alpha"])


DEMO_SURFACE = SyntheticSurface(
    bowls={
        "lr": Bowl(1.0e-3, drift_N=-0.35, drift_D=0.15, curvature=0.012, diverges_at=4.5),
        "batch": Bowl(180.0, drift_D=0.5, curvature=0.006),
    }
)
DEMO_SHAPE = Shape(
    N=(3.2e7, 1.024e9, 6),
    D=(6.4e8, 4.096e10, 7),
    axes={"lr": (5e-4, 8e-3, 5), "batch": (32, 512, 5)},
    n_cells=36,
    n_configurations=900,
    n_replicates=24,
)


def make_frame(surface: SyntheticSurface, design: Design, *, seed: int) -> pd.DataFrame:
    """The table such a study would have published: one row per run."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    columns = design.columns(rng)
    return pd.DataFrame({**columns, "loss": surface.sample(columns, rng)})


def make_study(
    surface: SyntheticSurface,
    design: Design,
    *,
    name: str,
    seed: int = 0,
    options: ReadOptions | None = None,
) -> Study:
    """A synthetic study with its truth; an axis needs a bowl or levels in ``surface`` to matter."""
    frame = make_frame(surface, design, seed=seed)
    read = ReadOptions(columns={str(column): str(column) for column in frame.columns})
    title = f"{name}: a synthetic study with a known law (seed {seed})"
    study = study_from_frame(frame, read.then(options or ReadOptions()), name=name, title=title)
    notes = ("synthetic: drawn from a known law, no model was trained", *study.notes)
    return replace(study, notes=notes, truth=Truth.on(surface, study.grid))


def demo_study(seed: int = 0, options: ReadOptions | None = None) -> Study:
    """The study 'synthetic-demo': 6 N × 7 D (36 of 42 cells) × 5 lr × 5 batch sizes."""
    return make_study(DEMO_SURFACE, DEMO_SHAPE, name="synthetic-demo", seed=seed, options=options)
