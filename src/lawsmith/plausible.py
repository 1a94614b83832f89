"""Bounds of plausible losses, scales and settings; values outside are refused before use.

The bounds are wide enough for any unit (parameters in billions, compute in PF-days, perplexities)
and narrow enough that products, squares and logarithms stay far from the limits of float64.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Bounds:
    """Numbers from ``low`` to ``high``; with ``signed``, of either sign, and 0.

    name    what kind of number it is; ``of`` is what has it
    """

    name: str
    of: str
    low: float
    high: float
    signed: bool = False

    def contains(self, values: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Which ``values`` are inside; NaN is not."""
        x = np.asarray(values, dtype=np.float64)
        size = np.abs(x) if self.signed else x
        inside = (size >= self.low) & (size <= self.high)
        return np.asarray(inside | (x == 0.0) if self.signed else inside)

    @property
    def want(self) -> str:
        """The text of an error: what is wanted."""
        ends = f"{self.low:g} to {self.high:g}".replace("e+0", "e").replace("e+", "e")
        ends = ends.replace("e-0", "e-")
        size = " in size" if self.signed else ""
        return f"{self.name} that a {self.of} can have, {ends}{size}"

    def want_for(self, value: float) -> str:
        """The same for ``value``: with the range only if ``value`` is out of range."""
        kind = np.isfinite(value) and (self.signed or value > 0.0)
        return self.want if kind else self.name


LOSS = Bounds("a loss above 0", "run", 1e-9, 1e9)
SIGNED_LOSS = Bounds("a loss", "run", 1e-12, 1e9, signed=True)
SCALE = Bounds("a number above 0", "run", 1e-12, 1e45)
SETTING = Bounds("a number", "setting", 1e-45, 1e45, signed=True)
RATE = Bounds("a rate from 0", "run", 0.0, 1e45)
