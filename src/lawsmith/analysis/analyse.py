"""The analysis of a study by a law: its fit, predictions at targets, warnings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from lawsmith.analysis.fitting import fit_frontier, hyperparameter_laws, split
from lawsmith.analysis.records import Analysis, FitOptions, Prediction
from lawsmith.answer.records import HeldOutRuns, Target
from lawsmith.arrays import saturating
from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.formats import count
from lawsmith.frontier import best_row, frontier
from lawsmith.grid import FloatArray, Grid, IntArray
from lawsmith.laws import diagnostics as checks
from lawsmith.laws.allocation import (
    allocation,
    best_further,
    best_split,
    can_allocate,
    divides,
    further_inputs,
)
from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.laws.fit import LawFit
from lawsmith.laws.uncertainty import Influence, Interval, influence
from lawsmith.threads import one_thread

UNIT_COST = 1.0  # cost of every run of a table without compute
# Published isoFLOP runs miss their compute by a few percent: runs share a level while the next
# compute is within GAP of the last, and within SPAN of the first. Intended levels are much farther
# apart: Chinchilla's by a factor of 1.7 or more.
GAP, SPAN = 0.04, 0.2


@saturating
@one_thread()
def analyse(study: Study, options: FitOptions) -> Analysis:
    """Fit ``options.law`` to the frontier of the study's pool: predictions, intervals, warnings."""
    pool, held = split(study.grid, options.hold_out)
    a = replace(fit_frontier(study, pool, options), held_out=held)
    a = replace(
        a,
        predictions=tuple(predict(a, target) for target in options.targets),
        score=_score(a) if len(held) else None,
        influence=_influence(a),
        hyperparameters=hyperparameter_laws(study.grid, pool, a.loss),
    )
    return replace(a, warnings=tuple(_warnings(a)))


def predict(a: Analysis, target: Target) -> Prediction:
    """The law's loss at a target, with intervals, and its best N and D there."""
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
    """The law's predictions of rows of the grid, with their losses; NaN ends without intervals."""
    grid = a.study.grid
    inputs = a.law.inputs_at(grid, rows)
    nothing = np.full(len(rows), np.nan)
    ends = a.uncertainty.run(inputs, a.options.level)[1:] if a.uncertainty else (nothing, nothing)
    return HeldOutRuns(rows, grid.C[rows], a.loss[rows], a.fit.predict(inputs), *ends)


def _shares(a: Analysis, target: Target, inputs: Mapping[str, float]) -> dict[str, Interval]:
    """N*, D* and D/N of the law at the target's compute; NaN ends without intervals."""
    further = {name: inputs[name] for name in further_inputs(a.law)}
    if a.uncertainty is None:
        split = best_split(a.law, a.fit.phi, target.C, further)
        return {name: Interval(value, np.nan, np.nan) for name, value in split.items()}
    shares = allocation(a.uncertainty, np.array([target.C]), a.options.level, further)
    return {name: _first(interval) for name, interval in shares.items()}


def _decades(a: Analysis, target: Target, inputs: Mapping[str, float]) -> float:
    """Decades from the data to a target: in compute, or in the law's inputs without compute."""
    fit, largest = a.fit, float(a.study.grid.C[a.done].max())
    if largest != UNIT_COST:
        return float(np.log10(target.C / largest))
    beyond = [np.log(inputs[name]) - fit.x[i].max() for i, name in enumerate(fit.law.inputs)]
    return float(max(beyond) / np.log(10))


def _first(interval: Interval) -> Interval:
    return Interval(*(float(v[0]) for v in interval))


def target_inputs(target: Target, fit: LawFit) -> dict[str, float]:
    """The law's inputs at the target; for a bare compute, N and D are the law's best ones.

    A further input that the target does not give has the best of the values that were run.
    """
    law, given = fit.law, {k: v for k, v in target.hp.items() if not isinstance(v, str)}
    if divides(law) and not target.sized:
        further = best_further(fit, given, {"C": target.C})
        split = {**best_split(law, fit.phi, target.C, further), **further}
        return {name: split[name] for name in law.inputs}
    at = {name: value for name, value in target.sizes.items() if name in law.inputs}
    if len(at) + len(further_inputs(law)) == len(law.inputs):
        at |= best_further(fit, given, at)
    missing = [name for name in law.inputs if name not in at]
    if missing:
        raise LawsmithError(
            "--target",
            got=target.label,
            want=f"{', '.join(law.inputs)} for {law.name}",
            hint="give a pair such as 7e9,1.4e11" if missing != ["C"] else None,
        )
    return {name: at[name] for name in law.inputs}


