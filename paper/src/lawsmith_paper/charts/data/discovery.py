"""The numbers of a replay told step by step: its frames, its reasons, the path of the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from lawsmith.charts.law import outlier_fence, x_variable
from lawsmith.charts.runs import column_names, config_frame, rounded
from lawsmith.policies.frontier import BEYOND, Frontier
from lawsmith.replay import Trace
from lawsmith_paper.charts.data.frames import LINE, Frame, Picture
from lawsmith_paper.charts.data.reasons import Reason, answer_of, reason_of
from lawsmith_paper.moments import Moment, moments

MOST_FRAMES, MOST_CELLS = 200, 40_000  # cells: of all frames together
LEVEL = 0.95  # of the intervals, where there is no outlook to say
SHARES = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5)  # of the compute, to look at


@dataclass(frozen=True)
class DiscoveryData:
    """A whole replay, step by step.

    x          name of the horizontal variable
    compute    of the target, FLOPs
    runs       run, x, loss, initial, and the configuration's columns; in the order they were made
    names      column → its name in the study
    reference  x, loss: the law of the whole pool, which the search does not know
    answer     the loss that it predicts at the target
    path       n_runs, spent, loss, pool_low, …: the answer at every frame that has one
    top        the largest loss on the axis
    level      of the intervals
    """

    trace: Trace
    x: str
    compute: float
    frames: tuple[Frame, ...]
    reasons: tuple[Reason, ...]
    runs: pd.DataFrame
    names: dict[str, str]
    reference: pd.DataFrame
    answer: float
    path: pd.DataFrame
    top: float
    level: float

    @property
    def has_cells(self) -> bool:
        return any(len(frame.cells) for frame in self.frames)

    def looks(self) -> dict[str, int]:
        """Places among the frames that are worth a look, by what to call them."""
        designed = any(reason.chooser == "initial" for reason in self.reasons)
        found = {"first design" if designed else "start": 0}
        spent = np.array([frame.spent for frame in self.frames])
        searched = [i for i, frame in enumerate(self.frames) if len(frame.line)]
        if searched:
            found[f"after {self.frames[searched[0]].n_runs} runs"] = searched[0]
        for share in SHARES:
            place = int(np.flatnonzero(spent <= 100 * share + 1e-9).max())
            if spent[-1] >= 99 * share and place in searched:
                found[f"{100 * share:g} %"] = place
        return found | {"end": len(self.frames) - 1}


def discovery_data(
    trace: Trace,
    policy: Frontier,
    *,
    budget: float | None = None,
    report: Callable[[int], None] | None = None,
) -> DiscoveryData:
    """The numbers of a replay told again; ChartUnavailable for a law without a horizontal axis.

    budget   FLOPs that the replay was given
    report   called with the number of runs told so far: this takes as long as the replay
    """
    task = trace.task
    x = x_variable(task.law)
    target = policy.target or BEYOND * float(task.pool.C.max())
    picture = Picture(task, x, target)
    told = _Told(trace, picture)
    wanted = (target,) if task.targets else ()
    for moment in moments(trace, policy, wanted, budget=budget, told=told.at):
        told.take(moment)
        if report is not None:
            report(len(moment.runs))
    frames = _with_outcomes(told.frames, told.reasons)
    return DiscoveryData(
        trace=trace,
        x=x,
        compute=target,
        frames=tuple(frames),
        reasons=tuple(told.reasons),
        runs=_runs(trace, x),
        names=column_names(task.pool),
        reference=picture.reference(),
        answer=picture.answer,
        path=_path(frames),
        top=outlier_fence(task.loss[told.rows]),
        level=told.level,
    )


class _Told:
    """What was told so far of a replay: a frame at some of its moments, a reason for every run."""

    def __init__(self, trace: Trace, picture: Picture) -> None:
        self.picture = picture
        self.rows = np.array([step.candidate for step in trace.steps], dtype=np.int64)
        self.n_init = sum(1 for step in trace.steps if np.isnan(step.window))
        self.at = told_at(self.n_init, len(self.rows), len(picture.cells))
        self.frames: list[Frame] = []
        self.reasons: list[Reason] = []
        self.level = LEVEL

    def take(self, moment: Moment) -> None:
        """The next moment."""
        answer = answer_of(moment.outlook)
        if self.reasons:
            self.reasons[-1] = replace(self.reasons[-1], after=answer)
        reason = None
        if moment.step is not None:
            reason = reason_of(moment, self.picture.task, answer)
            self.reasons.append(reason)
        n = len(moment.runs)
        if n in self.at:
            made = self.rows[: n or self.n_init]
            self.frames.append(self.picture.frame(moment, reason, made))
        if moment.outlook is not None:
            self.level = moment.outlook.level


def told_at(n_init: int, n: int, n_cells: int) -> list[int]:
    """Numbers of runs that get a frame: before the first, then from the whole design on."""
    most = int(np.clip(MOST_CELLS // max(n_cells, 1), 20, MOST_FRAMES))
    after = np.arange(min(max(n_init, 1), n), n + 1)
    if len(after) > most:
        # Thinned evenly in logs: early runs change more.
        after = np.unique(np.geomspace(after[0], n, most).round().astype(int))
    return [0, *after.tolist()]


def _with_outcomes(frames: Sequence[Frame], reasons: Sequence[Reason]) -> list[Frame]:
    """Frames whose reasons know what came of the run."""
    return [
        frame if frame.reason is None else replace(frame, reason=reasons[frame.n_runs])
        for frame in frames
    ]


def _path(frames: Sequence[Frame]) -> pd.DataFrame:
    rows = [
        (frame.n_runs, frame.spent, *frame.target.iloc[0][list(LINE[1:])])
        for frame in frames
        if len(frame.target)
    ]
    return pd.DataFrame(rows, columns=["n_runs", "spent", "loss", *LINE[2:]])


def _runs(trace: Trace, x: str) -> pd.DataFrame:
    rows = np.array([step.candidate for step in trace.steps], dtype=np.int64)
    pool = trace.task.pool
    frame = config_frame(pool, rows)
    return frame.assign(
        run=np.arange(1, len(rows) + 1),
        x=rounded(pool.numbers(x)[rows]),
        loss=rounded(trace.task.loss[rows]),
        initial=[bool(np.isnan(step.window)) for step in trace.steps],
    )
