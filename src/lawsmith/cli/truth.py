"""The laws of the synthetic study beside the truth: what a study without noise would have given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lawsmith.analysis import Analysis, FitOptions, Prediction, Target, analyse
from lawsmith.cli.payload import fitted_allocation
from lawsmith.datasets import Study, demo_study
from lawsmith.datasets.synthetic import DEMO_SHAPE, DEMO_SURFACE, make_frame
from lawsmith.errors import LawsmithError
from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray
from lawsmith.laws.catalogue import CHINCHILLA, LC
from lawsmith.laws.fit import LawFit, fit_law
from lawsmith.laws.law import Law
from lawsmith.laws.objective import LEAST_SQUARES_LOG
from lawsmith.laws.uncertainty import Interval

TARGETS = (1e22, 1e24)


@dataclass(frozen=True)
class Check:
    """One number of the fit beside the true one."""

    name: str
    truth: float
    fitted: float
    interval: Interval

    @property
    def inside(self) -> bool:
        return bool(self.interval.low <= self.truth <= self.interval.high)


@dataclass(frozen=True)
class Case:
    """One law: fitted to the noisy frontier, and (``truth``) to the noise-free one."""

    analysis: Analysis
    truth: LawFit

    @property
    def law(self) -> Law:
        return self.analysis.law

    @property
    def parameters(self) -> list[Check]:
        a = self.analysis
        found = a.uncertainty.params(a.options.level) if a.uncertainty else {}
        return [Check(p, self.truth.params[p], a.fit.params[p], i) for p, i in found.items()]

    @property
    def predictions(self) -> list[Check]:
        return [
            Check(p.target.label, self._true_loss(p), p.loss, p.interval)
            for p in self.analysis.predictions
            if p.interval is not None
        ]

    def _true_loss(self, p: Prediction) -> float:
        """Each law at its own best N and D, where it has them."""
        if "C" in self.law.inputs:
            return float(self.truth.predict({"C": p.target.C})[0])
        return float(self.truth.predict(fitted_allocation(self.truth, p.target.C))[0])

    def allocation(self, target: int) -> dict[str, Check]:
        """N, D and D/N at one of the targets; empty for a law without them."""
        p = self.analysis.predictions[target]
        if p.allocation is None:
            return {}
        true, fitted = (
            fitted_allocation(fit, p.target.C) for fit in (self.truth, self.analysis.fit)
        )
        return {k: Check(k, true[k], fitted[k], i) for k, i in p.allocation.items()}


def demo_cases(seed: int) -> tuple[Case, ...]:
    """L(C) and L(N, D) of the demo's study."""
    study = demo_study(seed)
    targets = tuple(Target(C) for C in TARGETS)
    return tuple(
        Case(analyse(study, FitOptions(law=law, targets=targets, seed=seed)), true_law(study, law))
        for law in (LC, CHINCHILLA)
    )


def true_law(study: Study, law: Law) -> LawFit:
    """The law of the noise-free frontier of a synthetic study."""
    assert study.truth is not None
    loss = study.truth.loss
    rows = frontier(study.grid, loss, law.inputs)
    inputs = {name: study.grid.numbers(name)[rows] for name in law.inputs}
    return fit_law(law, inputs, loss[rows], objective=LEAST_SQUARES_LOG)


def true_best(a: Analysis) -> FloatArray:
    """(n,) the least noise-free loss to be had for the compute of each frontier point."""
    assert a.study.truth is not None
    C, true = a.study.grid.C, a.study.truth
    place = np.searchsorted(C[true.frontier], C[a.frontier], side="right") - 1
    return true.loss[true.frontier[np.maximum(place, 0)]]


def optimism(a: Analysis) -> float:
    """How far the frontier's losses lie below the true best, on average, relative."""
    return float(-np.expm1(np.mean(np.log(a.loss[a.frontier] / true_best(a)))))


def write_runs(seed: int, folder: Path) -> Path:
    """The synthetic table as a file, to try `lawsmith fit` on."""
    path = folder / "runs.csv"
    try:
        make_frame(DEMO_SURFACE, DEMO_SHAPE, seed=seed).to_csv(path, index=False)
    except OSError as error:
        got = f"{path}: {error.strerror or error}"
        raise LawsmithError("--out", got=got, want="a folder that can be written") from None
    return path
