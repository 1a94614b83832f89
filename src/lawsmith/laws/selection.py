"""The optimism of a frontier: what taking the minimum of noisy runs does to a law, and its undoing.

Losses are redrawn around a smooth surface with the noise of a run, each redraw goes through Π
and the law's fit, and the mean shift of the parameters against the noise-free frontier is the
bias that selection caused. The same redraws give the parameters' covariance with selection
inside it. Shapes as in :mod:`lawsmith.laws.law`; m candidates, B redraws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lawsmith.grid import BoolArray, FloatArray
from lawsmith.laws.fit import fit_batch
from lawsmith.laws.law import Law
from lawsmith.laws.noise import Surface
from lawsmith.laws.objective import LEAST_SQUARES_LOG

Select = Callable[[FloatArray], BoolArray]  # losses (B, m) → on the frontier (B, m)


@dataclass(frozen=True)
class Optimism:
    """How selection distorts the law fitted to a frontier."""

    noise_sd: float  # of one run's log loss
    dof: int  # behind noise_sd
    shift: float  # mean of frontier log loss minus the noise-free surface's, below 0
    bias: FloatArray  # (p,) of phi
    cov: FloatArray  # (p, p) of phi, selection included
    residual_sd: float  # what the redraws' own fits leave, to compare with the observed fit's


def estimate_optimism(
    law: Law,
    x: FloatArray,
    surface: Surface,
    select: Select,
    *,
    start: FloatArray,
    rng: np.random.Generator,
    n_draws: int = 200,
) -> Optimism | None:
    """Redraw, select, refit. x (q, m) log inputs of all candidates; start (p,).

    None when the surface's own frontier is too short for the law.
    """
    rows = np.flatnonzero(surface.near)
    mean = surface.mean[rows]
    base = np.full((1, len(surface.mean)), np.inf)
    base[0, rows] = np.exp(mean)
    clean = select(base)
    if clean.sum() <= law.n_params:
        return None
    draws = np.full((n_draws, len(surface.mean)), np.inf)
    noise = surface.noise_sd * rng.standard_normal((n_draws, len(rows)))
    draws[:, rows] = np.exp(mean + noise)
    chosen = select(draws)
    enough = chosen.sum(axis=1) > law.n_params
    if enough.mean() < 0.9:
        return None
    start = _fit(law, x, base, clean, start).phi[0]
    fits = _fit(law, x, draws[enough], chosen[enough], start)
    phi, weights, y = fits.phi, fits.weights, fits.y
    centre = np.median(phi, axis=0)
    residual = (law.form.value(phi, fits.x) - y) * weights
    dof = np.maximum(weights.sum(axis=1) - law.n_params, 1)
    shift = (np.log(draws[chosen]) - np.broadcast_to(surface.mean, chosen.shape)[chosen]).mean()
    return Optimism(
        noise_sd=surface.noise_sd,
        dof=surface.dof,
        shift=float(shift),
        bias=centre - start,
        cov=np.cov(phi.T),
        residual_sd=float(np.sqrt(((residual**2).sum(axis=1) / dof).mean())),
    )


@dataclass(frozen=True)
class _Fits:
    phi: FloatArray  # (B, p)
    x: FloatArray  # (q, B, n)
    y: FloatArray  # (B, n) log losses
    weights: FloatArray  # (B, n)


def _fit(law: Law, x: FloatArray, losses: FloatArray, chosen: BoolArray, start: FloatArray) -> _Fits:
    """Least-squares fits on a frontier each, shorter ones padded with weight 0."""
    index, weights = pad(chosen)
    picked = np.take_along_axis(losses, index, axis=1)
    picked = np.where(weights > 0, picked, 1.0)
    points = x[:, index]
    fits = fit_batch(
        law, points, picked, start=start, weights=weights, objective=LEAST_SQUARES_LOG
    )
    return _Fits(fits.phi, points, np.log(picked), weights)


def pad(chosen: BoolArray) -> tuple[np.ndarray, FloatArray]:
    """Masks (B, m) → column indices (B, n) and weights (B, n), 1 for real points, 0 for padding."""
    n = int(chosen.sum(axis=1).max())
    index = np.argsort(~chosen, axis=1, kind="stable")[:, :n]
    return index, np.take_along_axis(chosen, index, axis=1).astype(float)
