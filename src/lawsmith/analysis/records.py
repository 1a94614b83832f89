"""What an analysis is asked and what it answers: options, predictions, scores, Analysis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from lawsmith.datasets.records import Study
from lawsmith.formats import count, flops
from lawsmith.grid import FloatArray, HeldOut, IntArray
from lawsmith.laws.diagnostics import Diagnostic, Influence
from lawsmith.laws.fit import LawFit, Prior
from lawsmith.laws.law import Law
from lawsmith.laws.objective import Objective
from lawsmith.laws.uncertainty import Interval, Uncertainty


@dataclass(frozen=True)
class Target:
    """Where a prediction is wanted: a compute, or an N and a D (which make one)."""

    C: float
    N: float | None = None
    D: float | None = None

    @property
    def label(self) -> str:
        if self.N is None or self.D is None:
            return f"{flops(self.C)} FLOPs"
        return f"N = {count(self.N)}, D = {count(self.D)}"


@dataclass(frozen=True)
class FitOptions:
    """What to fit and how; targets may be empty."""

    law: Law
    hold_out: HeldOut | None = None
    targets: tuple[Target, ...] = ()
    objective: Objective | None = None
    fixed: Mapping[str, float] = field(default_factory=dict)
    priors: Mapping[str, Prior] = field(default_factory=dict)
    level: float = 0.95
    force: bool = False  # fit a design from which the law cannot be identified
    seed: int = 0


@dataclass(frozen=True)
class Prediction:
    """The loss at a target: as fitted, with the law's interval and that of a further best run."""

    target: Target
    inputs: Mapping[str, float]  # where the law was evaluated; N and D may be its own optimum
    loss: float
    interval: Interval | None
    run_interval: Interval | None
    decades: float  # beyond the largest compute (or input) in the data, below 0 inside it
    allocation: Mapping[str, Interval] | None  # N, D, D/N at this compute, laws of N and D only


@dataclass(frozen=True)
class HeldOutScore:
    """How the law does on the held-out frontier."""

    rows: IntArray  # grid rows of Π(held-out)
    loss: FloatArray
    predicted: FloatArray

    @property
    def mse(self) -> float:
        return float(np.mean((self.predicted - self.loss) ** 2))

    @property
    def rmse(self) -> float:
        return float(np.sqrt(self.mse))

    @property
    def relative_rmse(self) -> float:
        return float(np.sqrt(np.mean((self.predicted / self.loss - 1) ** 2)))


@dataclass(frozen=True)
class HyperparameterLaw:
    """λ*(N, D) = c·N^a·D^b through the best value of one axis in each (N, D) cell."""

    axis: str
    fit: LawFit
    uncertainty: Uncertainty | None
    rows: IntArray  # grid rows of the cells' best configurations


@dataclass(frozen=True)
class Comparison:
    """One law's fit on the pool and its error on the common held-out frontier; or why not."""

    law: Law
    fit: LawFit | None
    score: HeldOutScore | None
    reason: str = ""


@dataclass(frozen=True)
class Analysis:
    """A study, its law, and all that is known of how far to trust it. Rows are of study.grid."""

    study: Study
    options: FitOptions
    pool: IntArray
    held_out: IntArray
    loss: FloatArray  # (m,) per configuration, NaN where there is no done run
    frontier: IntArray
    fit: LawFit
    uncertainty: Uncertainty | None
    predictions: tuple[Prediction, ...]
    score: HeldOutScore | None
    influence: Influence | None
    hyperparameters: tuple[HyperparameterLaw, ...]
    warnings: tuple[Diagnostic, ...]

    @property
    def law(self) -> Law:
        return self.options.law
