"""Accuracies of tasks at the targets, and the two charts of the first few."""

from __future__ import annotations

from functools import partial

from lawsmith import charts
from lawsmith.formats import interval, percent, plural
from lawsmith.report.parts import Card, Caution, Listing, Notes, Part, figure
from lawsmith.report.source import Source
from lawsmith.tasks import TaskAnswer
from lawsmith.tasks.text import accuracy_text, beyond, remarks

MOST_DRAWN = 4
CAPTIONS = {
    "compute": "Dots: runs. The line is the accuracy to expect at the best N and D of a compute; "
    "the band is the interval of one run.",
    "loss": "The same against the loss by way of which accuracy is predicted.",
}


def tasks(source: Source) -> Card | None:
    """What the runs say of tasks; None where none was asked for."""
    if not source.found.tasks:
        return None
    first = source.found.tasks[0]
    parts: list[Part] = [_listing(source, i) for i in range(len(first.forecasts))]
    for answer in source.found.tasks[:MOST_DRAWN]:
        parts += _figures(answer, source.name)
    lead = f"{plural(len(source.found.tasks), 'task')}, from {plural(first.n_runs, 'run')}."
    cautions = tuple(
        Caution(w.code, f"{answer.task.name}: {w.message}")
        for answer in source.found.tasks
        for w in answer.warnings
    )
    return Card("tasks", "Tasks", lead, tuple(parts), cautions)


def _listing(source: Source, i: int) -> Listing:
    """Every task at the ith target."""
    first = source.found.tasks[0]
    forecast = first.forecasts[i]
    head = f"{forecast.target.label}, {beyond(forecast)}"
    columns = (head, "accuracy", f"{percent(first.level)} interval of a run")
    rows = []
    for answer in source.found.tasks:
        one = answer.forecasts[i]
        ends = interval(one.low, one.high, accuracy_text)
        rows.append((answer.task.name, accuracy_text(one.value), ends))
    return Listing(f"tasks-{i + 1}", columns, tuple(rows))


def _figures(answer: TaskAnswer, study: str) -> list[Part]:
    drawn = {"compute": charts.accuracy_by_compute}
    if answer.via:
        drawn["loss"] = charts.accuracy_by_loss
    found: list[Part] = [
        figure(f"{answer.task.name} by {kind}", CAPTIONS[kind], partial(draw, answer, study=study))
        for kind, draw in drawn.items()
    ]
    return [*found, Notes(tuple(f"{remark}." for remark in remarks(answer)))]
