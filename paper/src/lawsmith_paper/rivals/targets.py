"""Targets of a model brought to mean 0 and SD 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawsmith.grid import FloatArray


@dataclass(frozen=True, eq=False)
class Standardised:
    """Targets as y = mean + sd·z; sd is 1 where the targets are constant, so that z is 0."""

    z: FloatArray
    mean: float
    sd: float


def standardised(y: FloatArray) -> Standardised:
    """``y`` (k,) brought to mean 0 and SD 1."""
    mean, sd = float(y.mean()), float(y.std())
    # A constant column's SD is only rounding, which must not be blown up to 1.
    if sd <= 1e-12 * max(abs(mean), np.finfo(float).tiny):
        return Standardised(np.zeros_like(y), mean, 1.0)
    return Standardised((y - mean) / sd, mean, sd)
