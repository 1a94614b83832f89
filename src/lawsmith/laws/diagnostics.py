"""What a reader of a fit must be warned of, each with a code a machine can read.

Every check is a function of finished fits and arrays that returns a Diagnostic or None.
Shapes as in :mod:`lawsmith.laws.law`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtri

from lawsmith.formats import flops, percent
from lawsmith.grid import FloatArray, IntArray
from lawsmith.laws.fit import LawFit, fit_batch
from lawsmith.laws.uncertainty import Uncertainty

CODES = (
    "at_bound",
    "ill_conditioned",
    "too_few_levels",
    "collinear_design",
    "influential_point",
    "lack_of_fit",
    "extrapolation_decades",
    "frontier_optimism",
    "isoflop_unbracketed",
)
MAX_CONDITION = 1e4
MIN_SPREAD = 0.05  # SD of log D at given log N below which N and D cannot be told apart
FAR_DECADES = 1.0


@dataclass(frozen=True)
class Diagnostic:
    """A warning: its code and one sentence with the numbers."""

    code: str
    message: str


def at_bound(fit: LawFit) -> Diagnostic | None:
    if not fit.at_bounds:
        return None
    values = ", ".join(f"{name} = {fit.params[name]:.3g}" for name in fit.at_bounds)
    return Diagnostic("at_bound", f"{values} sits at the edge of its range; read it as 'no limit'")


def ill_conditioned(fit: LawFit) -> Diagnostic | None:
    if fit.condition <= MAX_CONDITION:
        return None
    return Diagnostic(
        "ill_conditioned",
        f"condition number {fit.condition:.2g}: parameters trade off against each other, so "
        "trust predictions inside the data, not single parameters",
    )


def too_few_levels(fit: LawFit, n_levels: int) -> Diagnostic | None:
    n_free = int(fit.free.sum())
    if min(n_levels, fit.n_points) >= n_free + 3:
        return None
    return Diagnostic(
        "too_few_levels",
        f"{fit.n_points} points at {n_levels} levels for {n_free} free parameters: "
        "hardly anything is left to judge the fit by",
    )


def collinear_design(N: FloatArray, D: FloatArray) -> Diagnostic | None:
    """Whether tokens per parameter are so nearly fixed that N and D move as one."""
    n, d = np.log(N), np.log(D)
    if np.ptp(n) == 0 or np.ptp(d) == 0:
        which = "N" if np.ptp(n) == 0 else "D"
        return Diagnostic("collinear_design", f"{which} has one value: its term cannot be fitted")
    slope, intercept = np.polyfit(n, d, 1)
    spread = float(np.std(d - slope * n - intercept))
    if spread >= MIN_SPREAD:
        return None
    return Diagnostic(
        "collinear_design",
        f"D follows N (D ∝ N^{slope:.2f} within {max(100 * spread, 0.01):.2g}%): the terms of N "
        "and of D cannot be told apart, so L(N, D) is unidentifiable",
    )


@dataclass(frozen=True)
class Influence:
    """Leave-one-out: how the log loss predicted at the target moves without each point, (n,)."""

    shift: FloatArray
    standard_error: float

    @property
    def largest(self) -> int:
        return int(np.argmax(np.abs(self.shift)))


def influence(fit: LawFit, target: Mapping[str, float], uncertainty: Uncertainty) -> Influence:
    """Refit without each point at once (as weights of 0) and compare predictions at the target."""
    n = fit.n_points
    weights = np.where(np.eye(n, dtype=bool), 0.0, fit.weights)
    losses = np.broadcast_to(fit.loss, (n, n))
    fits = fit_batch(
        fit.law,
        fit.x,
        losses,
        start=fit.phi,
        weights=weights,
        objective=fit.objective,
        fixed=fit.fixed,
        tolerance=1e-6,
    )
    whole = np.log(fit.predict(target))
    interval = uncertainty.loss(target, 0.95)
    half = np.log(interval.high / interval.centre) / uncertainty.quantile(0.95)
    return Influence(fits.log_loss(target)[:, 0] - whole[0], float(half[0]))


def influential_point(found: Influence, where: FloatArray, target: str) -> Diagnostic | None:
    """``where`` (n,): the compute of each point, to name the point by."""
    worst = found.largest
    shift = float(found.shift[worst])
    if abs(shift) < max(found.standard_error, 0.005):
        return None
    return Diagnostic(
        "influential_point",
        f"without the point at {flops(where[worst])} FLOPs the prediction at {target} moves by "
        f"{100 * np.expm1(shift):+.2g}%",
    )


def lack_of_fit(fit: LawFit, uncertainty: Uncertainty | None) -> Diagnostic | None:
    """Residuals larger than noise, or with a curve left in them."""
    if uncertainty is None:
        return None
    if np.isfinite(uncertainty.misfit):
        limit = float(fdtri(max(uncertainty.dof, 1), 200, 0.99))
        if uncertainty.misfit > limit:
            times = np.sqrt(uncertainty.misfit)
            return Diagnostic(
                "lack_of_fit",
                f"residuals are {times:.1f}× what the runs' noise explains: the form misses "
                "something, and the intervals are widened by it",
            )
        return None
    curve = _curve_left(fit)
    if curve is None or curve[0] <= curve[1]:
        return None
    return Diagnostic(
        "lack_of_fit", f"the residuals still bend with scale (F = {curve[0]:.1f}): try another form"
    )


def _curve_left(fit: LawFit) -> tuple[float, float] | None:
    """F statistic, and its 99 % point, of squares of the log inputs added to the law."""
    _, jac = fit.law.form.value_and_jac(fit.phi[None], fit.x[:, None, :])
    base = (jac[0])[fit.free].T
    z = (fit.x - fit.x.mean(axis=1, keepdims=True)) / np.maximum(
        np.ptp(fit.x, axis=1)[:, None], 1e-12
    )
    extra = (z**2).T
    full = np.concatenate([base, extra], axis=1)
    n, rank = len(base), int(np.linalg.matrix_rank(full))
    added = rank - int(np.linalg.matrix_rank(base))
    if n - rank < 3 or added < 1:
        return None

    # Outliers are not a curve: residuals beyond 2.5 robust SDs are pulled in.
    limit = 2.5 * 1.4826 * max(float(np.median(np.abs(fit.residuals))), 1e-12)
    residual = np.clip(fit.residuals, -limit, limit)

    def squares(columns: FloatArray) -> float:
        solution = np.linalg.lstsq(columns, residual, rcond=None)[0]
        return float(((residual - columns @ solution) ** 2).sum())

    before, after = squares(base), squares(full)
    if after <= 1e-24:
        return None
    statistic = ((before - after) / added) / (after / (n - rank))
    return statistic, float(fdtri(added, n - rank, 0.99))


def extrapolation_decades(target: str, decades: float) -> Diagnostic | None:
    if decades <= FAR_DECADES:
        return None
    return Diagnostic(
        "extrapolation_decades",
        f"{target} lies {decades:.1f} decades beyond the largest compute in the data; the interval "
        "assumes that the form still holds there",
    )


def frontier_optimism(
    uncertainty: Uncertainty | None, n_runs: int, n_points: int
) -> Diagnostic | None:
    """Say how optimistic the frontier is, or that this could not be told."""
    if n_runs <= n_points or uncertainty is None:
        return None
    if not np.isfinite(uncertainty.noise_sd):
        return Diagnostic(
            "frontier_optimism",
            f"{n_points} frontier points are minima of {n_runs} runs; there are too few to tell "
            "noise from real differences, so their optimism is not corrected",
        )
    if abs(uncertainty.shift) < 2e-4:
        return None
    return Diagnostic(
        "frontier_optimism",
        f"the minimum of noisy runs is optimistic: frontier losses lie about "
        f"{percent(-uncertainty.shift)} below the true best (noise of a run "
        f"{percent(uncertainty.noise_sd)}); intervals are corrected for it, the fitted law is not",
    )


def isoflop_unbracketed(
    N: FloatArray, C: FloatArray, loss: FloatArray, level_of: IntArray
) -> Diagnostic | None:
    """IsoFLOP curves whose lowest point is at an end: their optimum lies outside what was run.

    One row per (N, D) cell; ``level_of`` numbers the compute levels.
    """
    open_, curves = 0, 0
    for level in np.unique(level_of):
        rows = np.flatnonzero(level_of == level)
        if len(rows) < 3:
            continue
        curves += 1
        order = rows[np.argsort(N[rows])]
        if int(np.argmin(loss[order])) in (0, len(order) - 1):
            open_ += 1
    if open_ == 0:
        return None
    return Diagnostic(
        "isoflop_unbracketed",
        f"{open_} of {curves} isoFLOP curves have their minimum at an end: the optimal N there "
        "lies outside the sizes that were run",
    )
