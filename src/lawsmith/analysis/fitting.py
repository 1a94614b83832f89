"""From a study to a law one can decide from: split, Π, fit, uncertainty, warnings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lawsmith.analysis.compare import held_out_score
from lawsmith.analysis.design import check_design, inputs_at, largest_compute
from lawsmith.analysis.hyperparameters import hyperparameter_laws
from lawsmith.analysis.isoflop import unbracketed
from lawsmith.analysis.predict import influence_target, predict
from lawsmith.analysis.records import Analysis, FitOptions
from lawsmith.analysis.selected import frontier_uncertainty
from lawsmith.datasets.records import Study
from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray, Grid, HeldOut, IntArray
from lawsmith.laws import diagnostics as checks
from lawsmith.laws.diagnostics import Diagnostic, Influence
from lawsmith.laws.fit import LawFit, fit_law
from lawsmith.laws.uncertainty import Uncertainty


def analyse(study: Study, options: FitOptions) -> Analysis:
    """Fit ``options.law`` to the frontier of the study's pool and say what can be said of it."""
    grid, law = study.grid, options.law
    loss = study.runs.config_loss(len(grid))
    pool, held = _split(grid, options.hold_out)
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
    uncertainty = frontier_uncertainty(study, pool, loss, fit, options)
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


def _split(grid: Grid, hold_out: HeldOut | None) -> tuple[IntArray, IntArray]:
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
    if uncertainty is None or len(rows) - 1 <= int(fit.free.sum()) or fit.n_points > 400:
        return None
    return checks.influence(fit, influence_target(grid, pool, loss, fit, options)[1], uncertainty)


def _warnings(a: Analysis) -> list[Diagnostic]:
    grid, fit, rows = a.study.grid, a.fit, a.frontier
    n_runs = int(np.isfinite(a.loss[a.pool]).sum())
    n_levels = len(np.unique(grid.cells(list(fit.law.inputs))[rows]))
    found: list[Diagnostic | None] = [
        checks.at_bound(fit),
        checks.ill_conditioned(fit),
        checks.too_few_levels(fit, n_levels),
    ]
    if set(fit.law.inputs) == {"N", "D"}:
        found.append(checks.collinear_design(grid.N[rows], grid.D[rows]))
    if a.influence is not None:
        label, _ = influence_target(grid, a.pool, a.loss, fit, a.options)
        found.append(checks.influential_point(a.influence, grid.C[rows], label))
    found.append(checks.lack_of_fit(fit, a.uncertainty))
    found += [checks.extrapolation_decades(p.target.label, p.decades) for p in a.predictions]
    found.append(checks.frontier_optimism(a.uncertainty, n_runs, fit.n_points))
    if {"N", "D"} <= set(grid.names):
        found.append(unbracketed(grid, a.pool, a.loss))
    return [d for d in found if d is not None]
