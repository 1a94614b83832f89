"""Trunks of a live study: their checkpoints, their prices, and the predictions of their curves.

Notation
    cell   the trials that differ in D alone: one trunk, which may be several trials, each the
           extension of an earlier one
    b      = (1 − δ)·D, in whole tokens: where a decay that ends at D leaves the trunk
    point  a checkpoint: its tokens, and the trial that left it
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lawsmith.arrays import evenly_spaced
from lawsmith.curves import Along
from lawsmith.curves.gain import Rows
from lawsmith.curves.trunks import Trunks, fit_trunks, normal_cov, usable
from lawsmith.grid import FloatArray, IntArray
from lawsmith.journal import Ledger, Stage, Trial
from lawsmith.journal.fold import Config
from lawsmith.plausible import LOSS, SCALE
from lawsmith.policies.actions import TrunkCosts
from lawsmith.runs import State
from lawsmith.study.live import LiveStudy
from lawsmith.surrogates.base import Hints
from lawsmith.trajectory import Curve, curve

MOST_HINTS = 3  # rows of a trunk that its curve predicts: more would repeat them
NO_HINTS = Hints(np.arange(0), np.zeros(0), np.zeros(0), np.zeros(0))
# Branches and trunks that are needed to predict the gain of a decay: the fewest that show a spread,
# on more than one trunk.
LEAST_BRANCHES, LEAST_TRUNKS = 3, 2

Cell = tuple[tuple[str, float | str], ...]


@dataclass(frozen=True)
class Stem:
    """The trunk of a cell, and whether a trial of it is under way.

    points   its checkpoints: tokens, and the trial that left it
    """

    points: tuple[tuple[float, str], ...] = ()
    open: bool = False


def cell_of(config: Config) -> Cell:
    """The cell of a configuration: all but D."""
    return tuple(
        (name, value if isinstance(value, str) else float(value))
        for name, value in sorted(config.items())
        if name != "D"
    )


def branch_point(D: float, decay: float) -> int:
    """b, in whole tokens."""
    return max(1, round((1.0 - decay) * D))


def _points_of(trial: Trial) -> set[float]:
    """Tokens of the checkpoints of a trunk. A finished one has left all of ``save_at``."""
    ends = {*trial.save_at, trial.D} if trial.stage is Stage.FINISHED else set[float]()
    return {*trial.saved, *ends}


def stems_of(ledger: Ledger, by: str) -> dict[Cell, Stem]:
    """The trunks by cell. lawsmith cannot reach checkpoints made by hand, and the reverse."""
    found: dict[Cell, Stem] = {}
    for trial in ledger.trials.values():
        if trial.kind != "trunk" or trial.by != by or trial.stage is Stage.QUARANTINED:
            continue
        cell = cell_of(trial.config)
        old, points = found.get(cell, Stem()), [(b, trial.name) for b in _points_of(trial)]
        found[cell] = Stem((*old.points, *points), old.open or trial.open)
    return found


def ready(ledger: Ledger, trial: Trial, tolerance: float) -> bool:
    """Whether the checkpoint that a trial starts from exists."""
    if not trial.parent:
        return True
    near, points = tolerance * trial.start, _points_of(ledger.trials[trial.parent])
    return any(abs(tokens - trial.start) <= near for tokens in points)


@dataclass(frozen=True, eq=False)
class TrunkCurves:
    """The curves of a study's trunks, and the model fitted to them.

    along     the curves beside the runs
    cells     of the curves
    trunks    the smoothed trunks and the gain of a decay; None without a usable curve
    """

    along: Along
    cells: tuple[Cell, ...]
    trunks: Trunks | None

    @property
    def trusted(self) -> bool:
        """Whether enough branches have ended to predict the gain of a decay."""
        if self.trunks is None:
            return False
        parents = self.trunks.branches.trunk
        return len(parents) >= LEAST_BRANCHES and len(np.unique(parents)) >= LEAST_TRUNKS

    def index(self, run: str) -> int | None:
        """The smoothed trunk of that name."""
        fits = {} if self.trunks is None else self.trunks.fits
        return next((i for i in fits if self.along.curves[i].run == run), None)


def along_of(study: LiveStudy, ledger: Ledger) -> Along:
    """The trunks' losses on the way as curves, and which runs of the history branch from them."""
    roots = roots_of(ledger)
    history, axes = study.history(ledger), [axis.name for axis in study.grid.axes]
    points: dict[str, list[tuple[float, float]]] = {}
    for name, root in roots.items():
        trial = ledger.trials[name]
        complete = {"N", *axes} <= {*ledger.trials[root].config, "D"}
        if trial.kind == "trunk" and trial.stage is not Stage.QUARANTINED and complete:
            end = [(trial.D, trial.loss)] if trial.stage is Stage.FINISHED and trial.loss else []
            losses = [(D, loss) for D, loss in (*trial.reports, *end) if _plausible(D, loss)]
            points.setdefault(root, []).extend(losses)
    curves = [_curve(ledger.trials[root], pairs, axes) for root, pairs in points.items() if pairs]
    place = {one.run: i for i, one in enumerate(curves)}
    trials = [ledger.trials[name] for name in history.names]
    parent = [place.get(roots[t.name], -1) if t.kind == "branch" else -1 for t in trials]
    at = [t.start if t.kind == "branch" else np.nan for t in trials]
    none = np.full(len(trials), -1, dtype=np.int64)
    return Along(tuple(curves), np.array(parent, dtype=np.int64), np.array(at, dtype=float), none)


