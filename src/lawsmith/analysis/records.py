"""What an analysis is asked and what it answers: options, predictions, scores, Analysis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from lawsmith.answer.records import HeldOutRuns
from lawsmith.answer.records import Target as Target
from lawsmith.datasets.records import Study
from lawsmith.grid import FloatArray, HeldOut, IntArray
from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.laws.fit import LawFit, Prior
from lawsmith.laws.influence import Influence
from lawsmith.laws.law import Law
from lawsmith.laws.objective import Objective
from lawsmith.laws.uncertainty import Interval, Uncertainty


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


@dataclass(frozen=True, eq=False)
class Cut:
    """A split by compute: what is fitted, and the best runs above it that are predicted."""

    name: str
    pool: IntArray
    judged: IntArray
    held_out: IntArray


@dataclass(frozen=True)
class Comparison:
    """One law beside the others; or why it could not be fitted.

    fit          to all that is not held out
    score        its predictions of the best runs above every cut, all cuts together
    predictions  at the targets that the law can be read at
    aicc         Akaike's criterion; to compare among laws fitted to the same points
    cuts         the best runs above each cut beside their predictions; None where it has none
    warnings     predictions above a loss that was reached
    """

    law: Law
    fit: LawFit | None
    score: HeldOutScore | None
    reason: str = ""
    predictions: tuple[Prediction, ...] = ()
    aicc: float = float("nan")
    cuts: tuple[HeldOutRuns | None, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()


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
