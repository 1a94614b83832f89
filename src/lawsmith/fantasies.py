"""Fantasies: the losses of runs not made, as a surrogate sees them, and the laws they would give.

Notation and shapes
    m candidates, S draws, p parameters
    mixed grid   observed losses where there are any, fantasized ones elsewhere
    draws        (S, m) plausible grids: what all runs might show, given those made
    phi          (S, p) the law of each plausible grid: what the dense grid might have given
"""

from __future__ import annotations

import numpy as np

from lawsmith.frontier import frontier_batch
from lawsmith.grid import BoolArray, FloatArray, Grid
from lawsmith.laws.fit import fit_batch
from lawsmith.laws.law import Law
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Posterior


def mixed_losses(m: int, runs: Runs, posterior: Posterior) -> FloatArray:
    """(m,) the mixed grid: observed losses where there are any, fantasized ones elsewhere.

    A configuration that diverged is known to be no use: NaN, which no frontier takes.
    """
    mixed: FloatArray = _with_observed(posterior.loss[None], m, runs)[0]
    return mixed


def grid_draws(runs: Runs, posterior: Posterior, n: int, rng: np.random.Generator) -> FloatArray:
    """(n, m) losses that all runs might show: observed ones, else a joint draw with run noise."""
    surface = posterior.sample(n, rng)
    noisy = surface + posterior.noise * rng.standard_normal(surface.shape)
    losses = np.exp(noisy) if posterior.scale == "log" else noisy
    return _with_observed(losses, surface.shape[1], runs)


def law_draws(law: Law, grid: Grid, draws: FloatArray, start: FloatArray) -> FloatArray:
    """(S, p) phi of the law on Π of each plausible grid, warm from ``start`` (p,).

    NaN where a grid's envelope has too few points.
    """
    on = frontier_batch(grid, draws, law.inputs)
    phi = np.full((len(draws), law.n_params), np.nan)
    enough = np.flatnonzero(on.sum(axis=1) >= law.n_params)
    if len(enough):
        x, losses, weights = _padded(law, grid, draws[enough], on[enough])
        found = fit_batch(law, x, losses, start=start, weights=weights, tolerance=1e-5)
        phi[enough] = found.phi
    return phi


def _padded(
    law: Law, grid: Grid, draws: FloatArray, on: BoolArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log inputs (q, S, n), losses and weights (S, n) of the envelopes, n the longest of them."""
    # A stable sort of "not on" brings each envelope's rows to the front, in order.
    rows = np.argsort(~on, axis=1, kind="stable")[:, : int(on.sum(axis=1).max())]
    weights = np.take_along_axis(on, rows, axis=1).astype(np.float64)
    losses = np.where(weights > 0, np.take_along_axis(draws, rows, axis=1), 1.0)
    x = np.stack([np.log(grid.numbers(name))[rows] for name in law.inputs])
    return x, losses, weights


def _with_observed(losses: FloatArray, m: int, runs: Runs) -> FloatArray:
    """(S, m) losses with what is known put in."""
    observed = runs.config_loss(m)
    seen = np.isfinite(observed)
    filled = losses.copy()
    filled[:, runs.of(State.DIVERGED).index] = np.nan
    filled[:, seen] = observed[seen]
    return filled