def _plausible(D: float, loss: float) -> bool:
    """Whether a run can have this loss there; a journal may have been edited by hand."""
    return bool(SCALE.contains(D) and LOSS.contains(loss))


def roots_of(ledger: Ledger) -> dict[str, str]:
    """The first trial that each trial descends from: itself without a parent."""
    roots: dict[str, str] = {}
    for name, trial in ledger.trials.items():
        roots[name] = roots[trial.parent] if trial.parent else name
    return roots


def _curve(root: Trial, losses: Sequence[tuple[float, float]], axes: Sequence[str]) -> Curve:
    D, loss = (np.array(part, dtype=np.float64) for part in zip(*losses, strict=True))
    hp = {name: root.config[name] for name in axes if name not in ("N", "D")}
    hp = {k: v if isinstance(v, str) else float(v) for k, v in hp.items()}
    return curve(root.name, "trunk", D, loss, N=float(root.config["N"]), hp=hp)


def trunk_curves(study: LiveStudy, ledger: Ledger) -> TrunkCurves:
    """The curves of a ledger, and the model fitted to them and the branches that have ended."""
    along = along_of(study, ledger)
    able = [i for i, one in enumerate(along.curves) if usable(one)]
    cells = tuple(cell_of(ledger.trials[one.run].config) for one in along.curves)
    if not able:
        return TrunkCurves(along, cells, None)
    runs, grid = study.history(ledger).runs, study.grid
    loss = np.where(runs.state == State.DONE.value, runs.loss, np.nan)
    trunks = fit_trunks(along, grid.N[runs.index], grid.D[runs.index], loss, able)
    return TrunkCurves(along, cells, trunks)


def start_of(
    study: LiveStudy, stems: Mapping[Cell, Stem], row: int
) -> tuple[int, float, str, bool]:
    """Where a decay that ends at a candidate can start from now: (b, at, trial, there).

    b       where it leaves the trunk
    at      tokens of the last checkpoint before that, which ``trial`` left; 0 and '' without one
    there   whether that is where it leaves the trunk
    """
    near = 1.0 + study.spec.results.tolerance
    b = branch_point(float(study.grid.D[row]), study.spec.trunks.decay)
    stem = stems.get(cell_of(study.candidates.configs[row]), Stem())
    before = [point for point in stem.points if point[0] <= b * near]
    at, trial = max(before, key=lambda point: point[0], default=(0.0, ""))
    return b, at, trial, abs(at - b) <= (near - 1.0) * b


