"""Bootstrap draws of a law: resampled points, sign-flipped residuals, or runs before Π.

They are offered because people know them; docs/coverage.md shows what each covers. Resampling
runs before Π shares the frontier's optimism and cannot undo it. B draws, shapes as in
:mod:`lawsmith.laws.law`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lawsmith.errors import unknown
from lawsmith.grid import BoolArray, FloatArray
from lawsmith.laws.fit import BatchFit, LawFit, fit_batch
from lawsmith.laws.law import Law
from lawsmith.laws.objective import Objective
from lawsmith.laws.selection import Select, pad

DRAW_TOLERANCE = 1e-4


def case_bootstrap(fit: LawFit, n_draws: int, rng: np.random.Generator) -> BatchFit:
    """Refit to points drawn with replacement (as weights, so every draw shares the points)."""
    n = fit.n_points
    counts = rng.multinomial(n, np.full(n, 1 / n), size=n_draws).astype(float)
    losses = np.broadcast_to(fit.loss, (n_draws, n))
    return _refit(fit, losses, counts * fit.weights)


def wild_bootstrap(fit: LawFit, n_draws: int, rng: np.random.Generator) -> BatchFit:
    """Refit to the law plus its residuals with random signs, leverage taken into account."""
    _, jac = fit.law.form.value_and_jac(fit.phi[None], fit.x[:, None, :])
    columns = (jac[0] * np.sqrt(fit.weights))[fit.free]
    basis = np.linalg.qr(columns.T)[0]
    leverage = np.minimum((basis**2).sum(axis=1), 0.999)
    residual = fit.residuals / np.sqrt(1 - leverage)
    signs = rng.choice([-1.0, 1.0], size=(n_draws, fit.n_points))
    losses = np.exp(np.log(fit.loss) + fit.residuals + signs * residual)
    return _refit(fit, losses, np.broadcast_to(fit.weights, losses.shape))


def runs_bootstrap(
    law: Law,
    x: FloatArray,
    losses: FloatArray,
    select: Select,
    *,
    start: FloatArray,
    objective: Objective,
    n_draws: int,
    rng: np.random.Generator,
) -> BatchFit:
    """Draw runs with replacement, take Π of what was drawn, refit. x (q, m), losses (m,)."""
    m = len(losses)
    drawn = rng.multinomial(m, np.full(m, 1 / m), size=n_draws) > 0
    batch = np.where(drawn, losses, np.inf)
    chosen = select(batch)
    enough: BoolArray = chosen.sum(axis=1) >= law.n_params
    index, weights = pad(chosen[enough])
    picked = np.take_along_axis(batch[enough], index, axis=1)
    picked = np.where(weights > 0, picked, 1.0)
    return fit_batch(
        law,
        x[:, index],
        picked,
        start=start,
        weights=weights,
        objective=objective,
        tolerance=DRAW_TOLERANCE,
    )


def percentiles(
    draws: BatchFit, function: Callable[[FloatArray], FloatArray], level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Percentile interval of a function of phi, (B, p) → (B, k)."""
    values = function(draws.phi)
    tail = (1 - level) / 2
    return np.quantile(values, tail, axis=0), np.quantile(values, 1 - tail, axis=0)


POINT_BOOTSTRAPS = {"case": case_bootstrap, "wild": wild_bootstrap}


def bootstrap(fit: LawFit, name: str, n_draws: int, rng: np.random.Generator) -> BatchFit:
    """The bootstrap of frontier points of that name: case or wild."""
    if name not in POINT_BOOTSTRAPS:
        raise unknown("bootstrap", name, POINT_BOOTSTRAPS)
    return POINT_BOOTSTRAPS[name](fit, n_draws, rng)


def _refit(fit: LawFit, losses: FloatArray, weights: FloatArray) -> BatchFit:
    return fit_batch(
        fit.law,
        fit.x,
        losses,
        start=fit.phi,
        weights=weights,
        objective=fit.objective,
        fixed=fit.fixed,
        tolerance=DRAW_TOLERANCE,
    )
