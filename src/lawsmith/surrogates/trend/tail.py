"""The upper tail of the loss: far above what its scale can do, only the order of runs matters.

A run with a poor learning rate can have a loss several times that of the best; a model that takes
such losses at face value spends its flexibility on them. At its best, a run with no smaller N and
no smaller D is no worse. So the least loss among runs of no larger scale bounds what a run could
have reached; what lies more than ``width`` above that is compressed into as much again: the order
is kept, the scale is not.
"""

from __future__ import annotations

import numpy as np

from lawsmith.grid import FloatArray


def compress(scales: FloatArray, y: FloatArray, width: float) -> FloatArray:
    """(k,) log losses with the upper tail compressed, judged by each other; scales (s, k)."""
    no_larger = np.ones((len(y), len(y)), dtype=np.bool_)
    for s in scales:
        no_larger &= s[None, :] <= s[:, None]
    bound = np.where(no_larger, y[None, :], np.inf).min(axis=1)
    return np.asarray(bound + soft(y - bound, width))


def soft(excess: FloatArray, width: float) -> FloatArray:
    """The excess up to ``width``, then ever slower towards twice that; smooth at the border."""
    if np.isinf(width):
        return excess
    beyond = np.maximum(excess - width, 0.0)
    return np.asarray(np.minimum(excess, width) + width * np.tanh(beyond / width))
