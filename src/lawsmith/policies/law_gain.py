"""What a run is expected to tell about the law: its share of the variance of the law's prediction.

Notation and shapes
    S draws, r rows in play, m candidates; f (S, r) draws of the surface, ℓ (S,) log loss that the
    law of each plausible grid predicts at the target
    gain(x) = Cov(f(x), ℓ)² / ((Var f(x) + σ²) · Var ℓ)

That is the share of Var ℓ which one run at x, with noise σ, is expected to remove, exactly so where
f(x) and ℓ are jointly normal. A correlation of S draws has a square of 1/S where there is none;
that much is subtracted.
"""

from __future__ import annotations

import numpy as np

from lawsmith.fantasies import Plausible
from lawsmith.grid import FloatArray

TRIM = 4.0  # robust deviations; a law far out is a fit that slipped, and would outvote the rest


def law_gain(plausible: Plausible, x: FloatArray, noise: float, m: int) -> FloatArray:
    """(m,) share of the variance of the law's prediction at log inputs x (q,) that a run removes.

    ``noise`` is the SD of a run on the scale of the surface. 0 for rows that are not in play.
    """
    gain = np.zeros(m)
    fitted = np.isfinite(plausible.phi).all(axis=1)
    if fitted.sum() < 8:
        return gain
    f, ell = plausible.surface[fitted], _trimmed(plausible.log_losses(x))
    f, ell = f - f.mean(axis=0), ell - ell.mean()
    n = len(ell)
    variance = float(ell @ ell) / n
    if variance <= 0.0:
        return gain
    shared = (ell @ f / n) ** 2 / ((f**2).mean(axis=0) + noise**2) / variance
    gain[plausible.rows] = np.maximum(shared - 1.0 / n, 0.0)
    return gain


def _trimmed(ell: FloatArray) -> FloatArray:
    middle = np.median(ell)
    spread = 1.4826 * float(np.median(np.abs(ell - middle)))
    return np.clip(ell, middle - TRIM * spread, middle + TRIM * spread) if spread > 0 else ell
