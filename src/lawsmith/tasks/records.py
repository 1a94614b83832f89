"""The answer for a task: the accuracy to expect at each target, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from lawsmith.answer import Answer, Forecast, Target
from lawsmith.answer.records import AnyAnswer, Wording
from lawsmith.laws.uncertainty import Interval
from lawsmith.tasks import text
from lawsmith.tasks.curve import Task
from lawsmith.tasks.data import AccuracyTable
from lawsmith.tasks.model import TaskModel


@dataclass(frozen=True, eq=False)
class TaskForecast:
    """The accuracy at a target.

    value                the median: as likely higher as lower
    low, high            interval of the accuracy of one run there. It covers both steps, runs that
                         lie off the curve, and the noise of a finite number of questions
    mean_low, mean_high  interval of the mean over such runs
    decades              of compute beyond the largest run
    loss                 the forecast of the loss, for two steps
    ways                 what each way predicts alone
    """

    target: Target
    value: float
    low: float
    high: float
    mean_low: float
    mean_high: float
    decades: float
    loss: Forecast | None
    ways: Mapping[str, Interval]

    @property
    def half_width(self) -> float:
        return 0.5 * (self.high - self.low)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TaskAnswer(AnyAnswer):
    """The accuracy of a task to expect at larger scale: the result of `fit_tasks`.

    via        the column of the loss; '' for the direct way alone
    chance     the floor of accuracy: close to the given one, or estimated
    loss       the answer for the loss, for two steps
    data       the runs that have an accuracy
    model      what was fitted to them

    >>> import numpy as np, pandas as pd
    >>> N, D = (v.ravel() for v in np.meshgrid([1e8, 3e8, 1e9, 3e9], [3e9, 1e10, 3e10, 1e11]))
    >>> right = 0.25 + 0.6 / (1 + np.exp(400 * N**-0.34 + 410 * D**-0.28 - 1))
    >>> table = pd.DataFrame({"N": N, "D": D, "loss": 2 + 1e3 * (N * D) ** -0.15, "quiz": right})
    >>> (quiz,) = fit_tasks(table, ["quiz"], targets=1e22)
    >>> quiz.to_frame()["target"].tolist()
    ['1e22 FLOPs']
    """

    task: Task
    via: str
    chance: Interval
    forecasts: tuple[TaskForecast, ...]
    loss: Answer | None
    data: AccuracyTable
    model: TaskModel
    _words: ClassVar[Wording] = text

    @property
    def about(self) -> str:
        return f" for {self.task.name}"
