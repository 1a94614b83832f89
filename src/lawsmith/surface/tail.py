"""Compression of the upper tail of losses: the exact loss of a poor run carries little information.

Notation as in :mod:`lawsmith.surface.data`.
"""

from __future__ import annotations

import numpy as np

from lawsmith.arrays import BoolArray, FloatArray

WIDTH = 0.05  # log loss above the best at no larger scale that is taken at face value
DIVERGED = 3.0  # a run without a loss counts as at least so many widths above that best
MANY_CELLS = 1500  # with more cells rows are binned, since each pair of cells is compared


def compress(S: FloatArray, y: FloatArray, diverged: BoolArray) -> tuple[FloatArray, FloatArray]:
    """(k,) log losses with the upper tail compressed, and the variance (k,) due to that.

    A well-tuned run with no smaller N and no smaller D is no worse, so the least loss among runs of
    no larger scale bounds the loss that a run could have reached. A loss more than WIDTH above that
    bound only shows that the run is poor. So the excess is compressed to at most WIDTH more, and
    its weight falls with it.
    """
    return _squeezed(y, np.minimum(y, _least_below(S, y)), diverged)


def compress_last(
    S: FloatArray, y: FloatArray, diverged: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """(1,) the result of `compress` for the last row, without work on the rows before it."""
    least = y[(S[-1] >= S).all(axis=1)].min(keepdims=True)
    return _squeezed(y[-1:], least, diverged[-1:])


def _squeezed(
    y: FloatArray, bound: FloatArray, diverged: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """`compress` of rows that could have reached ``bound``."""
    excess = np.where(diverged, np.maximum(y - bound, DIVERGED * WIDTH), y - bound)
    soft = np.minimum(excess, WIDTH) + WIDTH * np.tanh(np.maximum(excess - WIDTH, 0.0) / WIDTH)
    return np.asarray(bound + soft), variance_of(excess)


def variance_of(excess: FloatArray) -> FloatArray:
    """(k,) what compression adds to the variance of log losses that are so far above the best."""
    return np.asarray(np.maximum(excess - WIDTH, 0.0) ** 2)


def _least_below(S: FloatArray, y: FloatArray) -> FloatArray:
    """(k,) the least y among rows of no larger scale; rows are binned where there are many."""
    if not S.shape[1]:
        return np.full(len(y), y.min())
    step, keys = 0.0, S
    while True:
        cells, where = np.unique(keys, axis=0, return_inverse=True)
        if len(cells) <= MANY_CELLS:
            break
        step = 0.05 if step == 0.0 else 2.0 * step
        keys = np.floor(S / step)
    least = np.full(len(cells), np.inf)
    np.minimum.at(least, where.ravel(), y)
    below = np.ones((len(cells), len(cells)), dtype=np.bool_)
    for column in cells.T:
        below &= column[None, :] <= column[:, None]
    return np.asarray(np.where(below, least[None, :], np.inf).min(axis=1)[where.ravel()])
