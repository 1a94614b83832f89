"""The upper tail of the loss: far above what its scale can do, a run says "poor" and little more.

A run with a poor learning rate can have a loss several times that of the best, or none at all; a
model that takes such losses at face value spends its flexibility on them, and one diverged run at
a new N would raise everything predicted there. At its best, a run with no smaller N and no smaller
D is no worse. So the least loss among runs of no larger scale bounds what a run could have
reached; what lies more than ``width`` above that is compressed into as much again, which keeps the
order of runs and not the scale, and is trusted the less the further above it lay.

Shapes: k observations, s scale axes.
"""

from __future__ import annotations

import numpy as np

from lawsmith.grid import BoolArray, FloatArray

DIVERGED = 3.0  # widths above its bound at least, for a run without a loss


def compress(
    scales: FloatArray, y: FloatArray, diverged: BoolArray, width: float
) -> tuple[FloatArray, FloatArray]:
    """(k,) log losses with the tail compressed, judged by each other, and (k,) variances.

    scales (s, k). The variance is what a target has beyond the noise of a run: the square of what
    was beyond ``width``; 0 for a loss taken at face value.
    """
    if np.isinf(width):
        return y, np.zeros(len(y))
    no_larger = np.ones((len(y), len(y)), dtype=np.bool_)
    for s in scales:
        no_larger &= s[None, :] <= s[:, None]
    bound = np.where(no_larger, y[None, :], np.inf).min(axis=1)
    excess = np.where(diverged, np.maximum(y - bound, DIVERGED * width), y - bound)
    beyond = np.maximum(excess - width, 0.0)
    return np.asarray(bound + soft(excess, width)), np.asarray(beyond**2)


def soft(excess: FloatArray, width: float) -> FloatArray:
    """The excess up to ``width``, then ever slower towards twice that; smooth at the border."""
    beyond = np.maximum(excess - width, 0.0)
    return np.asarray(np.minimum(excess, width) + width * np.tanh(beyond / width))
