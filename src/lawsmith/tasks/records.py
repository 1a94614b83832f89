"""The answer for a task: the accuracy to expect at each target, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from lawsmith.answer import Answer, Forecast, Target
from lawsmith.answer.records import AnyAnswer, Wording
from lawsmith.arrays import FloatArray
from lawsmith.laws.uncertainty import Interval
from lawsmith.tasks import text
from lawsmith.tasks.curve import Task
from lawsmith.tasks.data import Scored
from lawsmith.tasks.members import Member


@dataclass(frozen=True, eq=False)
class TaskForecast:
    """The accuracy at a target.

    value                as likely higher as lower
    low, high            interval of the accuracy that one run there measures: both steps, runs
                         that lie off the curve, and the noise of a finite number of questions
    mean_low, mean_high  interval of the mean over such runs
    decades              of compute beyond the largest run
    loss                 the forecast of the loss, for two steps
    ways                 what each way says by itself
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
    """What the runs of a study say of a task: the result of `fit_tasks`.

    via        the column of the loss; '' for the direct way alone
    chance     the floor of accuracy: as given (a little of freedom), or estimated
    members    ways and windows, and (m,) how much each counts
    loss       the answer for the loss, for two steps

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
    data: Scored
    members: tuple[Member, ...]
    weight: FloatArray
    _words: ClassVar[Wording] = text

    @property
    def about(self) -> str:
        return f" for {self.task.name}"

    @property
    def estimated_chance(self) -> bool:
        return self.task.chance is None

    def way_weights(self) -> dict[str, float]:
        """How much each way counts."""
        found: dict[str, float] = {}
        for member, weight in zip(self.members, self.weight.tolist(), strict=True):
            found[member.way] = found.get(member.way, 0.0) + weight
        return found
