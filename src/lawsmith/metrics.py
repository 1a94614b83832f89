"""How good a law is: the four metrics of the paper, and their values at given budgets.

Notation and shapes
    T           steps of a search; values (T,) hold a metric after each, NaN if there is none
    fraction    (T,) share of the pool's compute spent after each step, ascending
    regret      |θ − θ_ref| of one parameter, natural or log
    truth       rows of the true envelope, Π(pool)

All functions take arrays and mappings: none knows how the law was found.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from lawsmith.arrays import BoolArray, FloatArray
from lawsmith.errors import LawsmithError

_ROUNDING = 1e-12  # a sum of all costs over their total may miss 1 in the last digits


def regret(params: Mapping[str, float], reference: Mapping[str, float]) -> dict[str, float]:
    """|parameter − reference| by name, in the order of ``params``."""
    if set(params) != set(reference):
        got, want = ", ".join(params), ", ".join(reference)
        raise LawsmithError("regret", got=f"parameters {got}", want=f"those of the other: {want}")
    return {name: abs(value - reference[name]) for name, value in params.items()}


def mean_squared_error(
    predicted: FloatArray, loss: FloatArray, keep: BoolArray | None = None
) -> float:
    """Mean of (predicted − loss)² over all points or those to keep; NaN if there are none."""
    squares = (np.asarray(predicted) - np.asarray(loss)) ** 2
    kept = squares if keep is None else squares[keep]
    return float(kept.mean()) if len(kept) else float("nan")


def not_dominated(
    C: FloatArray, loss: FloatArray, pool_C: FloatArray, pool_loss: FloatArray
) -> BoolArray:
    """(h,) points whose loss is below every loss of the pool at no more compute.

    C, loss              (h,) the held-out points
    pool_C, pool_loss    (m,) the pool; a loss that is not finite dominates nothing
    """
    order = np.argsort(pool_C, kind="stable")
    known = np.where(np.isfinite(pool_loss), pool_loss, np.inf)[order]
    least = np.minimum.accumulate(np.concatenate([[np.inf], known]))
    beaten_by = least[np.searchsorted(pool_C[order], C, side="right")]
    return np.less(loss, beaten_by)


def recovery(rows: npt.ArrayLike, truth: npt.ArrayLike) -> float:
    """|rows ∩ truth| / |truth|: the share of the true envelope's configurations that was found."""
    want = np.unique(np.asarray(truth, dtype=np.int64))
    if not len(want):
        raise LawsmithError("envelope", got="no true frontier point", want="at least one")
    return float(np.isin(want, np.asarray(rows, dtype=np.int64)).mean())


def difference_percent(predicted: float, reference: float) -> float:
    """100·(predicted/reference − 1): positive where the loss is predicted too high."""
    return 100.0 * (predicted / reference - 1.0)


def value_at(fraction: npt.ArrayLike, values: npt.ArrayLike, budgets: npt.ArrayLike) -> FloatArray:
    """(n,) the value after the last step within each budget (n,); NaN before the first step."""
    spent, metric = np.asarray(fraction, dtype=np.float64), np.asarray(values)
    if spent.ndim != 1 or spent.shape != metric.shape:
        got = f"fractions and values of shapes {spent.shape} and {metric.shape}"
        raise LawsmithError("trace", got=got, want="one value a step")
    if not (np.diff(spent) >= 0.0).all():
        raise LawsmithError("trace", got="a spend that falls", want="fractions in ascending order")
    limits = np.atleast_1d(np.asarray(budgets, dtype=np.float64)) + _ROUNDING
    step = np.searchsorted(spent, limits, side="right")
    return np.concatenate([[np.nan], metric.astype(np.float64)])[step]