def trunk_costs(
    study: LiveStudy, ledger: Ledger, rows: IntArray, curves: TrunkCurves, by: str
) -> TrunkCosts:
    """What the losses of some rows of the study's grid cost now."""
    stems = stems_of(ledger, by)
    trunk, free = np.zeros(len(rows)), np.ones(len(rows), dtype=np.bool_)
    tail = np.zeros(len(rows))
    for i, row in enumerate(rows.tolist()):
        b, at, _, there = start_of(study, stems, row)
        D, stem = float(study.grid.D[row]), stems.get(cell_of(study.candidates.configs[row]))
        a_token = float(study.grid.C[row]) / D
        trunk[i] = 0.0 if there else (b - at) * a_token
        tail[i] = (D - (at if there else b)) * a_token
        # A part of the trunk that is under way leaves further checkpoints soon.
        free[i] = there or stem is None or not stem.open
    return TrunkCosts(
        trunk, tail, free, _by_curve(study, rows, curves), _hints_of(study, rows, curves)
    )


def _by_curve(study: LiveStudy, rows: IntArray, curves: TrunkCurves) -> FloatArray:
    """(m,) variance of the log loss after a decay, predicted from a trunk yet to be trained.

    Infinite before enough branches have ended.
    """
    if not curves.trusted or curves.trunks is None:
        return np.full(len(rows), np.inf)
    share = study.spec.trunks.decay
    sizes = np.stack([study.grid.N[rows], study.grid.D[rows]], axis=1)
    distinct, which = np.unique(sizes, axis=0, return_inverse=True)
    n = len(distinct)
    nowhere = np.full(n, -1, dtype=np.int64)  # a trunk of which nothing is known
    at = Rows(nowhere, np.log(distinct[:, 0]), np.log(distinct[:, 1]), np.full(n, share))
    nothing = np.zeros((n, len(curves.trunks.branches)))
    predicted = curves.trunks.gain.predict(at, np.zeros(n), np.zeros((n, n)), nothing)
    return np.asarray(np.diag(normal_cov(predicted))[which.ravel()])


def _hints_of(study: LiveStudy, rows: IntArray, curves: TrunkCurves) -> Hints:
    """Losses that curves predict for rows without a branch nearby, a few of each trunk."""
    if curves.trunks is None:
        return NO_HINTS
    cells: dict[Cell, list[int]] = {}
    for i, row in enumerate(rows.tolist()):
        cells.setdefault(cell_of(study.candidates.configs[row]), []).append(i)
    of: list[int] = []
    at: list[int] = []
    for k in curves.trunks.fits:
        near = _unseen(study, rows, cells.get(curves.cells[k], []), curves, k)
        of += [k] * len(near)
        at += near
    if not at:
        return NO_HINTS
    trunk, places = np.array(of, dtype=np.int64), np.array(at, dtype=np.int64)
    predicted = curves.trunks.predict(trunk, study.grid.D[rows[places]])
    n_sharing = np.array([float((trunk == k).sum()) for k in of])
    return Hints(places, predicted.mean, np.diag(normal_cov(predicted)).copy(), n_sharing)


def _unseen(
    study: LiveStudy, rows: IntArray, cell: Sequence[int], curves: TrunkCurves, trunk: int
) -> list[int]:
    """Places in ``rows`` of a trunk's cell that its curve has passed and no branch is near."""
    assert curves.trunks is not None
    one, decay = curves.trunks.fits[trunk].curve, study.spec.trunks.decay
    last = one.reached * (1.0 + study.spec.results.tolerance)
    D = study.grid.D[rows[np.array(cell, dtype=np.int64)]]
    b = np.array([branch_point(float(d), decay) for d in D])
    far = curves.trunks.away_from_branches(trunk, D)
    found = np.flatnonzero((2.0 * one.D[0] <= b) & (b <= last) & far)
    return [cell[k] for k in found[evenly_spaced(len(found), MOST_HINTS)].tolist()]


def save_points(
    study: LiveStudy, config: Mapping[str, float | int | str], start: float, end: float
) -> tuple[float, ...]:
    """Where a trunk from ``start`` to ``end`` leaves checkpoints: all branch points of its cell."""
    decay = study.spec.trunks.decay
    found = {float(end)}
    for D in np.unique(study.grid.D).tolist():
        b = float(branch_point(D, decay))
        if start < b < end and study.candidates.row_of({**config, "D": D}) is not None:
            found.add(b)
    return tuple(sorted(found))
