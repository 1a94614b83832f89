"""From a study to a law one can decide from: split, Π, fit, uncertainty, warnings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lawsmith.analysis.design import check_design, inputs_at, isoflop_cells
from lawsmith.analysis.predict import above_observed, influence_target, predict, predict_runs
from lawsmith.analysis.records import Analysis, FitOptions, HyperparameterLaw, Prediction
from lawsmith.analysis.selected import frontier_uncertainty
from lawsmith.answer.records import HeldOutRuns
from lawsmith.arrays import saturating
from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray, Grid, HeldOut, IntArray
from lawsmith.laws import diagnostics as checks
from lawsmith.laws.allocation import can_allocate
from lawsmith.laws.catalogue import HYPERPARAMETER
from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.laws.fit import fit_law
from lawsmith.laws.influence import Influence, influence
from lawsmith.laws.uncertainty import law_uncertainty

# Cells that say how the best hyperparameters move: twice the parameters of their law. With fewer
# runs than three a cell, nothing was tuned in it.
LEAST_CELLS, LEAST_RUNS_A_CELL = 6, 3


@saturating
def analyse(study: Study, options: FitOptions) -> Analysis:
    """Fit ``options.law`` to the frontier of the study's pool and say what can be said of it."""
    pool, held = split(study.grid, options.hold_out)
    a = replace(fit_frontier(study, pool, options), held_out=held)
    a = replace(
        a,
        predictions=tuple(predict(a, target) for target in options.targets),
        score=_held_out(a) if len(held) else None,
        influence=_influence(a),
        hyperparameters=hyperparameter_laws(study.grid, pool, a.loss),
    )
    return replace(a, warnings=tuple(_warnings(a)))


def fit_frontier(study: Study, pool: IntArray, options: FitOptions) -> Analysis:
    """The law of the frontier of the pool's runs, and how uncertain it is; nothing more."""
    grid, law = study.grid, options.law
    loss = study.runs.config_loss(len(grid))
    rows = pool[frontier(grid.subset(pool), loss[pool], law.inputs)]
    check_design(study, law, rows, force=options.force)
    fit = fit_law(
        law,
        inputs_at(grid, law, rows),
        loss[rows],
        objective=options.objective,
        fixed=options.fixed,
        priors=options.priors,
    )
    uncertainty = frontier_uncertainty(study, pool, rows, loss, fit, options)
    return Analysis(study, options, pool, np.arange(0), loss, rows, fit, uncertainty)


def split(grid: Grid, hold_out: HeldOut | None) -> tuple[IntArray, IntArray]:
    """(pool rows, held-out rows); all are in the pool without a rule."""
    if hold_out is None:
        return np.arange(len(grid)), np.arange(0)
    return grid.split(hold_out)


def _held_out(a: Analysis) -> HeldOutRuns:
    """The law's predictions on Π(held-out)."""
    held = a.held_out
    rows = held[frontier(a.study.grid.subset(held), a.loss[held], a.law.inputs)]
    if len(rows) == 0:
        raise LawsmithError("hold-out", got="no finished run held out", want="at least one")
    return predict_runs(a, rows)


def _influence(a: Analysis) -> Influence | None:
    """Leave-one-out; None where a law without a point could not be judged."""
    if a.uncertainty is None or a.fit.n_points - 1 <= int(a.fit.free.sum()):
        return None
    return influence(a.fit, influence_target(a)[1], a.uncertainty)


@saturating
def hyperparameter_laws(
    grid: Grid, pool: IntArray, loss: FloatArray
) -> tuple[HyperparameterLaw, ...]:
    """λ*(N, D) for every positive numeric axis that is tuned in enough (N, D) cells."""
    if not {"N", "D"} <= set(grid.names):
        return ()
    rows = pool[frontier(grid.subset(pool), loss[pool], ("N", "D"))]
    n_runs = int(np.isfinite(loss[pool]).sum())
    if len(rows) < LEAST_CELLS or n_runs < LEAST_RUNS_A_CELL * len(rows):
        return ()
    tied = checks.collinear_design(grid.N[rows], grid.D[rows]) is not None
    fixed = {"b": 0.0} if tied else {}
    laws = []
    for axis in grid.axes:
        if axis.name in ("N", "D") or axis.kind != "log":
            continue
        values = grid.numbers(axis.name)[rows]
        if len(np.unique(values)) < 2:
            continue
        inputs = inputs_at(grid, HYPERPARAMETER, rows)
        fit = fit_law(HYPERPARAMETER, inputs, values, fixed=fixed)
        laws.append(HyperparameterLaw(axis.name, fit, law_uncertainty(fit), rows))
    return tuple(laws)


def _warnings(a: Analysis) -> list[Diagnostic]:
    grid, fit, rows = a.study.grid, a.fit, a.frontier
    n_levels = len(np.unique(grid.cells(list(fit.law.inputs))[rows]))
    found: list[Diagnostic | None] = [
        checks.at_bound(fit),
        checks.not_identified(a.uncertainty, a.options.level),
        checks.ill_conditioned(fit),
        checks.too_few_levels(fit, n_levels),
    ]
    if can_allocate(fit.law):
        found.append(checks.collinear_design(grid.N[rows], grid.D[rows]))
    if a.influence is not None:
        label, _ = influence_target(a)
        found.append(checks.influential_point(a.influence, grid.C[rows], label))
    found.append(checks.lack_of_fit(fit, a.uncertainty))
    for p in a.predictions:
        found.append(checks.extrapolation_decades(p.target.label, p.decades))
        found += [above_observed(a, p), _beyond_tried(a, p)]
    found.append(checks.frontier_optimism(a.uncertainty, len(a.done), fit.n_points))
    if {"N", "D"} <= set(grid.names):
        best, level_of = isoflop_cells(grid, a.pool, a.loss)
        found.append(checks.isoflop_unbracketed(grid.N[best], a.loss[best], level_of))
    return [d for d in found if d is not None]


def _beyond_tried(a: Analysis, p: Prediction) -> Diagnostic | None:
    """Whether the law's best D/N at a compute lies outside those that were run."""
    if p.allocation is None or p.target.sized:
        return None
    tried = a.study.grid.D[a.done] / a.study.grid.N[a.done]
    ratio = p.allocation["D/N"].centre
    return checks.allocation_extrapolated(f"by {a.law.name}", p.target.label, ratio, tried)
