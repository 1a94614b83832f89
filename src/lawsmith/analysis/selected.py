"""The uncertainty of a law of a frontier that was selected from more runs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from lawsmith.analysis.design import inputs_at
from lawsmith.analysis.records import FitOptions
from lawsmith.datasets.records import Study
from lawsmith.frontier import floor, frontier_batch
from lawsmith.grid import FloatArray, Grid, IntArray
from lawsmith.laws.fit import LawFit
from lawsmith.laws.noise import MOST_RUNS, smooth_surface
from lawsmith.laws.selection import correct_selection
from lawsmith.laws.uncertainty import LAW_OF_FRONTIER, Uncertainty, law_uncertainty
from lawsmith.runs import Runs
from lawsmith.surrogates.inputs import axis_columns

ENOUGH_REPLICATES = 10  # degrees of freedom: the noise is then known to 1/√20, 22 %


def frontier_uncertainty(
    study: Study,
    pool: IntArray,
    rows: IntArray,
    loss: FloatArray,
    fit: LawFit,
    options: FitOptions,
) -> Uncertainty | None:
    """Student's t on least squares; corrected for selection where there was any and it can be told.

    rows: those of the pool that were fitted, in the order of the fit's points.
    """
    plain = law_uncertainty(fit)
    known = pool[np.isfinite(loss[pool])]
    if plain is None:
        return None
    if len(known) == fit.n_points:
        return _with_pure_error(plain, study.runs, rows, fit)
    plain = replace(plain, estimand=LAW_OF_FRONTIER)
    if options.priors or len(known) > MOST_RUNS:
        return plain
    grid = study.grid.subset(known)
    scale: list[str] = [name for name in ("N", "D") if name in grid.names] or ["C"]
    unit = study.grid.unit()[known]
    tuned = [unit[:, at] for name, at in axis_columns(study.grid).items() if name not in scale]
    h = np.concatenate([np.empty((len(known), 0)), *tuned], axis=1)
    surface = smooth_surface(
        np.log(loss[known]),
        np.ascontiguousarray(h[:, np.ptp(h, axis=0) > 0]),
        _log_block(grid, scale),
        grid.cells(scale),
        floor=lambda mean: floor(grid, mean, fit.law.inputs),
    )
    if surface is None:
        return plain
    sd, dof = study.runs.select(known).replicate_sd()
    if dof >= ENOUGH_REPLICATES:  # they show the noise itself, whatever the surface's shape
        surface = replace(surface, noise_sd=min(sd, surface.noise_sd), dof=dof)
    at = fit.law.natural(plain.phi)
    return correct_selection(
        plain,
        fit.law.log_inputs(inputs_at(grid, fit.law, np.arange(len(known))))[:, 0, :],
        loss[known],
        surface,
        lambda rows: partial(frontier_batch, grid.subset(rows), inputs=fit.law.inputs),
        rng=np.random.default_rng(options.seed),
        fixed={**fit.fixed, **{name: at[name] for name in plain.at_bounds}},
    )


def _with_pure_error(plain: Uncertainty, runs: Runs, rows: IntArray, fit: LawFit) -> Uncertainty:
    """The noise of a run by replicates, and how far the law's residuals exceed it.

    The textbook's test of lack of fit: Σ nᵢ rᵢ² / (m − p), of means of nᵢ replicates, over the
    replicates' pooled variance is F with m − p and Σ (nᵢ − 1) degrees of freedom.
    rows (m,): of the grid, in the order of the points.
    """
    sd, dof = runs.select(rows).replicate_sd()
    if dof == 0 or not sd > 0.0:
        return plain
    counts = runs.select(rows).replicate_counts(len(rows))
    residual = plain.law.form.value(plain.phi[None], fit.x[:, None, :])[0] - np.log(fit.loss)
    misfit = float((counts * residual**2).sum() / plain.dof) / sd**2
    return replace(plain, noise_sd=sd, noise_dof=dof, misfit=misfit)


def _log_block(grid: Grid, names: list[str]) -> FloatArray:
    """Logs of those columns, each scaled to the unit interval, (m, l)."""
    logs = np.log(np.stack([grid.numbers(name) for name in names], axis=1))
    spread = np.ptp(logs, axis=0)
    return np.asarray((logs - logs.min(axis=0)) / np.where(spread > 0, spread, 1.0))
