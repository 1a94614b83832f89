"""Rows of a surface that no run has shown: losses that follow from trunks, with joint errors.

Notation as in :mod:`lawsmith.surface.data`; r rows are inferred.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from lawsmith.arrays import AnyArray, FloatArray, IntArray
from lawsmith.surface.data import Observed, Points, RowTrunks
from lawsmith.surface.tail import compress


@dataclass(frozen=True, eq=False)
class Inferred:
    """r rows whose log loss was not observed but follows from something else, such as a trunk.

    y       (r,) log loss; cov (r, r) covariance of its errors, which need not be independent
    trunk   (r,) the trunk of each, -1 for none; of_runs (n,) the same of the runs beside them
    """

    scales: Mapping[str, AnyArray]
    hp: Mapping[str, AnyArray]
    y: FloatArray
    cov: FloatArray
    trunk: IntArray
    of_runs: IntArray

    def __len__(self) -> int:
        return len(self.y)


def with_inferred(data: Observed, more: Inferred) -> Observed:
    """The rows of both, in the frame of both; the top of the data is that of both too."""
    costs = data.frame.points(more.scales, more.hp).c
    shift = max(float(costs.max(initial=0.0)), 0.0)
    frame, old = replace(data.frame, log_top=data.frame.log_top + shift), data.points
    new = frame.points(more.scales, more.hp)
    reach = np.vstack([frame.reach, new.S[:, : frame.s]]).max(axis=0)
    frame = replace(frame, reach=reach)
    pairs = ((old.S, new.S), (old.U, new.U), (old.G, new.G), (old.c - shift, new.c))
    points = Points(*(np.concatenate(pair) for pair in pairs))
    k, r = len(data), len(more)
    y = np.concatenate([data.y, more.y])
    squeezed, extra = compress(points.S, y, np.zeros(k + r, dtype=np.bool_))
    of_runs = np.full(k, -1, dtype=np.int64) if data.trunks is None else data.trunks.of_row
    cov = np.zeros((k + r, k + r))
    cov[k:, k:] = more.cov
    return Observed(
        frame,
        points,
        np.concatenate([data.y, squeezed[k:]]),
        np.concatenate([data.n_runs, np.ones(r)]),
        np.concatenate([data.squares, np.zeros(r)]),
        np.concatenate([data.extra, extra[k:]]),
        np.concatenate([data.first, np.full(r, -1)]),
        cov,
        RowTrunks(np.concatenate([of_runs, more.trunk]), np.ones(k + r)),
    )
