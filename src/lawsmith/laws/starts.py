"""Starting points of cold fits: variable projection on a grid of exponents.

Given its exponents, a sum of power terms is linear in its coefficients. Non-negative least squares
on relative residuals finds these exactly, so only the few exponents are searched on a grid.
Shapes as in :mod:`lawsmith.laws.law`; G grid points, K terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product

import numpy as np

from lawsmith.grid import BoolArray, FloatArray, IntArray
from lawsmith.laws.forms import SumOfPowers
from lawsmith.laws.law import LogPoints, Param

# Candidate exponents, evenly spaced in logs. Published ones lie between 0.05 and 0.4. A single
# exponent is searched in steps of 25 %, up to 2.2; several ones in steps of 55 %, up to 1.0, so
# that two exponents take 81 trials.
EXPONENTS_1D = 0.02 * 1.25 ** np.arange(22)
EXPONENTS_2D = 0.03 * 1.55 ** np.arange(9)
MAX_STARTS = 4  # local minima of the grid that become starts: the time of a fit grows with them
# Steps of 35 %, between the spacings of the two lists, halved in logs five times, down to 1 %.
ZOOMS, ZOOM_STEPS = 5, 1.35 ** np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
FAR_OFF = 0.04  # largest squared log residual that counts: 20 % of the loss


def sum_of_powers_starts(
    form: SumOfPowers,
    params: tuple[Param, ...],
    at: LogPoints,
    fixed: Mapping[int, float],
) -> FloatArray:
    """(S, p) the local minima of the grid, with projected coefficients.

    If a term vanishes at one of them, the exponents are refined: the valley towards E = 0 is long
    and curved in all parameters, but short in the exponents alone.
    """
    phi, shape = _exponent_grid(form, params, fixed)
    score, dropped = _project(form, phi, at, fixed)
    rows = _local_minima(score.reshape(shape))
    used = [j for j in _exponents(form) if j not in fixed]
    if not used or not dropped[rows].any():
        return phi[rows]
    return np.stack([_zoom(form, start, used, at, fixed) for start in phi[rows]])


def _exponents(form: SumOfPowers) -> list[int]:
    return sorted({power.exponent for term in form.terms for power in term.powers})


def _zoom(
    form: SumOfPowers,
    start: FloatArray,
    used: list[int],
    at: LogPoints,
    fixed: Mapping[int, float],
) -> FloatArray:
    """The best exponents near those of ``start`` (p,), on finer and finer grids."""
    steps = ZOOM_STEPS
    for _ in range(ZOOMS):
        factors = np.array(list(product(*[steps] * len(used))))
        phi = np.repeat(start[None], len(factors), axis=0)
        phi[:, used] = start[used] * factors
        start = phi[int(np.argmin(_project(form, phi, at, fixed)[0]))]
        steps = np.sqrt(steps)
    return start


def _exponent_grid(
    form: SumOfPowers, params: tuple[Param, ...], fixed: Mapping[int, float]
) -> tuple[FloatArray, tuple[int, ...]]:
    """phi (G, p) with exponents on the grid and coefficients 1, and the shape of the grid."""
    used = _exponents(form)
    values = EXPONENTS_1D if len([j for j in used if j not in fixed]) < 2 else EXPONENTS_2D
    choices = []
    for j in used:
        low, high = params[j].lower, params[j].upper
        both = np.concatenate([-values[::-1], values])
        inside = both[(both >= low) & (both <= high)]
        choices.append(np.array([fixed[j]]) if j in fixed else inside)
    phi = np.zeros((int(np.prod([len(c) for c in choices])), len(params)))
    phi[:, used] = np.array(list(product(*choices)))
    return phi, tuple(len(c) for c in choices)


def _project(
    form: SumOfPowers, phi: FloatArray, at: LogPoints, fixed: Mapping[int, float]
) -> tuple[FloatArray, BoolArray]:
    """Set the log coefficients of phi (G, p) to their non-negative least-squares values, in place.

    Returns a robust sum of squared log residuals, and whether any term was dropped, (G,) each.
    """
    phi[:, [term.coefficient for term in form.terms]] = 0.0
    for j, value in fixed.items():
        phi[:, j] = value
    relative = np.exp(form.logs(phi, at.x) - at.y)  # (K, G, n): terms over loss, coefficient 1
    held = [k for k, term in enumerate(form.terms) if term.coefficient in fixed]
    open_ = [k for k in range(len(form.terms)) if k not in held]
    target = np.broadcast_to(1.0 - relative[held].sum(axis=0), relative.shape[1:])
    c = _nonnegative(relative[open_].transpose(1, 0, 2), target, at.w)
    ratio = np.array(1.0 - target)
    for column, k in enumerate(open_):
        # A dropped term still needs a log: it becomes a negligible thousandth of the loss.
        kept = np.maximum(c[:, column], 1e-3 / relative[k].mean(axis=-1))
        phi[:, form.terms[k].coefficient] = np.log(kept)
        ratio += kept[:, None] * relative[k]
    score = (at.w * np.minimum(np.log(ratio) ** 2, FAR_OFF)).sum(axis=-1)
    return score, np.any(c <= 0, axis=1)


def _nonnegative(design: FloatArray, target: FloatArray, w: FloatArray) -> FloatArray:
    """(G, K) the c ≥ 0 that minimises Σ w(target − cᵀdesign)². K ≤ 3, so every support is tried."""
    n_grid, n_terms, _ = design.shape
    # Scaled by a power of two, which is exact: the squares of a term of 1e-170 would underflow.
    scale = np.exp2(np.clip(np.frexp(design.max(axis=-1))[1], -1000, 1000))
    near = design / scale[:, :, None]
    norm = np.sqrt((w * near**2).sum(axis=-1)) + 1e-300
    unit = near / norm[:, :, None]
    gram = (unit * w) @ unit.transpose(0, 2, 1)
    moment = (unit @ (w * target)[:, :, None])[:, :, 0]
    best, gain = np.zeros((n_grid, n_terms)), np.zeros(n_grid)
    for size in range(1, n_terms + 1):
        for support in combinations(range(n_terms), size):
            s = list(support)
            block = gram[:, s][:, :, s] + 1e-12 * np.eye(size)
            c = np.linalg.solve(block, moment[:, s, None])[:, :, 0]
            drop = (c * moment[:, s]).sum(axis=1)  # decrease of the sum of squares
            take = np.all(c >= 0, axis=1) & (drop > gain)
            best[take] = 0.0
            best[np.ix_(take, s)] = c[take]
            gain = np.where(take, drop, gain)
    return np.asarray(best / norm / scale)


def _local_minima(score: FloatArray) -> IntArray:
    """Flat positions of the grid's local minima (no neighbour on an axis is lower), best first."""
    lowest = np.ones(score.shape, dtype=bool)
    for axis in range(score.ndim):
        ahead = np.diff(score, axis=axis) < 0  # the next one is lower
        pad = [(0, 0)] * score.ndim
        pad[axis] = (0, 1)
        lowest &= ~np.pad(ahead, pad)
        pad[axis] = (1, 0)
        lowest &= np.pad(ahead, pad, constant_values=True) | (score <= 0)
    places = np.flatnonzero(lowest)
    if places.size == 0:
        places = np.array([int(np.argmin(score))])
    return places[np.argsort(score.ravel()[places], kind="stable")][:MAX_STARTS]


def spread_over_bounds(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """(S, p) points that cover the bounds (p,) evenly, for laws without starts of their own."""
    p = len(lower)
    # A Kronecker sequence with the generalised golden ratio covers any dimension evenly.
    ratio = 1.5
    for _ in range(40):
        ratio = (1 + ratio) ** (1 / (p + 1))
    steps = ratio ** -np.arange(1, p + 1)
    unit = (0.5 + np.outer(np.arange(1, 65), steps)) % 1.0
    return np.asarray(lower + unit * (upper - lower))
