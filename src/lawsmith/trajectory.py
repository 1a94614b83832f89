"""Curve: the losses along one run, thinned, with its learning rate if known.

Notation and shapes
    D, loss   (n,) tokens, ascending, and the loss there
    kind      'trunk' (no decay yet) or 'scheduled' (a schedule to a fixed end)
    path      the learning rate by tokens; beyond the last loss it is the plan
    S         (k,) ∫ lr dD from the first row on, at the k knots of a path

A curve is thinned in ln D: losses are averaged in bins of equal width, as logs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from lawsmith.arrays import FloatArray

Kind = Literal["trunk", "scheduled"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MOST_POINTS = 48  # of a curve: 16 per decade of tokens, over three decades
MOST_KNOTS = 400  # of a learning rate's path: a cosine is then exact to 2e-5 of its peak


@dataclass(frozen=True, eq=False)
class RatePath:
    """The learning rate at knots, (k,) each; between them it changes linearly in D."""

    D: FloatArray
    lr: FloatArray
    S: FloatArray


@dataclass(frozen=True, eq=False)
class Curve:
    """Losses along one run; see the module's notation.

    N     parameters of the run, NaN if not known
    hp    other columns of the run by name, such as a batch size
    """

    run: str
    kind: Kind
    D: FloatArray
    loss: FloatArray
    path: RatePath | None = None
    N: float = np.nan
    hp: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def reached(self) -> float:
        """Tokens at the last loss, 0 without one."""
        return float(self.D[-1]) if len(self.D) else 0.0

    @property
    def end(self) -> float:
        """Tokens at the end of the run: of the plan if there is one, else at the last loss."""
        return self.reached if self.path is None else max(self.reached, float(self.path.D[-1]))

    @property
    def finished(self) -> bool:
        """Whether the last loss is the loss at the end."""
        return self.reached >= (1.0 - 1e-9) * self.end

    @property
    def rate(self) -> float:
        """The median learning rate; NaN if not known."""
        return np.nan if self.path is None else float(np.median(self.path.lr))


def curve(
    run: str,
    kind: Kind,
    D: FloatArray,
    loss: FloatArray,
    lr: FloatArray | None = None,
    *,
    N: float = np.nan,
    hp: Mapping[str, float | str] | None = None,
) -> Curve:
    """The thinned curve of a run's rows, in any order; a loss is NaN if there is none yet."""
    order = np.argsort(D, kind="stable")
    D, loss = D[order], loss[order]
    known = np.isfinite(loss)
    path = None
    if lr is not None and np.isfinite(lr).sum() >= 2:
        rate = lr[order]
        planned = np.isfinite(rate)
        path = rate_path(D[planned], rate[planned])
    at, values = thin(*_merged(D[known], np.log(loss[known])))
    return Curve(run, kind, at, np.exp(values), path, N, hp or {})


def _merged(D: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Distinct D, ascending, and the mean of the values at each: resumed runs repeat some."""
    at, which = np.unique(D, return_inverse=True)
    return at, np.bincount(which, weights=values, minlength=len(at)) / np.bincount(which)


def thin(
    D: FloatArray, values: FloatArray, most: int = MOST_POINTS
) -> tuple[FloatArray, FloatArray]:
    """Means of ln D (as D) and of ``values`` in at most ``most`` bins of ln D; D ascending.

    The last row is kept exactly, because extrapolation starts there.
    """
    if len(D) <= most:
        return D, values
    x = np.log(D)
    edges = np.linspace(x[0], x[-1], most)
    where = np.searchsorted(edges, x, side="right") - 1  # the last row has its own bin
    n = np.bincount(where, minlength=most)
    some = n > 0
    at, mean = (np.bincount(where, weights=v, minlength=most)[some] / n[some] for v in (x, values))
    # Exact to the last bit: a branch at the end of a curve must not lie beyond it.
    return np.append(np.exp(at[:-1]), D[-1]), mean


def rate_path(D: FloatArray, lr: FloatArray, most: int = MOST_KNOTS) -> RatePath:
    """The path through all rows, with knots that are dense where the rate changes."""
    S = np.concatenate([[0.0], np.cumsum(0.5 * (lr[1:] + lr[:-1]) * np.diff(D))])
    if len(D) > most:
        way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(lr)))]) / max(np.ptp(lr), 1e-300)
        travel = (D - D[0]) / (D[-1] - D[0]) + way
        picked = np.searchsorted(travel, np.linspace(0.0, travel[-1], most))
        kept = np.unique(np.clip(picked, 0, len(D) - 1))
        D, lr, S = D[kept], lr[kept], S[kept]
    return RatePath(D, lr, S)