def above_observed(a: Analysis, p: Prediction) -> Diagnostic | None:
    """Warn if a run that is no larger than the target has a loss below the law's there."""
    grid, loss = a.study.grid, a.loss
    scales = p.inputs if p.target.sized else {"C": p.target.C}
    smaller = np.isin(np.arange(len(grid)), a.pool)
    for name, value in scales.items():
        smaller &= grid.numbers(name) <= value * (1 + 1e-9)
    row = best_row(loss, smaller)
    if row is None:
        return None
    reached, compute = float(loss[row]), float(grid.C[row])
    return checks.law_above_observed(a.law.name, p.target.label, p.loss, reached, compute)


def influence_target(a: Analysis) -> tuple[str, dict[str, float]]:
    """The first target, or a point a decade above the data: its label and the law's inputs."""
    fit, targets = a.fit, a.options.targets
    if not targets and (fit.law.inputs == ("C",) or divides(fit.law)):
        targets = (Target(10 * float(a.study.grid.C[a.done].max())),)
    if targets:
        return targets[0].label, target_inputs(targets[0], fit)
    top = {name: 10 * float(np.exp(fit.x[i].max())) for i, name in enumerate(fit.law.inputs)}
    return ", ".join(f"{k} = {count(v)}" for k, v in top.items()), top


def _score(a: Analysis) -> HeldOutRuns:
    """The law's predictions of Π(held-out)."""
    held = a.held_out
    rows = held[frontier(a.study.grid.subset(held), a.loss[held], a.law.inputs)]
    if len(rows) == 0:
        raise LawsmithError("hold-out", got="no finished run held out", want="at least one")
    return predict_runs(a, rows)


def _influence(a: Analysis) -> Influence | None:
    """Leave-one-out; None if there are too few points to fit without one."""
    if a.uncertainty is None or a.fit.n_points - 1 <= int(a.fit.free.sum()):
        return None
    return influence(a.fit, influence_target(a)[1], a.uncertainty)


def _warnings(a: Analysis) -> list[Diagnostic]:
    grid, fit, rows = a.study.grid, a.fit, a.frontier
    n_levels = len(np.unique(grid.cells(list(fit.law.inputs))[rows]))
    warnings: list[Diagnostic | None] = [
        checks.at_bound(fit),
        checks.not_identified(a.uncertainty, a.options.level),
        checks.ill_conditioned(fit),
        checks.too_few_levels(fit, n_levels),
    ]
    if can_allocate(fit.law):
        warnings.append(checks.collinear_design(grid.N[rows], grid.D[rows]))
    if a.influence is not None:
        label, _ = influence_target(a)
        warnings.append(checks.influential_point(a.influence, grid.C[rows], label))
    warnings.append(checks.lack_of_fit(fit, a.uncertainty))
    for p in a.predictions:
        warnings.append(checks.extrapolation_decades(p.target.label, p.decades))
        warnings += [above_observed(a, p), _beyond_tried(a, p)]
    warnings.append(checks.frontier_optimism(a.uncertainty, len(a.done), fit.n_points))
    if {"N", "D"} <= set(grid.names):
        best, level_of = isoflop_cells(grid, a.pool, a.loss)
        warnings.append(checks.isoflop_unbracketed(grid.N[best], a.loss[best], level_of))
    return [d for d in warnings if d is not None]


def _beyond_tried(a: Analysis, p: Prediction) -> Diagnostic | None:
    """Warn if the law's best D/N at a compute lies outside those of the runs."""
    if p.allocation is None or p.target.sized:
        return None
    tried = a.study.grid.D[a.done] / a.study.grid.N[a.done]
    ratio = p.allocation["D/N"].centre
    subject = f"at {p.target.label} the best D/N by {a.law.name} is"
    return checks.allocation_extrapolated(subject, ratio, tried)


def isoflop_cells(grid: Grid, pool: IntArray, loss: FloatArray) -> tuple[IntArray, IntArray]:
    """The best row of each (N, D) cell, and its isoFLOP level."""
    rows = pool[frontier(grid.subset(pool), loss[pool], ("N", "D"))]
    return rows, isoflop_levels(grid.C[rows])


def isoflop_levels(C: FloatArray) -> IntArray:
    """(m,) the level of each compute, numbered in ascending order."""
    order = np.argsort(C, kind="stable")
    level_of = np.empty(len(C), dtype=np.int64)
    level, first, last = -1, 0.0, 0.0
    for row in order:
        if level < 0 or C[row] > (1 + GAP) * last or C[row] > (1 + SPAN) * first:
            level, first = level + 1, float(C[row])
        level_of[row], last = level, float(C[row])
    return level_of
