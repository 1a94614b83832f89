"""A synthetic study of a few hundred runs for the tests, its law known."""

from __future__ import annotations

from functools import cache

from lawsmith.datasets import Study
from lawsmith.datasets.synthetic import Bowl, Shape, SyntheticSurface, make_study

SURFACE = SyntheticSurface(
    *(1.62, 170.0, 0.287, 190.0, 0.264),
    bowls={
        "lr": Bowl(6e-4, drift_N=-0.6, drift_D=0.1, curvature=0.009, diverges_at=6.0),
        "batch": Bowl(60.0, drift_D=0.8, curvature=0.005),
    },
    noise=0.0015,
)
SHAPE = Shape(
    N=(206e6, 1.26e9, 4),
    D=(6e9, 300e9, 9),
    axes={"lr": (2.5e-4, 4e-3, 5), "batch": (16, 2048, 8)},
    n_cells=36,
    n_configurations=360,
)


@cache
def synthetic_study(seed: int = 0) -> Study:
    """360 configurations: 4 N × 9 D, ten settings of lr and batch in each; some diverge."""
    return make_study(SURFACE, SHAPE, name=f"synthetic-{seed}", seed=seed)
