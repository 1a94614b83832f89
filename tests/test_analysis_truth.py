"""Analyses of synthetic studies against the truth: the law of the same study without noise."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.analysis import Analysis, FitOptions, Target, analyse
from lawsmith.datasets import Study, demo_study
from lawsmith.frontier import frontier
from lawsmith.laws.catalogue import CHINCHILLA, LC
from lawsmith.laws.fit import LawFit, fit_law
from lawsmith.laws.law import Law
from lawsmith.laws.objective import LEAST_SQUARES_LOG

TARGETS = (Target(1e22), Target(1e24))


def true_law(study: Study, law: Law) -> LawFit:
    """The law of the noise-free frontier."""
    loss = study.truth.loss
    rows = frontier(study.grid, loss, law.inputs)
    inputs = {name: study.grid.numbers(name)[rows] for name in law.inputs}
    return fit_law(law, inputs, loss[rows], objective=LEAST_SQUARES_LOG)


def caught(a: Analysis, true: LawFit) -> list[bool]:
    """For each parameter and prediction, whether its interval holds the truth."""
    known = a.uncertainty.params(0.95)
    pairs = [(true.params[name], interval) for name, interval in known.items()]
    pairs += [(float(true.predict(p.inputs)[0]), p.interval) for p in a.predictions]
    return [bool(i.low <= truth <= i.high) for truth, i in pairs]


def test_the_truth_is_near_the_surface_it_was_drawn_from() -> None:
    study = demo_study(0)
    for law in (LC, CHINCHILLA):
        assert true_law(study, law).params == pytest.approx(study.truth.params[law.name], rel=0.03)


def test_intervals_hold_the_truth_over_several_seeds() -> None:
    # One study's intervals stand or fall together, so a single seed says little.
    found: list[bool] = []
    for seed in range(8):
        study = demo_study(seed)
        for law in (LC, CHINCHILLA):
            asked = FitOptions(law=law, targets=TARGETS, seed=seed)
            found += caught(analyse(study, asked), true_law(study, law))
    assert len(found) == 8 * 12
    assert sum(found) >= 0.8 * len(found)


def test_the_frontier_of_noisy_runs_is_optimistic() -> None:
    a = analyse(demo_study(0), FitOptions(law=LC))
    true, C = a.study.truth, a.study.grid.C
    place = np.searchsorted(C[true.frontier], C[a.frontier], side="right") - 1
    best = true.loss[true.frontier[np.maximum(place, 0)]]
    assert 0 < -np.expm1(np.mean(np.log(a.loss[a.frontier] / best))) < 0.005
