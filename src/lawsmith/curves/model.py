"""All predictions from the curves of a study: of trunks, of unfinished runs, for the surface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lawsmith.arrays import AnyArray, FloatArray, IntArray, evenly_spaced
from lawsmith.curves.ends import scheduled_ends
from lawsmith.curves.records import Along, CurveFinding, End
from lawsmith.curves.trunks import (
    Trunks,
    fit_trunks,
    inferred_points,
    normal_cov,
    usable,
)
from lawsmith.grid import Grid
from lawsmith.runs import Runs
from lawsmith.surface import Inferred
from lawsmith.trajectory import Curve

NEAR_N = 0.005  # of N: how far it may be rounded
NEAR_D = 0.01
MAX_TRUNKS = 30  # trunks whose losses join the surface, at most
MAX_SHOWN = 60  # trunks whose predicted end is listed, at most


@dataclass(frozen=True, eq=False)
class CurveModel:
    """Make it with `fit_curves`.

    ends       of unfinished scheduled runs
    inferred   losses for the surface, and which runs share a trunk
    """

    known: Along
    trunks: Trunks
    ends: tuple[End, ...]
    inferred: Inferred
    notes: tuple[str, ...]

    def trunks_of(self, N: float, hp: Mapping[str, float | str]) -> list[int]:
        """The trunks of a size and hyperparameters; unknown hyperparameters of a trunk match."""
        sizes = {
            i: fitted.curve for i, fitted in self.trunks.fits.items() if _agree(fitted.curve, hp)
        }
        return nearest_size(sizes, N)

    def ends_of(self, N: float, D: float, hp: Mapping[str, float | str]) -> list[End]:
        """The predicted ends of unfinished scheduled runs of a size, at their tokens."""
        curves = {c.run: c for c in self.known.curves}
        return [
            end
            for end in self.ends
            if _same_size(end.N, N)
            and abs(np.log(end.D / D)) < NEAR_D
            and _agree(curves[end.run], hp)
        ]

    def finding(self, level: float) -> CurveFinding:
        gain, rows = self.trunks.gain, self.trunks.branches
        shown = list(self.trunks.fits)[:MAX_SHOWN]
        trunk_ends = (self.trunks.end(i, self.last_annealed(i), level) for i in shown)
        return CurveFinding(
            n_trunks=len(np.unique(rows.trunk)),
            n_branches=len(rows),
            gain=gain.typical,
            noise=float(np.exp(gain.eta[2])),
            share=self.trunks.share,
            n_rows=len(self.inferred),
            ends=(*trunk_ends, *self.ends),
            notes=self.notes,
        )

    def last_annealed(self, trunk: int) -> float:
        """Tokens at the end of a decay that leaves the trunk at its last loss."""
        return self.trunks.fits[trunk].curve.reached / (1.0 - self.trunks.share)


def nearest_size(curves: Mapping[int, Curve], N: float) -> list[int]:
    """The curves whose N is nearest to ``N``, among those that equal it up to rounding."""
    off = {i: abs(float(np.log(c.N / N))) for i, c in curves.items() if _same_size(c.N, N)}
    least = min(off.values(), default=np.inf)
    return [i for i, step in off.items() if step <= least + 1e-9]


def _same_size(a: float, b: float) -> bool:
    """Whether two N are equal up to rounding: 543M is 543,482,880, but not 543,900,000."""
    step = abs(float(np.log(a / b)))
    return step < 1e-6 or (step < NEAR_N and (_rounds_to(a, b) or _rounds_to(b, a)))


def _rounds_to(exact: float, short: float) -> bool:
    """Whether ``exact`` becomes ``short`` when it is rounded to the digits of that."""
    digits = next(k for k in range(1, 18) if float(f"{short:.{k}g}") == short)
    return float(f"{exact:.{digits}g}") == short


def _agree(curve: Curve, hp: Mapping[str, float | str]) -> bool:
    for name, value in hp.items():
        own = curve.hp.get(name)
        if own is None:
            continue
        if isinstance(own, str) or isinstance(value, str):
            if str(own) != str(value):
                return False
        elif not np.isclose(own, value, rtol=1e-6):
            return False
    return True


def fit_curves(
    known: Along, grid: Grid, runs: Runs, wanted: Sequence[float], level: float
) -> CurveModel:
    """The predictions from curves, beside ``runs``; ``known`` has the order of these.

    wanted   sizes N at which a loss is wanted
    """
    curves = known.curves
    able = {i: c for i, c in enumerate(curves) if usable(c)}
    asked = {i for N in wanted for i in nearest_size(able, N)}
    used = _spread([i for i in able if _complete(able[i], grid)], able)
    N, D = grid.N[runs.index], grid.D[runs.index]
    trunks = fit_trunks(known, N, D, runs.loss, sorted(asked | set(used)))
    ends, (y, cov), notes = scheduled_ends(curves, level)
    least_D = float(D[np.isfinite(runs.loss)].min())
    parts = [
        _of_trunks(trunks, set(used), least_D, grid),
        _of_ends(curves, ends, y, cov, grid),
        _of_finished(known, grid),
    ]
    inferred = _joined([part for part in parts if len(part)] or parts[:1], known.parent)
    return CurveModel(known, trunks, ends, inferred, notes)


def _spread(trunks: list[int], curves: Mapping[int, Curve]) -> list[int]:
    """At most MAX_TRUNKS of these trunks, spread evenly over N."""
    trunks = sorted(trunks, key=lambda i: (curves[i].N, i))
    return [trunks[i] for i in evenly_spaced(len(trunks), MAX_TRUNKS).tolist()]


def _names(grid: Grid) -> list[str]:
    return [axis.name for axis in grid.axes if axis.name not in ("N", "D", "C")]


def _complete(curve: Curve, grid: Grid) -> bool:
    """Whether the curve has all that a row of the surface needs."""
    return bool(np.isfinite(curve.N)) and all(name in curve.hp for name in _names(grid))


def _of_trunks(trunks: Trunks, used: set[int], least_D: float, grid: Grid) -> Inferred:
    of, D = inferred_points(trunks, least_D)
    kept = np.isin(of, sorted(used))
    of, D = of[kept], D[kept]
    annealed = trunks.predict(of, D)
    curves = [trunks.fits[i].curve for i in of.tolist()]
    return _inferred(curves, (D, annealed.mean, normal_cov(annealed)), of, grid)


def _of_ends(
    curves: Sequence[Curve], ends: Sequence[End], y: FloatArray, cov: FloatArray, grid: Grid
) -> Inferred:
    by_name = {c.run: c for c in curves}
    rows: IntArray = np.array(
        [i for i, end in enumerate(ends) if _complete(by_name[end.run], grid)], dtype=np.int64
    )
    found = [by_name[ends[i].run] for i in rows.tolist()]
    D = np.array([c.end for c in found])
    return _inferred(found, (D, y[rows], cov[np.ix_(rows, rows)]), None, grid)


def _of_finished(known: Along, grid: Grid) -> Inferred:
    """Ends of scheduled curves whose run is not in the table of runs."""
    listed = set(known.own.tolist())
    found = [
        c
        for i, c in enumerate(known.curves)
        if c.kind == "scheduled" and c.finished and i not in listed and _complete(c, grid)
    ]
    y, D = np.log([c.loss[-1] for c in found]), np.array([c.end for c in found])
    return _inferred(found, (D, y, np.zeros((len(y), len(y)))), None, grid)


def _inferred(
    curves: Sequence[Curve],
    losses: tuple[FloatArray, FloatArray, FloatArray],
    trunk: IntArray | None,
    grid: Grid,
) -> Inferred:
    """Rows of these curves; ``losses``: D, log loss and its covariance."""
    D, y, cov = losses
    N = np.array([c.N for c in curves], dtype=np.float64)
    hp: dict[str, AnyArray] = {
        name: np.array([c.hp[name] for c in curves], dtype=grid.columns[name].dtype)
        for name in _names(grid)
    }
    of = np.full(len(y), -1, dtype=np.int64) if trunk is None else trunk
    return Inferred({"N": N, "D": D}, hp, y, cov, of, np.arange(0))


def _joined(parts: Sequence[Inferred], of_runs: IntArray) -> Inferred:
    """One set of rows; errors of different kinds of curves are independent."""
    n = sum(len(part) for part in parts)
    cov, start = np.zeros((n, n)), 0
    for part in parts:
        stop = start + len(part)
        cov[start:stop, start:stop] = part.cov
        start = stop
    first = parts[0]
    return Inferred(
        {k: np.concatenate([part.scales[k] for part in parts]) for k in first.scales},
        {k: np.concatenate([part.hp[k] for part in parts]) for k in first.hp},
        np.concatenate([part.y for part in parts]),
        cov,
        np.concatenate([part.trunk for part in parts]),
        of_runs,
    )
