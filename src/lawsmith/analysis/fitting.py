"""From a study to a law one can decide from: split, Π, fit, uncertainty, warnings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lawsmith.analysis.design import check_design, inputs_at, largest_compute
from lawsmith.analysis.hyperparameters import hyperparameter_laws
from lawsmith.analysis.isoflop import unbracketed
from lawsmith.analysis.predict import above_observed, influence_target, predict
from lawsmith.analysis.records import Analysis, FitOptions, HeldOutScore, Prediction
from lawsmith.analysis.selected import frontier_uncertainty
from lawsmith.arrays import saturating
from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray, Grid, HeldOut, IntArray
from lawsmith.laws import diagnostics as checks
from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.laws.fit import LawFit, fit_law
from lawsmith.laws.influence import Influence, influence
from lawsmith.laws.uncertainty import Uncertainty


@saturating
def analyse(study: Study, options: FitOptions) -> Analysis:
    """Fit ``options.law`` to the frontier of the study's pool and say what can be said of it."""
    grid = study.grid
    loss = study.runs.config_loss(len(grid))
    pool, held = split(grid, options.hold_out)
    rows, fit, uncertainty = fit_frontier(study, pool, loss, options)
    found = _influence(grid, pool, loss, rows, fit, uncertainty, options)
    analysis = Analysis(
        study=study,
        options=options,
        pool=pool,
        held_out=held,
        loss=loss,
        frontier=rows,
        fit=fit,
        uncertainty=uncertainty,
        predictions=tuple(
            predict(t, fit, uncertainty, largest_compute(grid, pool, loss), options.level)
            for t in options.targets
        ),
        score=held_out_score(grid, held, loss, fit) if len(held) else None,
        influence=found,
        hyperparameters=hyperparameter_laws(grid, pool, loss),
        warnings=(),
    )
    return replace(analysis, warnings=tuple(_warnings(analysis)))


def fit_frontier(
    study: Study, pool: IntArray, loss: FloatArray, options: FitOptions
) -> tuple[IntArray, LawFit, Uncertainty | None]:
    """The frontier of the pool's runs for the law, the fit to it, and how uncertain that is."""
    grid, law = study.grid, options.law
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
    return rows, fit, frontier_uncertainty(study, pool, rows, loss, fit, options)


def held_out_score(grid: Grid, held: IntArray, loss: FloatArray, fit: LawFit) -> HeldOutScore:
    """The law's predictions on Π(held-out)."""
    rows = held[frontier(grid.subset(held), loss[held], fit.law.inputs)]
    if len(rows) == 0:
        raise LawsmithError("hold-out", got="no finished run held out", want="at least one")
    return HeldOutScore(rows, loss[rows], fit.predict(inputs_at(grid, fit.law, rows)))


def split(grid: Grid, hold_out: HeldOut | None) -> tuple[IntArray, IntArray]:
    """(pool rows, held-out rows); all are in the pool without a rule."""
    if hold_out is None:
        return np.arange(len(grid)), np.arange(0)
    return grid.split(hold_out)


def _influence(
    grid: Grid,
    pool: IntArray,
    loss: FloatArray,
    rows: IntArray,
    fit: LawFit,
    uncertainty: Uncertainty | None,
    options: FitOptions,
) -> Influence | None:
    """Leave-one-out at the first target, or one decade above the data."""
    if uncertainty is None or len(rows) - 1 <= int(fit.free.sum()):
        return None
    return influence(fit, influence_target(grid, pool, loss, fit, options)[1], uncertainty)


def _warnings(a: Analysis) -> list[Diagnostic]:
    grid, fit, rows = a.study.grid, a.fit, a.frontier
    n_runs = int(np.isfinite(a.loss[a.pool]).sum())
    n_levels = len(np.unique(grid.cells(list(fit.law.inputs))[rows]))
    found: list[Diagnostic | None] = [
        checks.at_bound(fit),
        checks.not_identified(a.uncertainty, a.options.level),
        checks.ill_conditioned(fit),
        checks.too_few_levels(fit, n_levels),
    ]
    if set(fit.law.inputs) == {"N", "D"}:
        found.append(checks.collinear_design(grid.N[rows], grid.D[rows]))
    if a.influence is not None:
        label, _ = influence_target(grid, a.pool, a.loss, fit, a.options)
        found.append(checks.influential_point(a.influence, grid.C[rows], label))
    found.append(checks.lack_of_fit(fit, a.uncertainty))
    for p in a.predictions:
        found.append(checks.extrapolation_decades(p.target.label, p.decades))
        found += [above_observed(grid, a.pool, a.loss, fit.law, p), _beyond_tried(a, p)]
    found.append(checks.frontier_optimism(a.uncertainty, n_runs, fit.n_points))
    if {"N", "D"} <= set(grid.names):
        found.append(unbracketed(grid, a.pool, a.loss))
    return [d for d in found if d is not None]


def _beyond_tried(a: Analysis, p: Prediction) -> Diagnostic | None:
    """Whether the law's best D/N at a compute lies outside those that were run."""
    if p.allocation is None or p.target.sized:
        return None
    done = a.pool[np.isfinite(a.loss[a.pool])]
    tried = a.study.grid.D[done] / a.study.grid.N[done]
    ratio = p.allocation["D/N"].centre
    return checks.allocation_extrapolated(f"by {a.law.name}", p.target.label, ratio, tried)
