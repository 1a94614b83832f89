"""Synthetic studies with a known law: loss surfaces, designs, and runs drawn from both.

    ln L(N, D, λ) = ln(E + T(N, D)) + Σ_λ k·(ln λ − ln λ*(N, D))² + Σ_λ e(λ) + noise
    T(N, D)       = ((A·N^-α)^(1/j) + (B·D^-β)^(1/j))^j, for j = 1 Chinchilla's A·N^-α + B·D^-β
    λ*(N, D)      = centre · (N/1e9)^drift_N · (D/1e10)^drift_D

A bowl may be skewed, so steeper on one side. An axis has either a bowl (numbers on a log scale) or
an effect e per level (text, or numbers with few values). Bowls are zero at their centres and the
best levels have no effect. So the best loss of a cell (N, D) follows the Chinchilla law up to the
spacing of the λ grid, and the best loss at a compute C = 6ND follows E + A'·C^α' (see
`SyntheticSurface.compute_law`). Shapes: m rows, every column (m,).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Protocol

import numpy as np

from lawsmith.datasets.records import ReadOptions, Study
from lawsmith.datasets.tables import study_from_frame
from lawsmith.errors import unknown
from lawsmith.frontier import pareto
from lawsmith.grid import AnyArray, BoolArray, FloatArray, Grid, IntArray

if TYPE_CHECKING:
    import pandas as pd

Columns = Mapping[str, AnyArray]
Effects = Mapping[str, float] | Mapping[float, float]  # level of an axis → e, 0 for the best
Range = tuple[float, float, int]  # lowest, highest, how many values, evenly spaced in logs


@dataclass(frozen=True)
class Bowl:
    """One hyperparameter: where it is best, how much it matters, where runs diverge.

    curvature    k, per squared e-fold away from λ*
    skew         the bowl is up to 1 + skew times as steep above λ*, down to 1 − skew below
    diverges_at  a run diverges if λ is more than this factor above λ*
    """

    centre: float
    drift_N: float = 0.0
    drift_D: float = 0.0
    curvature: float = 0.01
    diverges_at: float = np.inf
    skew: float = 0.0

    def offset(self, value: AnyArray, N: AnyArray, D: AnyArray) -> FloatArray:
        """(m,) ln λ − ln λ*(N, D)."""
        drift = self.drift_N * np.log(N / 1e9) + self.drift_D * np.log(D / 1e10)
        return np.asarray(np.log(value / self.centre) - drift, dtype=np.float64)

    def excess(self, value: AnyArray, N: AnyArray, D: AnyArray) -> FloatArray:
        """(m,) log loss above that at λ*."""
        off = self.offset(value, N, D)
        steepness = self.curvature * (1.0 + self.skew * np.tanh(off))
        return np.asarray(steepness * off**2, dtype=np.float64)


@dataclass(frozen=True)
class SyntheticSurface:
    """The mean of log loss, and how runs scatter about it.

    levels           e by level, for axes without a bowl; 0 for the best level
    noise            SD of log loss between seeds (the scale parameter if tails are heavy)
    joint            j, how the terms of N and D join: 1 adds them, towards 0 the larger one counts
    tail_df          degrees of freedom of Student noise; infinite is Gaussian
    diverged_loss    the least loss a diverged run reports: NaN, or a huge loss
    diverged_spread  mean of the exponential excess of its log over that
    """

    E: float = 1.69
    A: float = 406.4
    alpha: float = 0.34
    B: float = 410.7
    beta: float = 0.28
    bowls: Mapping[str, Bowl] = field(default_factory=dict)
    levels: Mapping[str, Effects] = field(default_factory=dict)
    noise: float = 0.002
    tail_df: float = np.inf
    diverged_loss: float = np.nan
    diverged_spread: float = 0.0
    joint: float = 1.0

    @property
    def law(self) -> dict[str, float]:
        """Natural parameters of L(N, D), exact where the terms are added (``joint`` = 1)."""
        return {name: getattr(self, name) for name in ("E", "A", "alpha", "B", "beta")}

    @property
    def compute_law(self) -> dict[str, float]:
        """Natural parameters of L(C) = E + A·C^α at the best N, D and λ (Hoffmann et al. §3.3).

        T^(1/j) is a sum of two powers, and least where T is: its exponents are α/j and β/j.
        """
        j, total = self.joint, self.alpha + self.beta
        A, B = self.A ** (1.0 / j), self.B ** (1.0 / j)
        G = (self.alpha * A / (self.beta * B)) ** (j / total)
        exponent = -self.alpha * self.beta / total
        best = (A * G ** (-self.alpha / j) + B * G ** (self.beta / j)) ** j
        return {"E": self.E, "A": best * 6.0**-exponent, "alpha": exponent}

    def mean_log_loss(self, columns: Columns) -> FloatArray:
        """(m,) noise-free log loss of every row, also where it would diverge."""
        N, D = columns["N"], columns["D"]
        law = np.log(self.best_loss(N, D))
        excess = [bowl.excess(columns[name], N, D) for name, bowl in self.bowls.items()]
        excess += [_effect(name, columns[name], e) for name, e in self.levels.items()]
        return np.asarray(law + sum(excess), dtype=np.float64)

    def best_loss(self, N: AnyArray, D: AnyArray) -> FloatArray:
        """(m,) E + T: the noise-free loss at the best λ of every (N, D)."""
        of_N, of_D = self.A * N**-self.alpha, self.B * D**-self.beta
        if self.joint == 1.0:
            return np.asarray(self.E + of_N + of_D, dtype=np.float64)
        power = 1.0 / self.joint
        T = (of_N**power + of_D**power) ** self.joint
        return np.asarray(self.E + T, dtype=np.float64)

    def diverges(self, columns: Columns) -> BoolArray:
        """(m,) rows too far above the centre of some bowl."""
        corner = np.zeros(len(columns["N"]), dtype=np.bool_)
        for name, bowl in self.bowls.items():
            offset = bowl.offset(columns[name], columns["N"], columns["D"])
            corner |= offset > np.log(bowl.diverges_at)
        return corner

    def sample(self, columns: Columns, rng: np.random.Generator) -> FloatArray:
        """(m,) losses of one run in each row."""
        m = len(columns["N"])
        gaussian = np.isinf(self.tail_df)
        noise = rng.standard_normal(m) if gaussian else rng.standard_t(self.tail_df, m)
        loss = np.exp(self.mean_log_loss(columns) + self.noise * noise)
        lost = self.diverged_loss * np.exp(self.diverged_spread * rng.standard_exponential(m))
        return np.where(self.diverges(columns), lost, loss)


def _effect(name: str, values: AnyArray, effects: Effects) -> FloatArray:
    """(m,) e of each row's level."""
    levels, place = np.unique(values, return_inverse=True)
    by_level: dict[str | float, float] = dict(effects.items())
    for level in levels.tolist():
        if level not in by_level:
            raise unknown(f"level of {name}", str(level), map(str, by_level))
    return np.array([by_level[level] for level in levels.tolist()])[place]


