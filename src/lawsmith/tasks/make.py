"""From runs with accuracies to the answer for a task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lawsmith.answer import Answer, HeldOutRuns, Target, answer
from lawsmith.arrays import BoolArray, FloatArray, IntArray
from lawsmith.grid import Grid
from lawsmith.laws.uncertainty import Interval
from lawsmith.runs import Runs
from lawsmith.surface import Surface
from lawsmith.tasks import cautions
from lawsmith.tasks.curve import Task
from lawsmith.tasks.data import Scored, Way, best_of_cells, scored
from lawsmith.tasks.draws import TaskDraws, draw_at, ends
from lawsmith.tasks.members import Member, fit_members, weigh
from lawsmith.tasks.records import TaskAnswer, TaskForecast
from lawsmith.threads import one_thread

LEAST_DRAWS = 100  # of a way, to say what it predicts by itself
SEED = 20  # fixed, so that one table has one answer


@dataclass(frozen=True, eq=False)
class ScoredRuns:
    """Runs of a study with the accuracies of one task.

    accuracy   (n runs,) NaN where it was not measured
    via        the name of the loss of ``runs``, for two steps; '' for the direct way alone
    """

    study: str
    grid: Grid
    runs: Runs
    accuracy: FloatArray
    via: str = ""

    def part(self, kept: BoolArray) -> ScoredRuns:
        """Those runs alone."""
        return replace(self, runs=self.runs.take(kept), accuracy=self.accuracy[kept])

    def rows(self) -> Scored:
        return scored(self.grid, self.runs, self.accuracy, with_loss=bool(self.via))


def answer_task(
    scores: ScoredRuns,
    task: Task,
    targets: Sequence[Target] = (),
    *,
    level: float = 0.95,
    held_out: IntArray | None = None,
    loss: Answer | None = None,
) -> TaskAnswer:
    """What runs say of the accuracy of a task at ``targets``.

    held_out   rows of the grid whose runs are kept out and predicted instead
    loss       the answer for the loss of the same runs and targets, where it was made already
    """
    grid, runs = scores.grid, scores.runs
    out = np.isin(runs.index, [] if held_out is None else held_out)
    used = scores.part(~out)
    data = used.rows()
    ways: tuple[Way, ...] = ("two steps", "direct") if scores.via else ("direct",)
    with one_thread():
        if scores.via and loss is None:
            loss = answer(grid, runs, targets, study=scores.study, level=level, held_out=held_out)
        members = fit_members(data, task, ways, SEED)
        made = _Made(members, weigh(grid, used.runs, data, members), loss, level)
        forecasts = tuple(made.forecast(target, i) for i, target in enumerate(targets))
        judged = made.judged(scores.part(out)) if out.any() else None
    warnings = cautions.warnings(data, made.chance(), members, forecasts, judged, level)
    if loss is not None:
        warnings += [w for w in loss.warnings if w.code in cautions.OF_THE_LOSS]
    return TaskAnswer(
        study=scores.study,
        task=task,
        via=scores.via,
        level=level,
        n_runs=len(data),
        largest=float(data.C.max()),
        chance=made.chance(),
        forecasts=forecasts,
        held_out=judged,
        warnings=tuple(warnings),
        verdict=cautions.verdict(forecasts, warnings, level),
        loss=loss,
        data=data,
        members=tuple(members),
        weight=made.weight,
    )


@dataclass(frozen=True, eq=False)
class _Made:
    """Fitted members and the answer for the loss: what forecasts are made of."""

    members: Sequence[Member]
    weight: FloatArray
    loss: Answer | None
    level: float

    @property
    def surface(self) -> Surface | None:
        return None if self.loss is None else self.loss.surface

    def forecast(self, target: Target, i: int) -> TaskForecast:
        """At the ith target."""
        drawn = draw_at(self.members, self.weight, self.surface, target)
        _, mean_low, mean_high = ends(drawn.mean, self.level)
        value, low, high = drawn.interval(self.level)
        return TaskForecast(
            target=target,
            value=value,
            low=low,
            high=high,
            mean_low=mean_low,
            mean_high=mean_high,
            decades=self.members[0].scales.decades(target),
            loss=None if self.loss is None else self.loss.forecasts[i],
            ways=self._ways(drawn),
        )

    def _ways(self, drawn: TaskDraws) -> dict[str, Interval]:
        """What each way predicts by itself, where it has enough draws."""
        ways = [member.way for member in self.members]
        parts = {way: drawn.of(np.array([w == way for w in ways])) for way in dict.fromkeys(ways)}
        enough = {way: part for way, part in parts.items() if len(part.mean) >= LEAST_DRAWS}
        return {way: part.interval(self.level) for way, part in enough.items()}

    def judged(self, rest: ScoredRuns) -> HeldOutRuns | None:
        """Runs kept out, the best at each N and D, beside their predictions."""
        if not np.isfinite(rest.accuracy).any():
            return None
        data = scored(rest.grid, rest.runs, rest.accuracy, with_loss=bool(rest.via), least=1)
        data = data.take(best_of_cells(data))
        found = []
        for row in data.row.tolist():
            target = _target_at(data, rest.grid, row)
            drawn = draw_at(self.members, self.weight, self.surface, target)
            found.append(drawn.interval(self.level))
        return HeldOutRuns(data.row, data.C, data.y, *np.array(found).T)

    def chance(self) -> Interval:
        """The floor of accuracy."""
        floors = [member.shape.floor[:, 0] for member in self.members]
        n = len(floors[0])
        picked = np.concatenate(
            [f[: max(round(w * n), 1)] for f, w in zip(floors, self.weight, strict=True)]
        )
        return ends(picked, self.level)


def _target_at(data: Scored, grid: Grid, row: int) -> Target:
    """Where a run is."""
    sizes = {name: float(grid.numbers(name)[row]) for name in data.scales.names if name != "C"}
    return Target(float(grid.C[row]), sizes.get("N"), sizes.get("D"))
