"""Records of an analysis: its options, predictions, comparisons of laws, Analysis itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lawsmith.analysis import text
from lawsmith.answer.records import HeldOutRuns
from lawsmith.answer.records import Target as Target
from lawsmith.datasets.records import Study, frame_of
from lawsmith.digest import short
from lawsmith.grid import FloatArray, HeldOut, IntArray
from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.laws.fit import LawFit
from lawsmith.laws.law import Law
from lawsmith.laws.objective import Objective
from lawsmith.laws.uncertainty import Influence, Interval, Uncertainty

if TYPE_CHECKING:
    from lawsmith.datasets.records import Frame


@dataclass(frozen=True)
class FitOptions:
    """What to fit and how; targets may be empty."""

    law: Law
    hold_out: HeldOut | None = None
    targets: tuple[Target, ...] = ()
    objective: Objective | None = None
    fixed: Mapping[str, float] = field(default_factory=dict)
    level: float = 0.95
    force: bool = False  # fit a design from which the law cannot be identified
    seed: int = 0


@dataclass(frozen=True)
class Prediction:
    """The loss that a law predicts at a target, with intervals.

    inputs      where the law was evaluated; N and D may be its own optimum
    interval    of the law, ``run_interval`` of a further best run; None with too few points
    decades     beyond the largest compute in the data, below 0 inside it
    allocation  best N, D and D/N at this compute; only for laws of N and D

    >>> (prediction,) = analyse("synthetic-demo", targets=1e24, law="chinchilla").predictions
    >>> sorted(prediction.allocation)
    ['D', 'D/N', 'N']
    """

    target: Target
    inputs: Mapping[str, float]
    loss: float
    interval: Interval | None
    run_interval: Interval | None
    decades: float
    allocation: Mapping[str, Interval] | None


@dataclass(frozen=True)
class HyperparameterLaw:
    """λ*(N, D) = c·N^a·D^b through the best value of one axis in each (N, D) cell."""

    axis: str
    fit: LawFit
    uncertainty: Uncertainty | None


@dataclass(frozen=True, eq=False)
class Cut:
    """A split by compute: the rows to fit, those held out, and the best of these."""

    name: str
    pool: IntArray
    best: IntArray
    held_out: IntArray


@dataclass(frozen=True)
class Comparison:
    """One of several laws, or the reason why it could not be fitted.

    fit          to all runs that are not held out
    score        predictions of the best runs above the cuts, all cuts together
    predictions  at the targets at which the law can be read
    aicc         Akaike's criterion; only compares laws that were fitted to the same points
    on_cuts      predictions of the best runs above each cut; None if it could not be fitted below
    warnings     of predictions above a loss that was reached
    """

    law: Law
    fit: LawFit | None
    score: HeldOutRuns | None
    reason: str = ""
    predictions: tuple[Prediction, ...] = ()
    aicc: float = float("nan")
    on_cuts: tuple[HeldOutRuns | None, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, repr=False)
class Analysis:
    """A study, its law, and how far to trust it: the result of `analyse`.

    fit           the fitted law: ``fit.params``, ``fit.predict``
    uncertainty   ``uncertainty.params(0.95)`` are intervals by name; None with too few points
    predictions   at the targets, in their order
    score         the law's predictions of the held-out runs; None if none were held out
    frontier, pool, held_out   rows of study.grid

    >>> study = load("synthetic-demo")
    >>> analysis = analyse(study, [1e24], law="LC")
    >>> analysis
    Analysis of synthetic-demo: LC, L(C) = E + A·C^α, 12 points
      E = 1.6..., A = ..., alpha = -0.1...
      1.9... at 1e24 FLOPs, 95% interval [1.8..., 1.9...]
      ... warnings: extrapolation_decades, frontier_optimism
    >>> analysis.to_frame()[["target", "loss", "low", "high"]].shape
    (1, 4)
    """

    study: Study
    options: FitOptions
    pool: IntArray
    held_out: IntArray
    loss: FloatArray  # (m,) per configuration, NaN without a finished run
    frontier: IntArray
    fit: LawFit
    uncertainty: Uncertainty | None
    predictions: tuple[Prediction, ...] = ()
    score: HeldOutRuns | None = None
    influence: Influence | None = None
    hyperparameters: tuple[HyperparameterLaw, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def law(self) -> Law:
        return self.options.law

    @property
    def done(self) -> IntArray:
        """Rows of the pool with a finished run."""
        return np.asarray(self.pool[np.isfinite(self.loss[self.pool])])

    def __repr__(self) -> str:
        return short(text.title(self), text.lines(self))

    def summary(self) -> str:
        """The law as text: parameters with intervals, predictions, warnings."""
        return text.listing(self).text()

    def to_frame(self) -> Frame:
        """One row per target: the law's loss with its intervals, N, D and D/N."""
        return frame_of(text.prediction_row(p) for p in self.predictions)

    def to_dict(self) -> dict[str, Any]:
        """The analysis as plain values, as ``--json`` prints it."""
        return text.payload(self)

    def _repr_html_(self) -> str:
        return text.listing(self).html()
