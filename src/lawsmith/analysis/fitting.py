"""The law of the frontier of a study's runs, and its uncertainty."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from lawsmith.analysis.records import Analysis, FitOptions, HyperparameterLaw
from lawsmith.arrays import saturating
from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.frontier import frontier, frontier_batch, frontier_level
from lawsmith.grid import FloatArray, Grid, HeldOut, IntArray
from lawsmith.laws import diagnostics as checks
from lawsmith.laws.allocation import can_allocate
from lawsmith.laws.catalogue import HYPERPARAMETER
from lawsmith.laws.fit import fit_law
from lawsmith.laws.law import Law
from lawsmith.laws.noise import MOST_RUNS, smooth_surface
from lawsmith.laws.selection import correct_selection
from lawsmith.laws.uncertainty import LAW_OF_FRONTIER, Uncertainty, law_uncertainty

# A law of the best hyperparameters needs twice as many cells as it has parameters. With fewer than
# three runs per cell, nothing was tuned in it.
LEAST_CELLS, LEAST_RUNS_A_CELL = 6, 3
ENOUGH_REPLICATES = 10  # degrees of freedom: the noise is then known to 1/√20, 22 %


def split(grid: Grid, hold_out: HeldOut | None) -> tuple[IntArray, IntArray]:
    """(pool rows, held-out rows); without a rule all rows are in the pool."""
    if hold_out is None:
        return np.arange(len(grid)), np.arange(0)
    return grid.split(hold_out)


def fit_frontier(study: Study, pool: IntArray, options: FitOptions) -> Analysis:
    """An Analysis with the law of the frontier of the pool and its uncertainty, nothing more."""
    grid, law = study.grid, options.law
    loss = study.runs.config_loss(len(grid))
    rows = pool[frontier(grid.subset(pool), loss[pool], law.inputs)]
    check_design(study, law, rows, force=options.force)
    fit = fit_law(
        law,
        law.inputs_at(grid, rows),
        loss[rows],
        objective=options.objective,
        fixed=options.fixed,
    )
    a = Analysis(study, options, pool, np.arange(0), loss, rows, fit, None)
    return replace(a, uncertainty=_uncertainty(a))


def check_design(study: Study, law: Law, rows: IntArray, *, force: bool) -> None:
    grid = study.grid
    if len(rows) == 0:
        raise LawsmithError(study.name, got="no finished run", want="runs with a finite loss")
    for name in law.inputs:
        values = np.unique(grid.numbers(name)[rows])
        if len(values) == 1 and len(law.inputs) == 1:
            n_pool = np.isfinite(study.runs.config_loss(len(grid))).sum()
            raise LawsmithError(
                f"{law.name} on {study.name}",
                got=f"one level of {name} ({values[0]:.4g}) among {n_pool} finished",
                want="several levels",
            )
    if can_allocate(law) and not force:
        problem = checks.collinear_design(grid.N[rows], grid.D[rows])
        if problem is not None:
            raise LawsmithError(
                f"{law.name} on {study.name}: {problem.message}",
                hint="collinear_design; fit LC instead, or --force to fit all the same",
            )


def _uncertainty(a: Analysis) -> Uncertainty | None:
    """Student's t on least squares, corrected for the selection of the frontier if possible."""
    study, law, fit, known = a.study, a.law, a.fit, a.done
    plain = law_uncertainty(fit)
    if plain is None:
        return None
    if len(known) == fit.n_points:
        return _with_pure_error(plain, a)
    plain = replace(plain, estimand=LAW_OF_FRONTIER)
    if len(known) > MOST_RUNS:
        return plain
    grid, loss = study.grid.subset(known), a.loss[known]
    scale: list[str] = [name for name in ("N", "D") if name in grid.names] or ["C"]
    tuned = [name not in scale for name in study.grid.unit_names]
    h = study.grid.unit()[known][:, tuned]
    surface = smooth_surface(
        np.log(loss),
        np.ascontiguousarray(h[:, np.ptp(h, axis=0) > 0]),
        _log_block(grid, scale),
        grid.cells(scale),
        floor=lambda mean: frontier_level(grid, mean, law.inputs),
    )
    if surface is None:
        return plain
    sd, dof = study.runs.select(known).replicate_sd()
    if dof >= ENOUGH_REPLICATES:  # replicates show the noise without the surface's misfit
        surface = replace(surface, noise_sd=min(sd, surface.noise_sd), dof=dof)
    at = law.natural(plain.phi)
    return correct_selection(
        plain,
        law.log_inputs(law.inputs_at(grid, np.arange(len(known))))[:, 0, :],
        loss,
        surface,
        lambda rows: partial(frontier_batch, grid.subset(rows), inputs=law.inputs),
        rng=np.random.default_rng(a.options.seed),
        fixed={**fit.fixed, **{name: at[name] for name in plain.at_bounds}},
    )


def _with_pure_error(plain: Uncertainty, a: Analysis) -> Uncertainty:
    """``plain`` with the noise of a run from replicates, and how far the law's residuals exceed it.

    This is the textbook test of lack of fit: Σ nᵢ rᵢ² / (m − p), of means of nᵢ replicates, divided
    by the replicates' pooled variance, is F with m − p and Σ (nᵢ − 1) degrees of freedom.
    """
    fit, runs = a.fit, a.study.runs.select(a.frontier)  # in the order of the points
    sd, dof = runs.replicate_sd()
    if dof == 0 or not sd > 0.0:
        return plain
    counts = runs.replicate_counts(fit.n_points)
    residual = plain.law.form.value(plain.phi[None], fit.x[:, None, :])[0] - np.log(fit.loss)
    misfit = float((counts * residual**2).sum() / plain.dof) / sd**2
    return replace(plain, noise_sd=sd, noise_dof=dof, misfit=misfit)


def _log_block(grid: Grid, names: list[str]) -> FloatArray:
    """(m, l) logs of the columns ``names``, each scaled to the unit interval."""
    logs = np.log(np.stack([grid.numbers(name) for name in names], axis=1))
    spread = np.ptp(logs, axis=0)
    return np.asarray((logs - logs.min(axis=0)) / np.where(spread > 0, spread, 1.0))


@saturating
def hyperparameter_laws(
    grid: Grid, pool: IntArray, loss: FloatArray
) -> tuple[HyperparameterLaw, ...]:
    """λ*(N, D) of every positive numeric axis that was tuned in enough (N, D) cells."""
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
        inputs = HYPERPARAMETER.inputs_at(grid, rows)
        fit = fit_law(HYPERPARAMETER, inputs, values, fixed=fixed)
        laws.append(HyperparameterLaw(axis.name, fit, law_uncertainty(fit)))
    return tuple(laws)