class Design(Protocol):
    """Which runs a study has."""

    def columns(self, rng: np.random.Generator) -> Columns:
        """N, D and every axis, one row per run."""
        ...


@dataclass(frozen=True)
class Shape:
    """A study of given sizes whose cells are filled evenly, at random.

    n_cells           number of (N, D) pairs: those whose D/N is nearest the median
    n_configurations  spread evenly over the cells; the λ of each cell are drawn at random
    n_replicates      configurations that run a second time, drawn at random
    """

    N: Range
    D: Range
    axes: Mapping[str, Range]
    n_cells: int
    n_configurations: int
    n_replicates: int = 0

    def columns(self, rng: np.random.Generator) -> Columns:
        """One row per run, replicates last."""
        cells = _nearest_median_ratio(list(product(spaced(self.N), spaced(self.D))), self.n_cells)
        grid = list(product(*(spaced(axis) for axis in self.axes.values())))
        # Each cell's k-th choice before any cell's (k+1)-th keeps the cells equally full.
        orders = np.stack([rng.permutation(len(grid)) for _ in cells], axis=1)
        picks = list(product(range(len(grid)), range(len(cells))))[: self.n_configurations]
        rows = [(*cells[cell], *grid[orders[rank, cell]]) for rank, cell in picks]
        again = rng.choice(len(rows), size=self.n_replicates, replace=False)
        table = np.array(sorted(rows) + sorted(rows[i] for i in again), dtype=np.float64)
        return dict(zip(("N", "D", *self.axes), table.T, strict=True))


def spaced(spec: Range) -> list[float]:
    """Evenly spaced in logs, with four significant digits as a person would choose them."""
    low, high, n = spec
    return [float(f"{x:.4g}") for x in np.geomspace(low, high, n)]


def _nearest_median_ratio(cells: list[tuple[float, float]], n: int) -> list[tuple[float, float]]:
    """The n cells whose tokens per parameter are nearest the median of all, cheaper ones first."""
    ratios = np.log([D / N for N, D in cells])
    # Rounded, so that equal distances tie despite the last digit of a logarithm.
    distance = np.round(np.abs(ratios - np.median(ratios)), 9).tolist()
    order = sorted(range(len(cells)), key=lambda i: (distance[i], cells[i][0] * cells[i][1]))
    return [cells[i] for i in order[:n]]


@dataclass(frozen=True, eq=False)
class Truth:
    """What a synthetic study was drawn from.

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
        """Natural parameters by law: chinchilla if terms are added; LC as on a dense grid."""
        compute = {"LC": self.surface.compute_law}
        return compute if self.surface.joint != 1.0 else {"chinchilla": self.surface.law, **compute}

    def best_loss(self, C: float) -> float:
        """The lowest noise-free loss at ``C`` FLOPs, over every N, D and λ."""
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
    """The table that such a study would publish: one row per run."""
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
    """A synthetic study with its truth; axes without a bowl or levels in ``surface`` do nothing."""
    frame = make_frame(surface, design, seed=seed)
    read = ReadOptions(columns={str(column): str(column) for column in frame.columns})
    title = f"{name}: a synthetic study with a known law (seed {seed})"
    study = study_from_frame(frame, read.then(options or ReadOptions()), name=name, title=title)
    notes = ("synthetic: drawn from a known law, no model was trained", *study.notes)
    return replace(study, notes=notes, truth=Truth.on(surface, study.grid))


def demo_study(seed: int = 0, options: ReadOptions | None = None) -> Study:
    """The study 'synthetic-demo': 6 N × 7 D (36 of 42 cells) × 5 lr × 5 batch sizes."""
    return make_study(DEMO_SURFACE, DEMO_SHAPE, name="synthetic-demo", seed=seed, options=options)
