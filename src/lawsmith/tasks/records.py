"""The answer for a task: the accuracy to expect at each target, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lawsmith.answer import Answer, Forecast, Target
from lawsmith.arrays import BoolArray, FloatArray, IntArray
from lawsmith.digest import codes, short
from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.laws.uncertainty import Interval
from lawsmith.tasks.curve import Task
from lawsmith.tasks.data import Scored
from lawsmith.tasks.members import Member

if TYPE_CHECKING:
    from lawsmith.datasets.frames import Frame


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


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Runs kept out, the best at each N and D: measured accuracy and prediction, (h,) each."""

    rows: IntArray
    C: FloatArray
    accuracy: FloatArray
    predicted: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def inside(self) -> BoolArray:
        return (self.low <= self.accuracy) & (self.accuracy <= self.high)

    @property
    def error(self) -> float:
        """Mean distance of the prediction from the measured accuracy."""
        return float(np.mean(np.abs(self.predicted - self.accuracy)))


@dataclass(frozen=True, eq=False, repr=False)
class TaskAnswer:
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

    study: str
    task: Task
    via: str
    level: float
    n_runs: int
    largest: float
    chance: Interval
    forecasts: tuple[TaskForecast, ...]
    held_out: HeldOutScores | None
    warnings: tuple[Diagnostic, ...]
    verdict: str
    loss: Answer | None = field(repr=False)
    data: Scored = field(repr=False)
    members: tuple[Member, ...] = field(repr=False)
    weight: FloatArray = field(repr=False)

    def __repr__(self) -> str:
        from lawsmith.tasks.text import headline

        headlines = [headline(self, forecast) for forecast in self.forecasts]
        named = codes([warning.code for warning in self.warnings])
        title = f"Answer of {self.study} for {self.task.name}, from {self.n_runs} runs"
        return short(title, [line for line in (*headlines, self.verdict, *named) if line])

    @property
    def estimated_chance(self) -> bool:
        return self.task.chance is None

    def way_weights(self) -> dict[str, float]:
        """How much each way counts."""
        found: dict[str, float] = {}
        for member, weight in zip(self.members, self.weight.tolist(), strict=True):
            found[member.way] = found.get(member.way, 0.0) + weight
        return found

    def summary(self) -> str:
        """The answer as text."""
        from lawsmith.tasks.text import listing

        return listing(self).text()

    def to_frame(self) -> Frame:
        """One row a target: the accuracy with its intervals."""
        from lawsmith.datasets.frames import frame_of
        from lawsmith.tasks.text import forecast_row

        return frame_of(forecast_row(forecast) for forecast in self.forecasts)

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain values, as ``--json`` has it."""
        from lawsmith.tasks.text import payload

        return payload(self)

    def _repr_html_(self) -> str:
        from lawsmith.tasks.text import listing

        return listing(self).html()
