"""The trend: log loss as a law in the scale axes plus a drifting bowl in every hyperparameter.

Notation and shapes
    n, d   (m,) logs of N and D, each centred on the grid; C alone where there is neither
    u      (m,) log of a hyperparameter (or the value on a linear axis), centred on the grid

    ln L = ln(E + T) + Σ_λ b·e^(b_N·n + b_D·d)·(u − c − c_N·n − c_D·d)² + Σ effect of a category
    T    = ((A·e^(−αn))^(1/k) + (B·e^(−βd))^(1/k))^k

    theta  (p,) parameters, each on a scale on which a normal prior is sensible: ln E, (ln A, ln α),
           (ln B, ln β), ln k, then (ln b, c, c_N, c_D, b_N, b_D) for each hyperparameter, then
           effects
    J      (m, p) derivatives of ln L by theta

k = 1 is Chinchilla's sum of two terms, k → 0 the larger of the two; published surfaces lie between.
The priors are broad and come from the grid and the level of the loss alone: half the loss or so is
irreducible, exponents lie around 0.3 within a factor 2, a bowl costs per cents of loss an e-fold
within a factor of several, its centre lies somewhere on the grid and drifts less than the scale,
and it fades or deepens with scale by less than that: what multiplies the reducible part of the
loss matters less to the whole as that part shrinks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawsmith.grid import AnyArray, FloatArray, Grid, IntArray

EXPONENT, JOINT, BOWL, DRIFT, FADE, EFFECT = 0.3, 0.7, 0.02, 0.4, 0.15, 0.05


@dataclass(frozen=True, eq=False)
class Trend:
    """The trend on a grid and the normal prior of its parameters.

    scales      (s, m) centred logs of the scale axes
    bowls       (h, m) centred hyperparameters
    categories  (c, m) one row of 0 and 1 for each value of each categorical axis
    mean, sd    (p,) of the prior
    """

    scales: FloatArray
    bowls: FloatArray
    categories: FloatArray
    mean: FloatArray
    sd: FloatArray

    @property
    def n_law(self) -> int:
        """How many parameters the law has: E, two for each scale axis, and k to join two."""
        return 1 + 2 * len(self.scales) + (len(self.scales) > 1)

    @property
    def m(self) -> int:
        return int(self.scales.shape[1])

    def value_and_jac(
        self, theta: FloatArray, rows: IntArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """(k,) log loss at ``rows`` (all of them if none are said), and J (k, p)."""
        at: IntArray = np.arange(self.m) if rows is None else rows
        law, columns = self._law(theta, at)
        start = self.n_law
        total = law
        for u in self.bowls[:, at]:
            share, more = self._bowl(theta[start:], u, at)
            total, columns = total + share, [*columns, *more]
            start += 2 + 2 * len(self.scales)
        total = total + theta[start:] @ self.categories[:, at]
        return total, np.stack([*columns, *self.categories[:, at]], axis=1)

    def _law(self, theta: FloatArray, at: IntArray) -> tuple[FloatArray, list[FloatArray]]:
        """ln(E + T) and its derivatives, T the terms of the scale axes joined with exponent k."""
        E = np.exp(theta[0])
        n_scales = len(self.scales)
        if not n_scales:
            return np.full(len(at), theta[0]), [np.ones(len(at))]
        k = np.exp(theta[1 + 2 * n_scales]) if n_scales > 1 else 1.0
        scales = self.scales[:, at]
        exponents = np.exp(theta[2 : 2 + 2 * n_scales : 2])[:, None]
        z = (theta[1 : 1 + 2 * n_scales : 2][:, None] - exponents * scales) / k
        top = z.max(axis=0)
        joint = top + np.log(np.exp(z - top).sum(axis=0))
        share = np.exp(z - joint)  # (s, k) of each term in T
        T = np.exp(k * joint)
        weight = T / (E + T)
        slopes = [E / (E + T)]
        for part, exponent, scale in zip(share, exponents, scales, strict=True):
            slopes += [weight * part, -weight * part * exponent * scale]
        if n_scales > 1:
            slopes.append(weight * k * (joint - (share * z).sum(axis=0)))
        return np.log(E + T), slopes

    def _bowl(
        self, theta: FloatArray, u: FloatArray, at: IntArray
    ) -> tuple[FloatArray, list[FloatArray]]:
        """b·(u − centre)² and its derivatives by ln b, c, the drifts of c and those of ln b."""
        scales = self.scales[:, at]
        s = len(scales)
        b = np.exp(theta[0] + theta[2 + s : 2 + 2 * s] @ scales)
        off = u - theta[1] - theta[2 : 2 + s] @ scales
        slopes = [b * off**2, -2 * b * off, *(-2 * b * off * scales), *(b * off**2 * scales)]
        return b * off**2, slopes


def trend_on(grid: Grid, level: float) -> Trend:
    """The trend of a grid whose losses are about ``level``."""
    scales, bowls, categories = scales_of(grid), _bowls(grid), _categories(grid)
    n_scales = len(scales)
    mean, sd = [np.log(0.6 * level)], [0.5]
    mean += [np.log(0.15 * level), np.log(EXPONENT)] * n_scales
    sd += [1.0, 0.4] * n_scales
    if n_scales > 1:
        mean, sd = [*mean, np.log(JOINT)], [*sd, 0.5]
    for u in bowls:
        mean += [np.log(BOWL), 0.0] + [0.0] * 2 * n_scales
        sd += [1.5, float(np.ptp(u)) / 2] + [DRIFT] * n_scales + [FADE] * n_scales
    mean += [0.0] * len(categories)
    sd += [EFFECT] * len(categories)
    return Trend(scales, bowls, categories, np.array(mean), np.array(sd))


def scales_of(grid: Grid) -> FloatArray:
    """(s, m) centred logs of N and D where they vary, of C where there is neither."""
    names = [name for name in ("N", "D") if name in grid.names]
    columns = [np.log(grid.numbers(name)) for name in names] or [np.log(grid.C)]
    return _varying([_centred(column) for column in columns], len(grid))


def _bowls(grid: Grid) -> FloatArray:
    columns = []
    for axis in grid.axes:
        if axis.name in ("N", "D") or axis.kind == "categorical":
            continue
        values = grid.numbers(axis.name)
        # A linear axis is stretched over two units, about what a log axis spans in a study.
        width = float(np.ptp(values)) or 1.0
        column = np.log(values) if axis.kind == "log" else 2.0 * values / width
        columns.append(_centred(column))
    return _varying(columns, len(grid))


def _categories(grid: Grid) -> FloatArray:
    columns = []
    for axis in grid.axes:
        if axis.kind == "categorical":
            values: AnyArray = grid.column(axis.name)
            columns += [np.equal(values, level).astype(np.float64) for level in np.unique(values)]
    return _varying(columns, len(grid))


def _centred(column: FloatArray) -> FloatArray:
    return np.asarray(column - 0.5 * (column.min() + column.max()))


def _varying(columns: list[FloatArray], m: int) -> FloatArray:
    """(·, m) the columns that tell rows apart."""
    kept = [column for column in columns if np.ptp(column) > 0.0]
    return np.stack(kept) if kept else np.empty((0, m))
