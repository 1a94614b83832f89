"""Warnings about a task's answer, and one line on how far to trust it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lawsmith.answer import HeldOutRuns
from lawsmith.answer.cautions import Doubts, each_once, few_runs, missed, verdict_line
from lawsmith.formats import number, percent
from lawsmith.laws.diagnostics import Diagnostic, extrapolation_decades
from lawsmith.laws.uncertainty import Interval
from lawsmith.tasks.data import AccuracyTable
from lawsmith.tasks.members import Member
from lawsmith.tasks.records import TaskForecast
from lawsmith.tasks.text import WAYS

# Warnings about the loss that hold for the task too.
OF_THE_LOSS = ("allocation_extrapolated", "best_at_edge", "odd_run")
OFF_CHANCE = 2.0  # SDs above the floor from which a run is better than chance: 1 in 40 by luck
WAYS_APART = 0.05  # of accuracy: more than half of a firm interval
FAR = (
    "no curve is known to hold so far out, and the interval grows with it. A larger run narrows it"
)


def warnings(
    data: AccuracyTable,
    chance: Interval,
    members: Sequence[Member],
    forecasts: Sequence[TaskForecast],
    held_out: HeldOutRuns | None,
    level: float,
) -> list[Diagnostic]:
    """Every warning, each once."""
    diagnostics = [few_runs(len(data)), at_chance(data, chance, members)]
    diagnostics.append(missed(held_out, level, "run", "on this task"))
    for forecast in forecasts:
        label = forecast.target.label
        diagnostics.append(extrapolation_decades(label, forecast.decades, FAR))
        diagnostics.append(ways_disagree(forecast))
    return each_once(diagnostics)


def at_chance(
    data: AccuracyTable, chance: Interval, members: Sequence[Member]
) -> Diagnostic | None:
    """Whether all runs are near chance: how far the curves have risen at the best run."""
    risen = [_risen(member) for member in members]
    if max(risen) >= OFF_CHANCE:
        return None
    best = float(data.y.max())
    return Diagnostic(
        "at_chance",
        f"all runs are near chance (floor {percent(chance.centre)}, best {percent(best)}): they do "
        "not say when this task begins to rise. The interval is what tasks do in general. Larger "
        "runs, or a finer measure such as the loss on the right answers, would tell",
        {"floor": chance.centre, "best": best},
    )


def _risen(member: Member) -> float:
    """Median over draws of the rise at the best x of the runs, in SDs of one run."""
    mean, scale = member.accuracy(member.best[:, None])
    return float(np.median((mean - member.shape.floor) / scale))


def ways_disagree(forecast: TaskForecast) -> Diagnostic | None:
    """Whether the two ways give accuracies far apart."""
    values = {way: found.centre for way, found in forecast.ways.items()}
    if len(values) < 2 or max(values.values()) - min(values.values()) < WAYS_APART:
        return None
    accuracies = " and ".join(f"{percent(v)} {WAYS[way]}" for way, v in values.items())
    return Diagnostic(
        "ways_disagree",
        f"at {forecast.target.label} the accuracy is {accuracies}: the answer holds both",
        {way.replace(" ", "_"): value for way, value in values.items()},
    )


OF_ACCURACY = Doubts(
    firm=0.03,
    rough=0.08,
    grave=frozenset(("held_out_missed", "few_runs", "at_chance")),
    why={
        "at_chance": "all runs are near chance",
        "held_out_missed": "held-out runs were missed",
        "few_runs": "there are few runs",
        "odd_run": "a run does not belong to the others",
    },
)


def verdict(forecasts: Sequence[TaskForecast], warnings: Sequence[Diagnostic], level: float) -> str:
    """How far to trust the first forecast, and why."""
    if not forecasts:
        return ""
    points = number(100.0 * forecasts[0].half_width, 2)
    known = f"the accuracy there is known to ±{points} points at {percent(level)}"
    return verdict_line(forecasts[0], known, warnings, OF_ACCURACY)
