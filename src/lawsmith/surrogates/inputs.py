"""What surrogates see of a grid: the unit cube's columns by kernel, and known names.

Notation and shapes
    d       columns of ``grid.unit()``: one a numeric axis, one a value of a categorical axis
    λ       the axes other than N and D
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np

from lawsmith.errors import LawsmithError, unknown
from lawsmith.grid import Grid
from lawsmith.surrogates.base import Scale

Kernel = Literal["matern", "linear", "matern+linear", "grouped"]
Priors = Literal["free", "lognormal", "gamma"]
KERNELS: tuple[str, ...] = get_args(Kernel)


def check_names(*, kernel: str = "matern", priors: str = "free", scale: str = "loss") -> None:
    """Refuse a kernel, a choice of priors or a scale that is not known."""
    for where, word, names in (
        ("kernel", kernel, get_args(Kernel)),
        ("priors", priors, get_args(Priors)),
        ("scale", scale, get_args(Scale)),
    ):
        if word not in names:
            raise unknown(where, word, names)


class KernelColumns(NamedTuple):
    """Columns of the unit cube that the linear and the Matérn part act on; () is no such part."""

    linear: tuple[int, ...]
    matern: tuple[int, ...]


def kernel_columns(grid: Grid, kernel: str) -> KernelColumns:
    """The columns of each part of ``kernel``; the covariance is the sum of the parts.

    'grouped' is k_lin(N, D) + k_5/2(λ); a grid without λ, or without N and D, has one part. Columns
    that never vary are left out: a prior scaled by the number of dimensions would count them.
    """
    check_names(kernel=kernel)
    if not grid.axes:
        raise LawsmithError("surrogate", got="a grid without axes", want="at least one axis")
    varies = np.ptp(grid.unit(), axis=0) > 0.0
    if not varies.any():  # a single row: any column will do
        varies[:] = True
    every = tuple(int(c) for c in np.flatnonzero(varies))
    names = grid.unit_names
    sizes = tuple(c for c in every if names[c] in ("N", "D"))
    parts = {
        "matern": KernelColumns((), every),
        "linear": KernelColumns(every, ()),
        "matern+linear": KernelColumns(every, every),
        "grouped": KernelColumns(sizes, tuple(c for c in every if c not in sizes)),
    }
    return parts[kernel]
