"""The trunks of a study together: annealed losses that follow from them, with joint errors.

Notation as in :mod:`lawsmith.curves.gain`. A run of D tokens leaves its trunk at b = D·(1 − share).
A branch without a branch point has the median share of the others, or USUAL_SHARE if none has one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from lawsmith.arrays import BoolArray, FloatArray, IntArray, evenly_spaced
from lawsmith.curves.gain import AnnealedLoss, Centre, Gain, Rows, fit_gain
from lawsmith.curves.records import Along, End
from lawsmith.curves.trunk import LEAST_POINTS, TrunkCurve, fit_trunk
from lawsmith.trajectory import Curve

MOST_TRUNKS, MOST_BRANCHES = 60, 240  # that a gain is learnt from
N_ROWS = 6  # losses that are inferred of a trunk, at most
AWAY = 1.25  # factor of D about a trunk's branches within which it infers no loss
USUAL_SHARE = 0.1  # of a run that is decay
SMALL = 1e-9


@dataclass(frozen=True, eq=False)
class Trunks:
    """Smoothed trunks by index of their curve, and the gain of a decay; make it with `fit_trunks`.

    share    of decay that a target is assumed to have
    hp       (c, h) coordinates of the hyperparameters of all curves
    """

    fits: Mapping[int, TrunkCurve]
    gain: Gain
    share: float
    hp: FloatArray

    @property
    def branches(self) -> Rows:
        """Runs that were branched from trunks, of which the gain was learnt."""
        return self.gain.rows

    def away_from_branches(self, trunk: int, D: FloatArray) -> BoolArray:
        """(q,) whether runs of D tokens lie away from the branches that the trunk has."""
        own = np.exp(self.branches.log_D[self.branches.trunk == trunk])
        if not len(own):
            return np.ones(len(D), dtype=np.bool_)
        return np.asarray((own.min() / AWAY > D) | (own.max() * AWAY < D))

    def tried(self, trunk: int) -> bool:
        """Whether the hyperparameters of a trunk lie among those of trunks with branches."""
        return not self.gain.centre.untried(self.hp[[trunk]], self.branches.hp).any()

    def predict(self, trunk: IntArray, D: FloatArray) -> AnnealedLoss:
        """The annealed log losses of runs of D tokens on these trunks, jointly."""
        log_N = np.log([self.fits[i].curve.N for i in trunk.tolist()])
        at = Rows(trunk, log_N, np.log(D), np.full(len(D), self.share), self.hp[trunk])
        # Of the branches only those on the same trunks have errors in common with the targets.
        near = np.flatnonzero(np.isin(self.branches.trunk, trunk))
        n = len(near)
        t, T = at_branch_points(self.fits, self.branches.take(near).join(at))
        cross = np.zeros((len(D), len(self.branches)))
        cross[:, near] = T[n:, :n]
        return self.gain.predict(at, t[n:], T[n:, n:], cross)

    def end(
        self, trunk: int, D: float, level: float, *, more: tuple[float, float] = (0.0, 0.0)
    ) -> End:
        """The loss after a decay that ends at D; ``more``: log loss to add, and its variance."""
        curve = self.fits[trunk].curve
        annealed = self.predict(np.array([trunk]), np.array([D]))
        mean, df = float(annealed.mean[0]) + more[0], float(annealed.df[0])
        scale2 = float(annealed.cov[0, 0]) + more[1] / float(as_normal(annealed.df)[0]) ** 2
        return end_of(curve, D, mean, scale2, float(annealed.noise[0]), df, level)


def end_of(
    curve: Curve, D: float, mean: float, scale2: float, noise: float, df: float, level: float
) -> End:
    """An End whose log loss is Student's t."""
    q = float(stdtrit(df, 0.5 + level / 2))
    half, run = q * np.sqrt(scale2), q * np.sqrt(scale2 + noise)
    ends = (float(np.exp(mean + step)) for step in (-half, half, -run, run))
    return End(curve.run, curve.kind, curve.N, D, float(np.exp(mean)), *ends)


def usable(curve: Curve) -> bool:
    return curve.kind == "trunk" and np.isfinite(curve.N) and len(curve.D) >= LEAST_POINTS


