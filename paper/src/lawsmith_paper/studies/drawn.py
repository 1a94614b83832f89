"""Studies drawn afresh: the plan of a synthetic twin, a law and a noise that nobody has seen.

A twin has one law. To judge a method, many are needed, and not only such as the method itself has
in mind: here every seed draws a law, joined terms under every odd seed, other optima than the plan
expected, skewed bowls, and heavy-tailed noise under every third. The plan (which runs there are)
stays that of the twin, as a study is planned before its optima are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from lawsmith.datasets.records import Study
from lawsmith.datasets.synthetic import Bowl, Columns, SyntheticSurface, make_study
from lawsmith.errors import LawsmithError, unknown
from lawsmith_paper.studies.presets import PRESETS

# The shapes a study can be drawn in: the paper's five.
SHAPES = tuple(name.removeprefix("synthetic-") for name in PRESETS)
HEAVY_DF = 4.0  # degrees of freedom of heavy-tailed noise


def drawn_study(shape: str, seed: int, *, noise: float = 1.0) -> Study:
    """A study of the shape of a twin ('steplaw') whose law, optima and losses come from ``seed``.

    noise   of a run, as a multiple of the twin's; the law does not depend on it
    """
    if shape not in SHAPES:
        raise unknown("shape", shape, SHAPES)
    if not 0.0 < noise < np.inf:
        raise LawsmithError("noise", got=f"{noise:g}", want="a multiple above 0")
    twin = PRESETS[f"synthetic-{shape}"]
    rng = np.random.default_rng([seed, SHAPES.index(shape)])
    surface = drawn_surface(twin.surface, twin.design.columns(rng), seed, rng)
    name = f"drawn-{shape}"
    scaled = replace(surface, noise=noise * surface.noise)
    return make_study(scaled, twin.design, name=name, seed=seed)


def drawn_surface(
    like: SyntheticSurface, columns: Columns, seed: int, rng: np.random.Generator
) -> SyntheticSurface:
    """A surface whose losses at the middle of a plan are about those of ``like``.

    E is half to four fifths of the loss there, N and D share the rest, exponents lie between 0.2
    and 0.45; terms are joined with j between 0.4 and 0.9 under odd seeds.
    """
    N, D = (float(np.exp(np.median(np.log(columns[name])))) for name in ("N", "D"))
    joint = float(rng.uniform(0.4, 0.9)) if seed % 2 else 1.0
    level = like.E + like.A * N**-like.alpha + like.B * D**-like.beta
    E = level * rng.uniform(0.5, 0.8)
    share = rng.uniform(0.3, 0.7)
    alpha, beta = rng.uniform(0.2, 0.45, size=2)
    rest = (level - E) ** (1.0 / joint)  # T^(1/j), the sum of two
    return replace(
        like,
        E=float(E),
        A=float((share * rest) ** joint * N**alpha),
        alpha=float(alpha),
        B=float(((1.0 - share) * rest) ** joint * D**beta),
        beta=float(beta),
        bowls=_drawn_bowls(like.bowls, rng),
        tail_df=HEAVY_DF if seed % 3 == 2 else like.tail_df,
        joint=joint,
    )


def _drawn_bowls(like: Mapping[str, Bowl], rng: np.random.Generator) -> dict[str, Bowl]:
    """Optima half an e-fold and more from where the plan expects them, drifting otherwise."""
    return {
        name: replace(
            bowl,
            centre=float(bowl.centre * np.exp(rng.normal(0.0, 0.4))),
            drift_N=float(bowl.drift_N + rng.normal(0.0, 0.1)),
            drift_D=float(bowl.drift_D + rng.normal(0.0, 0.1)),
            curvature=float(bowl.curvature * np.exp(rng.normal(0.0, 0.4))),
            skew=float(rng.uniform(0.0, 0.8)),
        )
        for name, bowl in like.items()
    }
