"""The answers for the tasks of a study whose runs are all made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lawsmith.analysis.answering import answer_study
from lawsmith.answer import Target, default_target
from lawsmith.arrays import FloatArray
from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError, unknown
from lawsmith.grid import HeldOut
from lawsmith.tasks import Scores, Task, TaskAnswer, answer_task

AVERAGE = "average"


def answer_tasks(
    study: Study,
    tasks: Sequence[Task],
    targets: Sequence[float | Target] = (),
    *,
    via: str = "",
    level: float = 0.95,
    hold_out: HeldOut | None = None,
) -> list[TaskAnswer]:
    """The accuracy of each task to expect at ``targets``; of several, their average last.

    study     read with ``ReadOptions(metrics=…)``, so that it has the tasks' columns
    via       the name of the study's loss, for two steps; '' for the direct way alone
    targets   as for `answer_study`
    """
    wanted = [t if isinstance(t, Target) else Target(float(t)) for t in targets]
    if not wanted and study.has_compute:
        wanted = [default_target(study.grid, study.runs)]
    held_out = None if hold_out is None else study.grid.split(hold_out)[1]
    loss = answer_study(study, wanted, level=level, hold_out=hold_out) if via else None
    columns = {task: _column(study, task) for task in tasks}
    if len(tasks) > 1:
        columns[_average(tasks)] = np.mean(list(columns.values()), axis=0)
    found = []
    for task, accuracy in columns.items():
        scores = Scores(study.name, study.grid, study.runs, accuracy, via)
        found.append(answer_task(scores, task, wanted, level=level, held_out=held_out, loss=loss))
    return found


def _average(tasks: Sequence[Task]) -> Task:
    """The average as a task of its own; a run counts where all were measured."""
    chances = [task.chance for task in tasks if task.chance is not None]
    return Task(AVERAGE, float(np.mean(chances)) if len(chances) == len(tasks) else None)


def _column(study: Study, task: Task) -> FloatArray:
    if task.name in study.metrics:
        return study.metrics[task.name]
    if study.metrics:
        raise unknown(f"{study.name}: metric", task.name, study.metrics)
    hint = f"read it with ReadOptions(metrics=({task.name!r},))"
    raise LawsmithError(study.name, got="no metrics", want=task.name, hint=hint)
