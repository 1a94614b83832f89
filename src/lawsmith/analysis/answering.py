"""The answers of a finished study: for its loss, several losses, tasks, and N counted differently.

A law of N without embeddings differs from one of N with them, the more so the smaller the models.
To see how far the answer moves, the same runs are answered with each N. C = 6ND follows from the N
that is used, unless the table has a compute of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lawsmith.analysis.along import with_curves
from lawsmith.analysis.fitting import split
from lawsmith.answer import Answer, Forecast, Origin, Target, answer, default_target
from lawsmith.arrays import FloatArray, distinct
from lawsmith.curves import Along
from lawsmith.datasets.curve_tables import Curves
from lawsmith.datasets.records import ReadOptions, Study
from lawsmith.errors import LawsmithError, unknown
from lawsmith.expressions import evaluate
from lawsmith.grid import Grid, HeldOut
from lawsmith.plausible import SCALE
from lawsmith.runs import Runs, State
from lawsmith.surface import BROAD, PUBLIC, Lesson, Prior, fit_surface, learn_from_surfaces
from lawsmith.tasks import ScoredRuns, Task, TaskAnswer, answer_task
from lawsmith.threads import one_thread

LEAST_TO_LEARN = 8  # finished runs of an earlier study: twice as many as an answer needs
AVERAGE = "average"  # name of the mean over tasks


def answer_study(
    study: Study,
    targets: Sequence[float | Target] = (),
    *,
    level: float = 0.95,
    hold_out: HeldOut | None = None,
    prior: Prior = PUBLIC,
    curves: Curves | Along | None = None,
) -> Answer:
    """The best loss to expect at ``targets``, and the N, D and hyperparameters that reach it.

    targets    computes in FLOPs, or Targets at an N and D; by default half a decade or more above
               the largest run
    hold_out   which runs are not used but predicted
    prior      learnt from earlier studies, by `learn`
    curves     losses along runs: a table, or what `with_curves` makes of it; by default those that
               the study has
    """
    curves = study.curves if curves is None else curves
    along = curves if isinstance(curves, Along) else None
    if isinstance(curves, Curves):
        study, along = with_curves(study, curves)
    targets = _targets(study, targets)
    return _answered(study, targets, level, hold_out, prior=prior, along=along)


def _answered(
    study: Study, targets: Sequence[Target], level: float, hold_out: HeldOut | None, **options: Any
) -> Answer:
    """The answer of the study's runs, with its origin."""
    held_out = split(study.grid, hold_out)[1]
    result = answer(
        study.grid,
        study.runs,
        targets,
        study=study.name,
        level=level,
        held_out=held_out,
        **options,
    )
    return replace(result, origin=Origin(study, hold_out, options.get("along")))


def _targets(study: Study, targets: Sequence[float | Target]) -> list[Target]:
    """The targets as `Target`; the default one if there are none."""
    if len(targets) == 0 and study.has_compute:
        return [default_target(study.grid, study.runs)]
    return [t if isinstance(t, Target) else Target(float(t)) for t in targets]


def reading_of(name: str, names: Sequence[str], options: ReadOptions) -> ReadOptions:
    """How to read the table for one of several losses, with all of them as metrics."""
    if len(set(names)) < len(names):
        raise LawsmithError("losses", got="a column twice", want="each column once")
    return replace(options, columns={**options.columns, "loss": name}, metrics=tuple(names))


def answer_losses(
    studies: Mapping[str, Study],
    targets: Sequence[float | Target] = (),
    *,
    level: float = 0.95,
    hold_out: HeldOut | None = None,
) -> dict[str, Answer]:
    """The answer for each loss at the same targets.

    studies   by the name of their loss: the same table, read with `reading_of` for each

    A run that has one of the losses and lacks another did not diverge: the other was not measured.
    It is inferred if another loss predicts it well (`lawsmith.answer.related`).
    """
    measured = {name: _measured(study, name) for name, study in studies.items()}
    # Without targets each loss has its own default: the largest is used for all.
    of_each = [_targets(study, targets) for study in measured.values()]
    shared = max(of_each, key=lambda one: one[0].C if one else 0.0, default=[])
    return {
        name: _answered(study, shared, level, hold_out, others=_others(study, name))
        for name, study in measured.items()
    }


def _others(study: Study, name: str) -> dict[str, FloatArray]:
    """The other losses, if some run lacks this one."""
    if not len(study.runs.of(State.PENDING)):
        return {}
    return {other: values for other, values in study.metrics.items() if other != name}