def fit_trunks(
    known: Along, N: FloatArray, D: FloatArray, loss: FloatArray, wanted: Sequence[int]
) -> Trunks:
    """The gain of the branches among k runs: N, D and loss (k,) of each, NaN without a loss.

    wanted   trunks to smooth besides those that have branches
    """
    curves = known.curves
    able = np.array([usable(c) for c in curves], dtype=np.bool_)
    ok = (known.parent >= 0) & np.isfinite(loss) & able[np.maximum(known.parent, 0)]
    found = np.flatnonzero(ok)
    found = found[_spread_branches(known.parent[found], D[found])]
    parent, at = known.parent[found], known.at[found]
    given = np.isfinite(at) & (at < (1.0 - SMALL) * D[found])
    usual = float(np.median(1.0 - at[given] / D[found][given])) if given.any() else USUAL_SHARE
    share = np.where(given, 1.0 - at / D[found], usual)
    hp = coordinates(curves)
    rows = Rows(parent, np.log(N[found]), np.log(D[found]), share, hp[parent])
    chosen = sorted({*parent.tolist(), *(i for i in wanted if able[i])})
    fits = {i: fit_trunk(curves[i]) for i in chosen}
    t, T = at_branch_points(fits, rows)
    centre = _centre(rows, [curves[i] for i in chosen])
    gain = fit_gain(rows, np.log(loss[found]), t, T, centre)
    return Trunks(fits, gain, usual, hp)


def coordinates(curves: Sequence[Curve]) -> FloatArray:
    """(c, h) numeric hyperparameters that vary among trunks, an unknown value as their mean.

    Logs if all are positive, else in units of their SD.
    """
    names = sorted({name for c in curves for name in c.hp})
    columns = []
    for name in names:
        values = [c.hp.get(name, np.nan) for c in curves]
        if any(isinstance(value, str) for value in values):
            continue
        v = np.array(values, dtype=np.float64)
        known = v[np.isfinite(v)]
        if len(np.unique(known)) < 2:
            continue
        v = np.log(v) if (known > 0.0).all() else v / known.std()
        columns.append(np.where(np.isfinite(v), v, np.nanmean(v)))
    return np.stack(columns, axis=1) if columns else np.empty((len(curves), 0))


def _spread_branches(parent: IntArray, D: FloatArray) -> IntArray:
    """Which of many branches to use: of up to MOST_TRUNKS trunks, spread over D."""
    trunks = np.unique(parent)
    trunks = trunks[evenly_spaced(len(trunks), MOST_TRUNKS)]
    each = max(MOST_BRANCHES // max(len(trunks), 1), 1)
    kept = []
    for i in trunks.tolist():
        mine = np.flatnonzero(parent == i)
        mine = mine[np.argsort(D[mine], kind="stable")]
        kept.append(mine[evenly_spaced(len(mine), each)])
    return np.sort(np.concatenate(kept)) if kept else np.arange(0)


def _centre(rows: Rows, trunks: Sequence[Curve]) -> Centre:
    """The origin of the gain's inputs: the middle of the branches, or of the trunks without any."""
    if len(rows):
        return Centre.of(rows)
    logs = np.array([[np.log(c.N), np.log(c.reached)] for c in trunks] or [[0.0, 0.0]])
    log_N, log_D = logs.mean(axis=0).tolist()
    return Centre(log_N, log_D, float(np.log(USUAL_SHARE)))


def at_branch_points(fits: Mapping[int, TrunkCurve], rows: Rows) -> tuple[FloatArray, FloatArray]:
    """t (n,) and T (n, n): log loss of each row's trunk at its branch point."""
    t, T = np.zeros(len(rows)), np.zeros((len(rows), len(rows)))
    b = np.exp(rows.log_D) * (1.0 - rows.share)
    for i in np.unique(rows.trunk).tolist():
        mine = np.flatnonzero(rows.trunk == i)
        mean, cov = fits[i].at(b[mine])
        t[mine] = mean
        T[np.ix_(mine, mine)] = cov
    return t, T


def inferred_points(trunks: Trunks, least_D: float) -> tuple[IntArray, FloatArray]:
    """Where losses are inferred from trunks, away from their branches: trunk (r,) and D (r,).

    least_D   of the runs; losses below it would tell nothing about larger runs
    """
    of, at = [], []
    for i, fitted in trunks.fits.items():
        first, last = fitted.curve.D[0], fitted.curve.reached / (1.0 - trunks.share)
        low = max(least_D, 2.0 * first / (1.0 - trunks.share))
        if low > last:
            continue
        D = np.geomspace(low, last, N_ROWS)
        D = D[trunks.away_from_branches(i, D)]
        of += [i] * len(D)
        at += D.tolist()
    return np.array(of, dtype=np.int64), np.array(at)


def normal_cov(annealed: AnnealedLoss) -> FloatArray:
    """(q, q) covariance of a normal distribution in place of Student's t."""
    wider = as_normal(annealed.df)
    return np.asarray(annealed.cov * np.outer(wider, wider))


def as_normal(df: FloatArray) -> FloatArray:
    """SD of a normal whose 95 % interval is as wide as that of Student's t of scale 1."""
    return np.asarray(stdtrit(df, 0.975) / 1.959964)
