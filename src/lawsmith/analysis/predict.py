"""The loss at a target, with intervals, and where the influence of points is judged."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lawsmith.analysis.design import inputs_at
from lawsmith.analysis.records import Analysis, Prediction
from lawsmith.answer.records import HeldOutRuns, Target
from lawsmith.errors import LawsmithError
from lawsmith.formats import count
from lawsmith.frontier import best_row
from lawsmith.grid import IntArray
from lawsmith.laws.allocation import (
    allocation,
    best_further,
    best_split,
    divides,
    further_inputs,
)
from lawsmith.laws.diagnostics import Diagnostic, law_above_observed
from lawsmith.laws.fit import LawFit
from lawsmith.laws.uncertainty import Interval

UNIT_COST = 1.0  # what every run of a table without compute costs


def predict(a: Analysis, target: Target) -> Prediction:
    """The law's loss at a target, its intervals, and its best N and D there."""
    fit, uncertainty, level = a.fit, a.uncertainty, a.options.level
    inputs = target_inputs(target, fit)
    interval = run_interval = None
    if uncertainty is not None:
        interval = _first(uncertainty.loss(inputs, level))
        run_interval = _first(uncertainty.run(inputs, level))
    return Prediction(
        target=target,
        inputs=inputs,
        loss=float(fit.predict(inputs)[0]),
        interval=interval,
        run_interval=run_interval,
        decades=_decades(a, target, inputs),
        allocation=_shares(a, target, inputs) if divides(fit.law) else None,
    )


def predict_runs(a: Analysis, rows: IntArray) -> HeldOutRuns:
    """The law on rows of the grid, beside the losses that they have; NaN without intervals."""
    grid = a.study.grid
    inputs = inputs_at(grid, a.law, rows)
    nothing = np.full(len(rows), np.nan)
    ends = a.uncertainty.run(inputs, a.options.level)[1:] if a.uncertainty else (nothing, nothing)
    return HeldOutRuns(rows, grid.C[rows], a.loss[rows], a.fit.predict(inputs), *ends)


def _shares(a: Analysis, target: Target, inputs: Mapping[str, float]) -> dict[str, Interval]:
    """N*, D* and D/N of the law at the target's compute; NaN ends without an uncertainty."""
    further = {name: inputs[name] for name in further_inputs(a.law)}
    if a.uncertainty is None:
        split = best_split(a.law, a.fit.phi, target.C, further)
        return {name: Interval(value, np.nan, np.nan) for name, value in split.items()}
    whole = allocation(a.uncertainty, np.array([target.C]), a.options.level, further)
    return {name: _first(found) for name, found in whole.items()}


def _decades(a: Analysis, target: Target, inputs: Mapping[str, float]) -> float:
    """How far beyond the data a target lies: in compute, or in the law's inputs without one."""
    fit, largest = a.fit, float(a.study.grid.C[a.done].max())
    if largest != UNIT_COST:
        return float(np.log10(target.C / largest))
    beyond = [np.log(inputs[name]) - fit.x[i].max() for i, name in enumerate(fit.law.inputs)]
    return float(max(beyond) / np.log(10))


def _first(interval: Interval) -> Interval:
    return Interval(*(float(v[0]) for v in interval))


def target_inputs(target: Target, fit: LawFit) -> dict[str, float]:
    """The law's inputs at the target; N and D at a bare compute are its compute-optimal ones.

    A further input that the target does not give is the one of the runs that is best there.
    """
    law, given = fit.law, {k: v for k, v in target.hp.items() if not isinstance(v, str)}
    if divides(law) and not target.sized:
        further = best_further(fit, given, {"C": target.C})
        split = {**best_split(law, fit.phi, target.C, further), **further}
        return {name: split[name] for name in law.inputs}
    at: dict[str, float | None] = {"C": target.C, "N": target.N, "D": target.D}
    known = {name: value for name, value in at.items() if value is not None and name in law.inputs}
    if len(known) + len(further_inputs(law)) == len(law.inputs):
        at |= best_further(fit, given, known)
    missing = [name for name in fit.law.inputs if at.get(name) is None]
    if missing:
        raise LawsmithError(
            "--target",
            got=target.label,
            want=f"{', '.join(fit.law.inputs)} for {fit.law.name}",
            hint="give a pair such as 7e9,1.4e11" if missing != ["C"] else None,
        )
    return {name: float(at[name] or 0.0) for name in fit.law.inputs}


def above_observed(a: Analysis, p: Prediction) -> Diagnostic | None:
    """The warning that a run no larger than the target has a loss below the law's there."""
    grid, loss = a.study.grid, a.loss
    scales = p.inputs if p.target.sized else {"C": p.target.C}
    smaller = np.isin(np.arange(len(grid)), a.pool)
    for name, value in scales.items():
        smaller &= grid.numbers(name) <= value * (1 + 1e-9)
    row = best_row(loss, smaller)
    if row is None:
        return None
    reached, compute = float(loss[row]), float(grid.C[row])
    return law_above_observed(a.law.name, p.target.label, p.loss, reached, compute)


def influence_target(a: Analysis) -> tuple[str, dict[str, float]]:
    """Where influence is judged, the first target or a decade above the data: label and inputs."""
    fit, targets = a.fit, a.options.targets
    if not targets and (fit.law.inputs == ("C",) or divides(fit.law)):
        targets = (Target(10 * float(a.study.grid.C[a.done].max())),)
    if targets:
        return targets[0].label, target_inputs(targets[0], fit)
    top = {name: 10 * float(np.exp(fit.x[i].max())) for i, name in enumerate(fit.law.inputs)}
    return ", ".join(f"{k} = {count(v)}" for k, v in top.items()), top
