"""Plausible grids: joint draws of the runs not made, and the laws that they would give.

Notation and shapes
    m candidates, S draws, p parameters, q inputs of the law
    rows         (r,) the candidates that may lie on the envelope; the others cannot move a law
    surface      (S, r) joint draws of the surface at those, on the surrogate's scale
    phi          (S, p) the law of each plausible grid: what the dense grid might have given
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawsmith.frontier import frontier, frontier_batch, frontier_level
from lawsmith.grid import BoolArray, FloatArray, Grid, IntArray
from lawsmith.laws.fit import PointSet, fit_batch, fit_many
from lawsmith.laws.law import Law
from lawsmith.replay.steps import mixed_losses
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Posterior

WIDTH = 3.0  # deviations within which an unobserved loss is thought to lie
MOST_ROWS = 600  # of a draw; what is left out is the least likely to lie on the envelope


@dataclass(frozen=True, eq=False)
class Plausible:
    """Plausible grids and their laws.

    rows      (r,) candidates that may lie on the envelope, ascending
    surface   (S, r) draws of the surface there
    phi       (S, p) their laws; NaN where an envelope has too few points
    mixed     (p,) the law of the mixed grid
    """

    law: Law
    rows: IntArray
    surface: FloatArray
    phi: FloatArray
    mixed: FloatArray

    def log_losses(self, x: FloatArray) -> FloatArray:
        """(S,) log of each law's loss at log inputs x (q,), of the laws there are."""
        fitted = self.phi[np.isfinite(self.phi).all(axis=1)]
        return np.asarray(self.law.form.value(fitted, x[:, None, None])[:, 0])


def mixed_law(law: Law, grid: Grid, runs: Runs, posterior: Posterior) -> FloatArray | None:
    """(p,) phi of the law on Π of the mixed grid.

    None where that has too few points, or fantasies below 0, which no law has.
    """
    mixed = mixed_losses(len(grid), runs, posterior)
    rows = frontier(grid, mixed, law.inputs)
    if len(rows) < law.n_params or not (mixed[rows] > 0.0).all():
        return None
    inputs = {name: grid.numbers(name)[rows] for name in law.inputs}
    found: FloatArray = fit_many(law, [PointSet(inputs, mixed[rows])])[0]
    return found


def plausible_laws(
    law: Law,
    grid: Grid,
    runs: Runs,
    posterior: Posterior,
    n: int,
    rng: np.random.Generator,
    *,
    dof: float = np.inf,
) -> Plausible | None:
    """The laws of ``n`` plausible grids; None where even the mixed grid has too few points.

    ``dof`` finite draws surfaces of a Student process of so many degrees of freedom, and the noise
    of runs with twice as many: alike in the middle, with tails for a surrogate that is surer of
    itself than it should be, and for the lucky run that a minimum over many will pick.
    """
    mixed = mixed_law(law, grid, runs, posterior)
    if mixed is None:
        return None
    rows = rows_in_play(grid, runs, posterior, law.inputs)
    surface = _surfaces(posterior, rows, n, rng, dof)
    plain = np.isinf(dof)
    luck = rng.standard_normal(surface.shape) if plain else rng.standard_t(2 * dof, surface.shape)
    noise = np.broadcast_to(posterior.noise, (len(grid),))[rows]
    noisy = surface + noise * luck
    losses = np.exp(noisy) if posterior.scale == "log" else noisy
    draws = _with_observed(losses, len(grid), runs, rows)
    return Plausible(law, rows, surface, law_draws(law, grid.subset(rows), draws, mixed), mixed)


def noise_free_laws(law: Law, grid: Grid, plausible: Plausible, posterior: Posterior) -> FloatArray:
    """(S, p) phi of the law on Π of each plausible surface itself, without the noise of any run.

    What was observed is one noisy look at the surface, so a run that was lucky is not taken at
    its word: the selection of the minimum is undone as far as the surrogate sees through it.
    """
    part = grid.subset(plausible.rows)
    surface = plausible.surface
    losses = np.exp(surface) if posterior.scale == "log" else surface
    return law_draws(law, part, losses, plausible.mixed)


def _surfaces(
    posterior: Posterior, rows: IntArray, n: int, rng: np.random.Generator, dof: float
) -> FloatArray:
    """(n, r) joint draws of the surface at ``rows``, of a normal or a Student process."""
    surface = posterior.sample(n, rng, rows)
    if np.isinf(dof):
        return surface
    stretch = np.sqrt(dof / rng.chisquare(dof, size=n))
    mean = posterior.mean[rows]
    return np.asarray(mean + stretch[:, None] * (surface - mean))


def rows_in_play(
    grid: Grid, runs: Runs, posterior: Posterior, inputs: tuple[str, ...], most: int = MOST_ROWS
) -> IntArray:
    """(r,) rows that may lie on the envelope, ascending: observed ones and those that could be.

    A row is out when even its best plausible loss is above what another offers at its worst.
    """
    m = len(grid)
    mixed = _with_observed(posterior.loss[None], m, runs)[0]
    usable = np.isfinite(mixed)
    known = np.where(usable, mixed, 1.0)
    centre = np.where(usable, np.log(known) if posterior.scale == "log" else known, np.inf)
    spread = np.where(np.isfinite(runs.config_loss(m)), 0.0, posterior.sd)
    level = frontier_level(grid, centre + WIDTH * spread, inputs)
    rows = np.flatnonzero(usable & (centre - WIDTH * spread <= level))
    if len(rows) > most:
        above = (centre - frontier_level(grid, centre, inputs))[rows] / np.maximum(
            spread[rows], 1e-12
        )
        rows = np.sort(rows[np.argsort(above, kind="stable")[:most]])
    return rows


def law_draws(law: Law, grid: Grid, draws: FloatArray, start: FloatArray) -> FloatArray:
    """(S, p) phi of the law on Π of each plausible grid (S, m), warm from ``start`` (p,).

    NaN where a grid's envelope has too few points.
    """
    # A draw below 0, of a surrogate of the loss itself, is no loss that a law could have.
    draws = np.where(draws > 0.0, draws, np.nan)
    on = frontier_batch(grid, draws, law.inputs)
    phi = np.full((len(draws), law.n_params), np.nan)
    enough = np.flatnonzero(on.sum(axis=1) >= law.n_params)
    if len(enough):
        x, losses, weights = _padded(law, grid, draws[enough], on[enough])
        found = fit_batch(law, x, losses, start=start, weights=weights, tolerance=1e-7)
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


def _with_observed(
    losses: FloatArray, m: int, runs: Runs, rows: IntArray | None = None
) -> FloatArray:
    """(S, r) losses at ``rows`` (all m if none are said) with what is known put in."""
    at = np.arange(m) if rows is None else rows
    observed = runs.config_loss(m)[at]
    diverged = np.zeros(m, dtype=np.bool_)
    diverged[runs.of(State.DIVERGED).index] = True
    filled = losses.copy()
    filled[:, diverged[at]] = np.nan
    filled[:, np.isfinite(observed)] = observed[np.isfinite(observed)]
    return filled
