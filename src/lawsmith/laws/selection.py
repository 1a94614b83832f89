"""The selection bias of a frontier, which is a minimum of noisy runs, and its correction.

The minimum of noisy losses lies below the loss of the best configuration, the more so the more
runs nearly tie. Losses are redrawn around a smooth surface through the runs
(:mod:`lawsmith.laws.noise`) with the noise of a run. Each redraw goes through Π and the fit of the
law. The mean shift of the parameters from those of the surface's own frontier is the bias of the
selection. The same around each redraw (after smoothing it) gives the spread of the *corrected*
parameters, which includes the uncertainty of the correction.

Shapes as in :mod:`lawsmith.laws.law`; m candidates, B redraws, K redraws around each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from lawsmith.arrays import saturating
from lawsmith.grid import BoolArray, FloatArray, IntArray
from lawsmith.laws.fit import fit_batch, pad
from lawsmith.laws.law import Law
from lawsmith.laws.noise import NoiseSurface
from lawsmith.laws.objective import LEAST_SQUARES_LOG
from lawsmith.laws.optimise import GRADIENT_TOLERANCE
from lawsmith.laws.uncertainty import Uncertainty, scatter_covariance

Select = Callable[[FloatArray], BoolArray]  # losses (B, m) → on the frontier (B, m)
SelectAmong = Callable[[IntArray], Select]  # rows (r,) → Π restricted to them, (B, r) → (B, r)
# The error of a mean of 100 redraws is a tenth of a redraw's SD, which `_spread` adds. Four inner
# redraws are few; `_spread` subtracts their scatter. No number here was fitted to a study; they
# were chosen by coverage on drawn laws (docs/coverage.md).
N_REDRAWS, N_INNER = 100, 4
LEAST_NOISE = 0.02  # of the redraws' residual variance: an estimate of the noise is never 0
FAR_OUT = 3.0  # median lengths: one in ten thousand normal draws in three dimensions is farther


class _ShortFrontierError(Exception):
    """The frontier of a redraw has no more points than the law has parameters."""


class _Fits(NamedTuple):
    """Laws of B frontiers: parameters (B, p), variance of the residuals (B,), and points (B,)."""

    phi: FloatArray
    variance: FloatArray
    n: FloatArray


@dataclass(frozen=True)
class _Fitter:
    """Fits a law by least squares on log loss, starting from the parameters ``near`` (p,)."""

    law: Law
    fixed: Mapping[str, float]
    near: FloatArray

    @property
    def free(self) -> BoolArray:
        return self.law.free(self.fixed)

    def fit(self, x: FloatArray, losses: FloatArray, chosen: BoolArray) -> _Fits:
        """The law of each frontier ``chosen`` (B, m) of losses (B, m)."""
        n_free = int(self.free.sum())
        if np.any(chosen.sum(axis=1) <= n_free):
            raise _ShortFrontierError
        index, weights = pad(chosen)
        points, picked = x[:, index], np.take_along_axis(losses, index, axis=1)
        phi = self._phi(points, picked, weights, 1e-4)
        residual = (self.law.form.value(phi, points) - np.log(picked)) * weights
        n = weights.sum(axis=1)
        return _Fits(phi, (residual**2).sum(axis=1) / (n - n_free), n)

    def curve(self, x: FloatArray, losses: FloatArray) -> FloatArray:
        """(p,) the law nearest to a curve (1, n)."""
        return np.asarray(self._phi(x, losses)[0])

    def _phi(
        self,
        x: FloatArray,
        losses: FloatArray,
        weights: FloatArray | None = None,
        tolerance: float = GRADIENT_TOLERANCE,
    ) -> FloatArray:
        return fit_batch(
            self.law,
            x,
            losses,
            start=self.near,
            weights=weights,
            objective=LEAST_SQUARES_LOG,
            fixed=self.fixed,
            tolerance=tolerance,
        ).phi


@saturating
def correct_selection(
    plain: Uncertainty,
    x: FloatArray,
    losses: FloatArray,
    surface: NoiseSurface,
    among: SelectAmong,
    *,
    rng: np.random.Generator,
    fixed: Mapping[str, float] = MappingProxyType({}),
) -> Uncertainty:
    """The uncertainty of a law of the frontier of ``losses`` (m,), corrected for selection.

    plain   the uncertainty without the correction; returned if the frontier of a redraw has too few
            points for the law
    x       (q, m) log inputs
    fixed   parameters that are fixed, with their values
    """
    rows = np.flatnonzero(surface.near)
    select, near_x, mean = among(rows), x[:, rows], surface.mean[rows]

    def fit(log_losses: FloatArray) -> _Fits:
        """Π and the law for log losses of the near runs, (B, n_near)."""
        drawn = np.exp(log_losses)
        return fitter.fit(near_x, drawn, select(drawn))

    def redraw(mean: FloatArray) -> FloatArray:
        return np.asarray(mean + surface.noise_sd * rng.standard_normal(mean.shape))

    on = among(np.arange(len(losses)))(losses[None])
    fitter = _Fitter(plain.law, fixed, plain.phi)
    try:
        raw = fitter.fit(x, losses[None], on)
        fitter = replace(fitter, near=raw.phi[0])
        truth = fit(mean[None])
        noisy = redraw(np.broadcast_to(mean, (N_REDRAWS, len(rows))))
        outer = fit(noisy)
        smooth = surface.smooth(noisy)
        inner_truth = fit(smooth)
        inner = fit(redraw(np.repeat(smooth, N_INNER, axis=0)))
    except _ShortFrontierError:
        return plain
    plane = _Tangent.at(fitter, x[:, on[0]])
    base = plane.flat(truth.phi)[0]
    draws, below = (_pull_in(plane, f.phi, base) for f in (outer, inner_truth))
    around = _pull_in(plane, inner.phi, np.repeat(below, N_INNER, axis=0))
    around = around.reshape(N_REDRAWS, N_INNER, -1)
    bias = draws.mean(axis=0) - base
    corrected = draws - (around.mean(axis=1) - below)  # (B, p) the redraws after correction
    # The surface is fitted to noise, so it is rougher than the truth and has fewer near ties. Its
    # bias is therefore too small, by as much as the corrections of the redraws are too small.
    remaining = corrected.mean(axis=0) - base
    # The residuals of the redraws' fits, minus those of the surface's frontier, are noise alone.
    # Residuals beyond it are misfit of the law.
    redrawn = float(np.mean(outer.variance))
    noise = max(redrawn - float(truth.variance[0]), LEAST_NOISE * redrawn)
    observed = float(raw.variance[0])
    cov = _widened(_spread(corrected, around), observed, noise, plane)
    phi, cov = _from_plane(plane, raw.phi[0] - bias - remaining, cov)
    return replace(
        plain,
        phi=phi,
        cov=cov,
        dof=int(raw.n[0]) - int(fitter.free.sum()),
        method="least squares on log loss, selection undone, Student's t",
        misfit=observed / noise,
        residual_sd=float(np.sqrt(observed)),
        noise_sd=surface.noise_sd,
        noise_dof=surface.dof,
        shift=float((noisy - mean)[select(np.exp(noisy))].mean()),
    )


def _spread(corrected: FloatArray, inner: FloatArray) -> FloatArray:
    """Covariance of the correction (B, p), less the scatter of the few inner redraws (B, K, p)."""
    n_redraws, n_inner, p = inner.shape
    deviation = (inner - inner.mean(axis=1, keepdims=True)).reshape(-1, p)
    scatter = deviation.T @ deviation / (n_redraws * (n_inner - 1) * n_inner)
    # The bias and what remains of it are both means over the redraws: 2/n is their own error.
    whole = np.cov(corrected.T) * (1 + 2 / n_redraws)
    less = whole - scatter
    unit = np.sqrt(np.maximum(np.diag(whole), 1e-300))
    safe = np.linalg.eigvalsh(less / np.outer(unit, unit)).min() > -1e-9
    return np.asarray(less if safe and np.all(np.diag(less) >= 0) else whole)


@dataclass(frozen=True)
class _Tangent:
    """The law linearised at the fitter's parameters, on the points x of the frontier.

    E, A and α trade off along a curved valley. The curvature cancels in predictions, but not in
    means and covariances of phi itself; the tangent plane has no curvature.
    """

    fitter: _Fitter
    x: FloatArray  # (q, n)
    f: FloatArray  # (1, n) log loss there
    jac: FloatArray  # (p, n)
    inverse: FloatArray  # (n, p) change of the curve → change of phi, by least squares

    @classmethod
    def at(cls, fitter: _Fitter, x: FloatArray) -> _Tangent:
        f, jac = fitter.law.form.value_and_jac(fitter.near[None], x[:, None, :])
        inverse = np.zeros((f.shape[1], fitter.law.n_params))
        inverse[:, fitter.free] = np.linalg.pinv(jac[0][fitter.free].T, rcond=1e-12).T
        return cls(fitter, x, f, jac[0], inverse)

    def flat(self, draws: FloatArray) -> FloatArray:
        """Draws (B, p) → the point of the plane for the curve that each predicts."""
        curves = self.fitter.law.form.value(draws, self.x[:, None, :])
        return np.asarray(self.fitter.near + (curves - self.f) @ self.inverse)

    def length(self, steps: FloatArray) -> FloatArray:
        """Length (B,) of steps (B, p): the change of the curve."""
        return np.asarray(np.linalg.norm(steps @ self.jac, axis=1))


def _pull_in(plane: _Tangent, phi: FloatArray, centre: FloatArray) -> FloatArray:
    """Draws (B, p) in the plane, at most FAR_OUT median lengths from their centre.

    A redraw whose frontier lost an end point can bend away beyond it.
    """
    step = plane.flat(phi) - centre
    size = plane.length(step)
    limit = FAR_OUT * np.median(size)
    return np.asarray(centre + step * np.minimum(1, limit / np.maximum(size, 1e-300))[:, None])


def _widened(cov: FloatArray, observed: float, noise: float, plane: _Tangent) -> FloatArray:
    """The covariance of the redraws, adjusted to the observed residual variance.

    Misfit of the law is scatter on top of noise, so it adds the covariance of least squares. It
    does not multiply the part of runs that enter and leave the frontier.
    """
    if observed <= noise:
        return cov * (observed / noise)
    misfit = scatter_covariance(plane.jac, observed - noise, plane.fitter.free)
    return np.asarray(cov + misfit)


def _from_plane(plane: _Tangent, phi: FloatArray, cov: FloatArray) -> tuple[FloatArray, FloatArray]:
    """From the plane back to the law: the parameters of the corrected curve, and their covariance.

    After a large correction a point of the plane is far from the valley. The law nearest to its
    curve is in the valley, and its covariance is that of the curve.
    """
    curve = np.exp(plane.f + (phi - plane.fitter.near) @ plane.jac)
    nearest = plane.fitter.curve(plane.x, curve)
    tangent = _Tangent.at(replace(plane.fitter, near=nearest), plane.x)
    change = plane.jac @ tangent.inverse
    return nearest, np.asarray(change.T @ cov @ change)