def _measured(study: Study, name: str) -> Study:
    """The study in which runs that lack this loss, but have another one, are pending."""
    runs = study.runs
    others = [np.isfinite(v) for other, v in study.metrics.items() if other != name]
    has_other = np.logical_or.reduce(others) if others else np.zeros(len(runs), dtype=np.bool_)
    lacking = np.isnan(study.metrics[name]) & has_other
    state = np.where(lacking, State.PENDING.value, runs.state)
    return replace(study, runs=Runs(runs.index, runs.loss, state))


def learn(studies: Sequence[Study], prior: Prior = PUBLIC) -> Prior:
    """A prior for a further study that is similar to ``studies``, for `answer_study`."""
    surfaces = {}
    with one_thread():
        for study in studies:
            n = len(study.runs.of(State.DONE))
            if n < LEAST_TO_LEARN:
                got, want = f"{n} finished runs", f"at least {LEAST_TO_LEARN}"
                raise LawsmithError(f"learn from {study.name}", got=got, want=want)
            surfaces[Lesson(study.name, n)] = fit_surface(study.grid, study.runs, BROAD)
        return learn_from_surfaces(surfaces, prior)


def answer_tasks(
    study: Study,
    tasks: Sequence[Task],
    targets: Sequence[float | Target] = (),
    *,
    via: str = "",
    level: float = 0.95,
    hold_out: HeldOut | None = None,
) -> list[TaskAnswer]:
    """The accuracy of each task to expect at ``targets``; with several, their average comes last.

    study     read with ``ReadOptions(metrics=…)``, so that it has the tasks' columns
    via       name of the study's loss, to predict accuracy from it too; '' for scale alone
    targets   as for `answer_study`
    """
    targets = _targets(study, targets)
    held_out = split(study.grid, hold_out)[1]
    loss = answer_study(study, targets, level=level, hold_out=hold_out) if via else None
    columns = {task: _column(study, task) for task in tasks}
    if len(tasks) > 1:  # a run counts if all tasks were measured
        chances = [task.chance for task in tasks if task.chance is not None]
        chance = float(np.mean(chances)) if len(chances) == len(tasks) else None
        columns[Task(AVERAGE, chance)] = np.mean(list(columns.values()), axis=0)
    answers = []
    for task, accuracy in columns.items():
        scores = ScoredRuns(study.name, study.grid, study.runs, accuracy, via)
        answers.append(
            answer_task(scores, task, targets, level=level, held_out=held_out, loss=loss)
        )
    return answers


def _column(study: Study, task: Task) -> FloatArray:
    if task.name in study.metrics:
        return study.metrics[task.name]
    if study.metrics:
        raise unknown(f"{study.name}: metric", task.name, study.metrics)
    hint = f"read it with ReadOptions(metrics=({task.name!r},))"
    raise LawsmithError(study.name, got="no metrics", want=task.name, hint=hint)


@dataclass(frozen=True)
class Moved:
    """The forecasts of one target: with N as the table counts it, and with the other N."""

    expression: str
    forecast: Forecast
    other: Forecast

    @property
    def loss(self) -> float:
        """Relative difference of the loss."""
        return self.other.loss / self.forecast.loss - 1.0

    @property
    def matters(self) -> bool:
        """Whether the loss with the other N lies outside the interval."""
        return not self.forecast.low <= self.other.loss <= self.forecast.high


def other_n(study: Study, expression: str) -> FloatArray:
    """(n,) N of each run: an expression of N, D, hyperparameters and the study's metrics."""
    rows = study.runs.index
    columns = {name: study.grid.columns[name][rows] for name in study.grid.names}
    values = evaluate(expression, {**study.metrics, **columns})
    if values.dtype.kind != "f" or not SCALE.contains(values).all():
        got = f"{expression!r}, which is not above 0 for every run"
        raise LawsmithError("--other-n", got=got, want="a number of parameters of each run")
    return np.asarray(values, dtype=np.float64)


def recounted(study: Study, N: FloatArray) -> Study:
    """The study with another N (n,) of each run; C follows, unless the table has its own."""
    grid, rows = study.grid, study.runs.index
    columns = {name: grid.columns[name][rows] for name in grid.names} | {"N": N}
    first, index = distinct({axis.name: columns[axis.name] for axis in grid.axes})
    compute = "C" if "C" in grid.names else "6ND" if "D" in grid.names else None
    recast = Grid.from_columns(
        {name: values[first] for name, values in columns.items()},
        axes={axis.name: axis.kind for axis in grid.axes},
        compute=compute,
    )
    runs = Runs(index, study.runs.loss, study.runs.state)
    return replace(study, grid=recast, runs=runs, target=study.target[rows][first])


def moved(expression: str, answer: Answer, other: Answer) -> tuple[Moved, ...]:
    """The forecasts of each target by both answers."""
    pairs = zip(answer.forecasts, other.forecasts, strict=True)
    return tuple(Moved(expression, *pair) for pair in pairs)
