"""The rows that a surface is fitted to: runs of one configuration averaged, and inferred losses.

Notation and shapes; coordinates as in :mod:`lawsmith.surface.frame`
    n runs → k rows (distinct configurations)
    y     (k,) mean log loss of a row's runs, with its upper tail compressed
    n_runs, squares (k,)  how many runs a row has; their squared deviations from the mean, summed
    first (k,) one of the runs of each row, by its place in the table; -1 for an inferred row
    extra (k,) variance of y beyond the noise of a run, where the tail was compressed
    cov   (k, k) covariance of errors of y beyond both, which inferred rows have; None without any
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from lawsmith.arrays import AnyArray, BoolArray, FloatArray, IntArray, cell_ids
from lawsmith.errors import LawsmithError
from lawsmith.surface.frame import Frame, Points, frame_of, stack
from lawsmith.surface.tail import compress


@dataclass(frozen=True, eq=False)
class Inferred:
    """r rows whose log loss was not observed but inferred from something else, such as a trunk.

    y       (r,) log loss; cov (r, r) covariance of its errors, which need not be independent
    trunk   (r,) the trunk of each row, -1 for none
    of_runs (n,) the trunk of each run of the study, -1 for none
    """

    scales: Mapping[str, AnyArray]
    hp: Mapping[str, AnyArray]
    y: FloatArray
    cov: FloatArray
    trunk: IntArray
    of_runs: IntArray

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True, eq=False)
class RowTrunks:
    """Which rows share a trunk, and how much of their noise they share with it.

    of_row   (k,) the trunk that a row is from, -1 for none
    tau      (k,) weight of that trunk under Student's t, small for an odd one; fitted
    common   share of the noise's variance that rows of one trunk have in common; fitted
    """

    of_row: IntArray
    tau: FloatArray
    common: float = 0.5

    @property
    def shares(self) -> FloatArray:
        """(k,) share of the noise's variance that a row has in common with its trunk."""
        return np.where(self.of_row >= 0, self.common, 0.0)


@dataclass(frozen=True, eq=False)
class Observed:
    """Rows that a surface is fitted to; see the module's notation."""

    frame: Frame
    points: Points
    y: FloatArray
    n_runs: FloatArray
    squares: FloatArray
    extra: FloatArray
    first: IntArray
    cov: FloatArray | None = None
    trunks: RowTrunks | None = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: IntArray | BoolArray) -> Observed:
        trunks = self.trunks
        if trunks is not None:
            trunks = replace(trunks, of_row=trunks.of_row[rows], tau=trunks.tau[rows])
        return Observed(
            self.frame,
            self.points.take(rows),
            self.y[rows],
            self.n_runs[rows],
            self.squares[rows],
            self.extra[rows],
            self.first[rows],
            None if self.cov is None else self.cov[rows][:, rows],
            trunks,
        )


def observe(
    scales: Mapping[str, AnyArray],
    loss: FloatArray,
    *,
    hp: Mapping[str, AnyArray] | None = None,
    kinds: Mapping[str, str] | None = None,
    diverged: BoolArray | None = None,
    frame: Frame | None = None,
    inferred: Inferred | None = None,
) -> Observed:
    """The rows of a table of runs, then the inferred rows.

    scales    columns among N, D, C; C beside N and D is only the cost of a run
    hp, kinds columns of hyperparameters and their kinds; by default 'log' for positive numbers,
              'linear' for other numbers, 'categorical' for text
    diverged  (n,) runs without a loss; a loss that is not finite counts as diverged too
    frame     how values become coordinates; by default that of these rows
    """
    hp = dict(hp or {})
    loss = np.asarray(loss, dtype=np.float64)
    lost = ~np.isfinite(loss) if diverged is None else ~np.isfinite(loss) | diverged
    if lost.all():
        raise LawsmithError("surface", got="no run with a loss", want="at least one")
    if not bool((loss[~lost] > 0.0).all()):
        raise LawsmithError("loss", got="a loss of 0 or less", want="losses above 0")
    # In a fixed order, so that the order of runs cannot change the last digit.
    order = np.lexsort((loss, *[np.asarray(v) for v in (*hp.values(), *scales.values())]))
    scales = {name: np.asarray(v, dtype=np.float64)[order] for name, v in scales.items()}
    hp = {name: np.asarray(v)[order] for name, v in hp.items()}
    loss, lost = loss[order], lost[order]
    if frame is None:
        frame = frame_of(*with_rows(inferred, scales, hp), np.flatnonzero(~lost), kinds or {})
    ids = cell_ids(
        [*[scales[n] for n in frame.names], *[hp[a.name] for a in frame.axes]], len(loss)
    )
    first = np.unique(ids, return_index=True)[1]
    points = frame.points(scales, hp).take(first)
    y, n_runs, squares, alone = _rows(ids, loss, lost)
    y, extra = compress(points.S, y, alone)
    data = Observed(frame, points, y, n_runs, squares, extra, order[first])
    return data if inferred is None else _with_inferred(data, inferred)


def _rows(
    ids: IntArray, loss: FloatArray, lost: BoolArray
) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
    """Mean log loss, number of runs, squared deviations, and which rows have no loss at all."""
    k = int(ids.max()) + 1
    done, log_loss = ids[~lost], np.log(loss[~lost])
    n = np.bincount(done, minlength=k).astype(np.float64)
    mean = np.bincount(done, weights=log_loss, minlength=k) / np.maximum(n, 1.0)
    squares = np.bincount(done, weights=(log_loss - mean[done]) ** 2, minlength=k)
    alone = n == 0.0
    mean[alone] = log_loss.max()
    return mean, np.maximum(n, 1.0), np.where(squares > 1e-18, squares, 0.0), alone


def with_rows(
    inferred: Inferred | None, scales: Mapping[str, AnyArray], hp: Mapping[str, AnyArray]
) -> tuple[Mapping[str, AnyArray], Mapping[str, AnyArray]]:
    """Scales and hyperparameters with inferred rows at their end.

    A frame must hold both: with the inferred rows, N and D need not lie on one line.
    """
    if inferred is None:
        return scales, hp
    # The cost of inferred rows is counted by the multiplier of the runs.
    more = {"C": np.ones(len(inferred)), **inferred.scales, **inferred.hp}
    both = {name: np.concatenate([v, more[name]]) for name, v in (*scales.items(), *hp.items())}
    return {name: both[name] for name in scales}, {name: both[name] for name in hp}


def _with_inferred(data: Observed, more: Inferred) -> Observed:
    """The rows of both, in the frame of both; the top of the data is that of both too."""
    costs = data.frame.points(more.scales, more.hp).c
    shift = max(float(costs.max(initial=0.0)), 0.0)
    frame, old = replace(data.frame, log_top=data.frame.log_top + shift), data.points
    new = frame.points(more.scales, more.hp)
    reach = np.vstack([frame.reach, new.S[:, : frame.s]]).max(axis=0)
    frame = replace(frame, reach=reach)
    points = stack([replace(old, c=old.c - shift), new])
    k, r = len(data), len(more)
    y = np.concatenate([data.y, more.y])
    squeezed, extra = compress(points.S, y, np.zeros(k + r, dtype=np.bool_))
    trunk = np.concatenate([more.of_runs[data.first], more.trunk])
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
        RowTrunks(trunk, np.ones(k + r)),
    )
