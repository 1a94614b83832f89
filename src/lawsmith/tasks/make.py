"""From runs with accuracies to the answer for a task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lawsmith.answer import Answer, Forecast, HeldOutRuns, Target, answer
from lawsmith.arrays import BoolArray, FloatArray, IntArray
from lawsmith.grid import Grid
from lawsmith.runs import Runs
from lawsmith.tasks import cautions
from lawsmith.tasks.curve import Task
from lawsmith.tasks.data import AccuracyTable, Way, accuracy_table, best_per_cell
from lawsmith.tasks.members import fit_members, weigh
from lawsmith.tasks.model import TaskModel, ends
from lawsmith.tasks.records import TaskAnswer, TaskForecast
from lawsmith.threads import one_thread

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

    def take(self, kept: BoolArray) -> ScoredRuns:
        """Some of the runs."""
        return replace(self, runs=self.runs.take(kept), accuracy=self.accuracy[kept])

    def table(self, **limits: int) -> AccuracyTable:
        """The runs that have an accuracy; ``least`` is how many there must be."""
        return accuracy_table(
            self.grid, self.runs, self.accuracy, with_loss=bool(self.via), **limits
        )


def answer_task(
    scores: ScoredRuns,
    task: Task,
    targets: Sequence[Target] = (),
    *,
    level: float = 0.95,
    held_out: IntArray | None = None,
    loss: Answer | None = None,
) -> TaskAnswer:
    """The accuracy of a task to expect at ``targets``.

    held_out   rows of the grid whose runs are kept out and predicted instead
    loss       the answer for the loss of the same runs and targets, if it exists already
    """
    grid, runs = scores.grid, scores.runs
    out = np.isin(runs.index, [] if held_out is None else held_out)
    used = scores.take(~out)
    data = used.table()
    ways: tuple[Way, ...] = ("two steps", "direct") if scores.via else ("direct",)
    with one_thread():
        if scores.via and loss is None:
            loss = answer(grid, runs, targets, study=scores.study, level=level, held_out=held_out)
        members = tuple(fit_members(data, task, ways, SEED))
        weight = weigh(grid, used.runs, data, members)
        model = TaskModel(members, weight, None if loss is None else loss.surface)
        losses = [None] * len(targets) if loss is None else loss.forecasts
        forecasts = tuple(
            _forecast(model, target, one, level)
            for target, one in zip(targets, losses, strict=True)
        )
        judged = _held_out_runs(model, scores.take(out), level) if out.any() else None
    chance = model.chance(level)
    warnings = cautions.warnings(data, chance, members, forecasts, judged, level)
    if loss is not None:
        warnings += [w for w in loss.warnings if w.code in cautions.OF_THE_LOSS]
    return TaskAnswer(
        study=scores.study,
        task=task,
        via=scores.via,
        level=level,
        n_runs=len(data),
        largest=float(data.C.max()),
        chance=chance,
        forecasts=forecasts,
        held_out=judged,
        warnings=tuple(warnings),
        verdict=cautions.verdict(forecasts, warnings, level),
        loss=loss,
        data=data,
        model=model,
    )


def _forecast(
    model: TaskModel, target: Target, loss: Forecast | None, level: float
) -> TaskForecast:
    """The accuracy at a target."""
    draws = model.at(target)
    _, mean_low, mean_high = ends(draws.mean, level)
    value, low, high = draws.interval(level)
    return TaskForecast(
        target=target,
        value=value,
        low=low,
        high=high,
        mean_low=mean_low,
        mean_high=mean_high,
        decades=model.members[0].scales.decades(target),
        loss=loss,
        ways=model.by_way(draws, level),
    )


def _held_out_runs(model: TaskModel, rest: ScoredRuns, level: float) -> HeldOutRuns | None:
    """Runs kept out, the best at each N and D, beside their predictions."""
    if not np.isfinite(rest.accuracy).any():
        return None
    data = rest.table(least=1)
    data = data.take(best_per_cell(data))
    intervals = []
    for row in data.row.tolist():
        names = (name for name in data.scales.names if name != "C")
        sizes = {name: float(rest.grid.numbers(name)[row]) for name in names}
        target = Target(float(rest.grid.C[row]), sizes.get("N"), sizes.get("D"))
        intervals.append(model.at(target).interval(level))
    return HeldOutRuns(data.row, data.C, data.y, *np.array(intervals).T)
