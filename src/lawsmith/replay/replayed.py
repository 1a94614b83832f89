"""Replayed: a replay as it ended, with the answers of its runs and of the whole pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from lawsmith.answer import Forecast
from lawsmith.answer.text import headline, loss_text
from lawsmith.datasets.frames import frame_of
from lawsmith.datasets.records import Study
from lawsmith.digest import Columns, Digest, short
from lawsmith.formats import interval, percent, plural
from lawsmith.replay.answering import Answers
from lawsmith.replay.loop import Stop
from lawsmith.replay.records import Step, Trace
from lawsmith.replay.steps import step_values

if TYPE_CHECKING:
    from lawsmith.datasets.frames import Frame

Stopped = Literal["exhausted", "iterations", "budget", "answered", "interrupted"]


@dataclass(frozen=True, eq=False, repr=False)
class Replayed:
    """A replay as it ended: the result of `replay_study`.

    study     the finished study
    trace     who chose, and every step: ``trace.steps``
    stopped   what ended it: the pool was exhausted, a number of iterations, the budget, an answer
              that is known well enough, or Ctrl-C
    answers   ``answers.chosen`` by the runs chosen, ``answers.pool`` by the whole pool; None with
              too few runs

    >>> small = load("tinylm", where="batch == 32 and 0.001 < lr < 0.002")
    >>> replayed = replay_study(small, targets=1e16, iterations=6)
    >>> replayed.stopped, len(replayed.trace.steps)
    ('iterations', 6)
    """

    study: Study
    trace: Trace
    stopped: str
    answers: Answers | None = None

    @property
    def last(self) -> Step:
        return self.trace.steps[-1]

    def __repr__(self) -> str:
        return short(self._title(), [self._spent(), *self._answers()])

    def summary(self) -> str:
        """The replay as text: what was spent, and the answers."""
        return self._listing().text()

    def to_frame(self) -> Frame:
        """One row a run in the order they were chosen: configuration, loss, compute, share."""
        return frame_of(
            {
                "iteration": step.iteration,
                **step.config,
                "loss": step.loss,
                "C": step.compute,
                "cost_fraction": step.cost_fraction,
                "envelope": step.envelope_observed,
            }
            for step in self.trace.steps
        )

    def to_dict(self) -> dict[str, Any]:
        """The replay as plain values."""
        both = self.answers
        return {
            "study": self.trace.task.study,
            "law": self.trace.task.law.name,
            "seed": self.trace.seed,
            "settings": dict(self.trace.settings),
            "stopped": self.stopped,
            "chosen": None if both is None else both.chosen.to_dict(),
            "pool": None if both is None else both.pool.to_dict(),
            "steps": [step_values(step) for step in self.trace.steps],
        }

    def _repr_html_(self) -> str:
        return self._listing().html()

    def _title(self) -> str:
        return f"Replay of {self.trace.task.study} by {self.trace.policy}, seed {self.trace.seed}"

    def _spent(self) -> str:
        ran = f"{plural(len(self.trace.steps), 'run')} of {len(self.trace.task.pool)}"
        return f"{ran}, {percent(self.last.cost_fraction)} of the compute; ended by: {self.stopped}"

    def _answers(self) -> list[str]:
        if self.answers is None:
            return ["no answer: too few runs"]
        chosen, pool = self.answers.chosen, self.answers.pool
        pairs = zip(chosen.forecasts, pool.forecasts, strict=True)
        return [
            f"{headline(chosen, ours)}; the whole pool says {headline(pool, theirs)}"
            for ours, theirs in pairs
        ]

    def _listing(self) -> Digest:
        parts: list[str | Columns] = [self._spent()]
        if self.answers is None:
            return Digest(self._title(), [*parts, *self._answers()])
        chosen, pool = self.answers.chosen, self.answers.pool
        rows = [
            (ours.target.label, _ends(ours), _ends(theirs))
            for ours, theirs in zip(chosen.forecasts, pool.forecasts, strict=True)
        ]
        heads = ("target", "from the runs chosen", "from the whole pool")
        return Digest(self._title(), [*parts, chosen.verdict, Columns("Best loss", heads, rows)])


def _ends(forecast: Forecast) -> str:
    """A loss with its interval."""
    return f"{loss_text(forecast.loss)} {interval(forecast.low, forecast.high, loss_text)}"


def stopped_by(trace: Trace, stop: Stop, found: Answers | None, *, interrupted: bool) -> Stopped:
    """What ended a replay; a limit that the pool's end forestalled did not."""
    if interrupted:
        return "interrupted"
    if len(trace.steps) == len(trace.task.pool):
        return "exhausted"
    if stop.rule is not None and found is not None and stop.rule.met(found.chosen):
        return "answered"
    return "iterations" if len(trace.steps) == stop.iterations else "budget"
