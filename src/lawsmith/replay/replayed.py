"""Replayed: a finished replay, with the answers from its runs and from the whole pool.

In its JSON, ``candidate`` and ``envelope`` count rows of the pool from 0. ``pool.rows`` gives the
configuration of each row, numbered by where the study's table first has it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lawsmith import __version__
from lawsmith.answer import Answer, Target, answer
from lawsmith.answer.text import (
    NO_ANSWER,
    headline,
    held_out_text,
    listing,
    loss_cells,
    warning_payload,
)
from lawsmith.datasets.records import Study, frame_of
from lawsmith.digest import Columns, Digest, Part, plain, short
from lawsmith.errors import LawsmithError
from lawsmith.formats import number, percent, plural
from lawsmith.laws.fit import LawFit
from lawsmith.metrics import value_at
from lawsmith.replay.loop import Stop
from lawsmith.replay.steps import Json, Step, Trace, step_values
from lawsmith.replay.task import Task
from lawsmith.runs import Runs

if TYPE_CHECKING:
    from lawsmith.datasets.records import Frame

BUDGETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0)  # of the pool's compute, for tables
Stopped = Literal["exhausted", "iterations", "budget", "answered", "interrupted"]


@dataclass(frozen=True, eq=False)
class Answers:
    """The answer from the chosen runs, and that from all runs of the pool."""

    chosen: Answer
    pool: Answer


def answers_of(task: Task, rows: Sequence[int], targets: Sequence[Target]) -> Answers | None:
    """The answers from ``rows`` of the pool and from the whole pool; None with too few runs.

    Both predict the held-out runs. A chosen row counts as one run with its configuration's mean
    loss. The whole pool has all runs of the study, so that its answer is that of `lawsmith fit`.
    """
    study, grid = task.study, task.study.grid
    held_out = np.setdiff1d(np.arange(len(grid)), task.rows)
    known = np.concatenate([task.rows[np.asarray(rows, dtype=np.int64)], held_out])
    chosen = Runs.from_losses(known, study.runs.config_loss(len(grid))[known])
    kept = held_out if len(held_out) else None
    try:
        return Answers(
            *(
                answer(grid, runs, targets, study=study.name, held_out=kept, prior=task.prior)
                for runs in (chosen, study.runs)
            )
        )
    except LawsmithError:
        return None


@dataclass(frozen=True, eq=False, repr=False)
class Replayed:
    """A finished replay: the result of `replay_study`.

    trace     the policy and every step: ``trace.steps``
    stopped   what ended it: the pool was exhausted, a number of iterations, the budget, an answer
              that is precise enough, or Ctrl-C
    answers   ``answers.chosen`` from the chosen runs, ``answers.pool`` from the whole pool; None
              with too few runs

    >>> small = load("tinylm", where="batch == 32 and 0.001 < lr < 0.002")
    >>> replayed = replay_study(small, targets=1e16, iterations=6)
    >>> replayed.stopped, len(replayed.trace.steps)
    ('iterations', 6)
    """

    trace: Trace
    stopped: str
    answers: Answers | None = None

    @property
    def study(self) -> Study:
        """The study that was replayed."""
        return self.trace.task.study

    @property
    def last(self) -> Step:
        return self.trace.steps[-1]

    def __repr__(self) -> str:
        return short(self._title(), [self._spent(), *self._answers()])

    def summary(self) -> str:
        """The replay as text: its cost and its answers."""
        return self._listing().text()

    def to_frame(self) -> Frame:
        """One row per run, in the order they were chosen: configuration, loss, compute, share."""
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
        """The replay as plain values, as ``--json`` prints it."""
        values: dict[str, Any] = plain(_payload(self))
        return values

    def _repr_html_(self) -> str:
        return self._listing().html()

    def _title(self) -> str:
        return (
            f"Replay of {self.trace.task.study.name} by {self.trace.policy}, seed {self.trace.seed}"
        )

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
        if self.answers is None:
            return Digest(self._title(), [self._spent(), *self._answers()])
        parts = [self._spent(), listing(self.answers.chosen), *whole_pool(self.answers)]
        return Digest(self._title(), parts)


def whole_pool(answers: Answers) -> list[Part]:
    """The answer of the whole pool at the same targets, and how far that of the runs is from it."""
    level = f"{percent(answers.pool.level)} interval"
    pairs = zip(answers.chosen.forecasts, answers.pool.forecasts, strict=True)
    rows = [
        (
            ours.target.label,
            *loss_cells(ours),
            *loss_cells(theirs),
            signed(100 * (ours.loss / theirs.loss - 1.0)),
        )
        for ours, theirs in pairs
    ]
    heads = ("", "these runs", level, "whole pool", level, "difference")
    parts: list[Part] = [Columns("The same from all runs of the pool", heads, rows)]
    if answers.pool.held_out is not None:
        parts.append(f"The whole pool's predictions: {held_out_text(answers.pool)}.")
    return parts


def signed(x: float) -> str:
    """'+4.92%'; '+0.00%' for values that round to zero."""
    return f"{round(x, 2) + 0.0:+.2f}%" if math.isfinite(x) else number(x)


def stopped_by(trace: Trace, stop: Stop, answers: Answers | None, *, interrupted: bool) -> Stopped:
    """What ended a replay. An exhausted pool counts before a limit that was reached with it."""
    if interrupted:
        return "interrupted"
    if len(trace.steps) == len(trace.task.pool):
        return "exhausted"
    if stop.rule is not None and answers is not None and stop.rule.met(answers.chosen):
        return "answered"
    return "iterations" if len(trace.steps) == stop.iterations else "budget"


def _payload(done: Replayed) -> Json:
    """What `lawsmith replay --json` prints and ``trace.json`` holds, without the charts."""
    trace, task = done.trace, done.trace.task
    return {
        "version": __version__,
        "study": task.study.name,
        "title": task.study.title,
        "synthetic": task.study.synthetic,
        "policy": trace.settings["policy"],
        "method": trace.policy,
        "seed": trace.seed,
        "settings": trace.settings,
        "law": task.law.name,
        "formula": task.law.formula,
        "pool": _pool(done),
        "reference": _reference(task),
        "trace": [step_values(step) for step in trace.steps],
        "summary": {"budgets": [_at_budget(*one) for one in at_budgets(done)]},
        **_answers(done),
        "complete": done.stopped != "interrupted",
        "stopped": done.stopped,
        "reading_warnings": [warning_payload(w) for w in done.study.warnings],
        "notes": list(task.study.notes),
    }


def _answers(done: Replayed) -> Json:
    """The answer from the chosen runs, as `lawsmith fit --json` prints it, and of the pool."""
    if done.answers is None:
        return {**NO_ANSWER, "whole_pool": None}
    return {**done.answers.chosen.to_dict(), "whole_pool": done.answers.pool.to_dict()}


def _pool(done: Replayed) -> Json:
    task, grid = done.trace.task, done.study.grid
    return {
        "n": len(task.pool),
        "total_compute": task.total_compute,
        "n_levels": len(task.pool.levels),
        "n_held_out": len(grid) - len(task.pool),
        "n_held_out_frontier": len(task.held_out.loss),
        "n_held_out_beyond": int(task.held_out.beyond.sum()),
        "threshold": task.hold_out.threshold(grid),
        "rows": task.rows,
    }


def _reference(task: Task) -> Json:
    reference = task.reference
    names = ("held_out_mse", "held_out_mse_beyond", "pool_mse", "envelope", "losses")
    values = {name: getattr(reference, name) for name in names}
    return {**_law(reference.validation), **values, "global": _law(reference.everything)}


def _law(fit: LawFit) -> Json:
    return {"params": fit.params, "log_params": fit.log_params, "n_points": fit.n_points}


def _at_budget(budget: float, step: Step) -> Json:
    values = step_values(step)
    names = ("iteration", "cost_fraction", "envelope", "fits")
    return {"budget": budget, **{name: values[name] for name in names}}


def at_budgets(done: Replayed) -> list[tuple[float, Step]]:
    """(budget, the last step within it) for each of BUDGETS that the replay reached."""
    steps, spent = done.trace.steps, done.trace.cost_fraction
    # A replay that its budget ended has reached it: the next run would have cost more.
    budget = done.trace.settings.get("budget")
    at_its_budget = done.stopped == "budget" and isinstance(budget, float)
    known_to = max(spent[-1], budget) if at_its_budget else spent[-1]
    number = value_at(spent, [step.iteration for step in steps], BUDGETS)
    return [
        (budget, steps[int(iteration) - 1])
        for budget, iteration in zip(BUDGETS, number.tolist(), strict=True)
        if not math.isnan(iteration) and budget <= known_to + 1e-9
    ]
