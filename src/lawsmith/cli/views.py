"""Results that several commands show: the study that was read, an answer, answers side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from rich.console import Console
from rich.text import Text

from lawsmith.answer import Answer
from lawsmith.answer import text as words
from lawsmith.cli import console as out
from lawsmith.cli.draw import Drawn
from lawsmith.cli.options import compute_rule
from lawsmith.datasets import Study
from lawsmith.datasets.units import unit_name
from lawsmith.formats import count, flops, interval, number, percent, plural
from lawsmith.grid import Grid, HeldOut
from lawsmith.tasks import TaskAnswer
from lawsmith.tasks import text as task_words

MAX_LISTED = 5


def show_answer(console: Console, answer: Answer) -> None:
    """The verdict, then each target: the loss, how to get it, and what is as good."""
    out.heading(console, f"Answer, from {words.rests_on(answer)}")
    if answer.verdict:
        out.prose(console, answer.verdict)
    what, value, ends, near = words.HEADS
    heads = (what, value, f"{percent(answer.level)} {ends}", near)
    for forecast in answer.forecasts:
        title = f"{forecast.target.label}, {words.beyond(forecast)}"
        out.table(console, title, heads, words.lines(forecast))
    for name, text in words.basis(answer).items():
        console.print()
        out.prose(console, f"{name}: {text}.")
    show_ends(console, answer)
    show_warnings(console, answer)


def show_ends(console: Console, answer: Answer) -> None:
    """Where unfinished runs will end."""
    planned = [] if answer.curves is None else answer.curves.ends
    rows = [
        (
            end.run,
            count(end.D),
            words.loss_text(end.loss),
            interval(end.run_low, end.run_high, words.loss_text),
        )
        for end in planned
        if end.kind == "scheduled"
    ]
    if rows:
        heads = ("run", "D", "loss", f"{percent(answer.level)} of that run")
        out.table(console, "Ends of unfinished runs", heads, rows)


def show_warnings(console: Console, answer: Answer | TaskAnswer) -> None:
    """What to beware of, if anything."""
    out.warnings(console, "Warnings about the answer", answer.warnings)


def show_task(console: Console, found: TaskAnswer) -> None:
    """One task: the verdict, each target, what it rests on."""
    out.heading(console, f"Answer for {found.task.name}, from {task_words.rests_on(found)}")
    out.prose(console, found.verdict)
    what, value, ends = task_words.HEADS
    for forecast in found.forecasts:
        title = f"{forecast.target.label}, {task_words.beyond(forecast)}"
        heads = (what, value, f"{percent(found.level)} {ends}")
        out.table(console, title, heads, task_words.lines(forecast))
    console.print()
    for remark in task_words.remarks(found):
        out.prose(console, f"{remark}.")
    show_warnings(console, found)


def show_losses(console: Console, found: Mapping[str, Answer]) -> None:
    """The answers for several losses of the same runs: a row a column for each target."""
    first = next(iter(found.values()))
    heads = ("column", "loss", f"{percent(first.level)} interval", "one further run", "warnings")
    for i, forecast in enumerate(first.forecasts):
        rows = []
        for name, answer in found.items():
            one = answer.forecasts[i]
            spans = ((one.low, one.high), (one.run_low, one.run_high))
            ends = [interval(low, high, words.loss_text) for low, high in spans]
            rows.append((name, words.loss_text(one.loss), *ends, _codes(answer)))
        title = f"Best loss at {forecast.target.label}, {words.beyond(forecast)}"
        out.table(console, title, heads, rows)
    told = {n: words.others_text(a.others) for n, a in found.items() if a.others is not None}
    out.items(console, "Runs without a loss", [(name, text) for name, text in told.items() if text])
    _explain(console, list(found.values()))


def show_tasks(console: Console, found: Sequence[TaskAnswer]) -> None:
    """The answers for several tasks: a row a task for each target."""
    heads = ("task", "accuracy", f"{percent(found[0].level)} interval of a run", "warnings")
    for i, forecast in enumerate(found[0].forecasts):
        rows = []
        for answer in found:
            one = answer.forecasts[i]
            ends = interval(one.low, one.high, task_words.accuracy_text)
            value = task_words.accuracy_text(one.value)
            rows.append((answer.task.name, value, ends, _codes(answer)))
        title = f"Answers at {forecast.target.label}, {task_words.beyond(forecast)}"
        out.table(console, title, heads, rows)
    _explain(console, found)


def _codes(answer: Answer | TaskAnswer) -> str:
    return ", ".join(dict.fromkeys(warning.code for warning in answer.warnings))


def _explain(console: Console, answers: Sequence[Answer | TaskAnswer]) -> None:
    """What the codes in a table mean."""
    told = {w.code: w.message for answer in answers for w in answer.warnings}
    out.items(console, "What the warnings mean, by an example", told.items())


def show_charts(console: Console, drawn: Drawn) -> None:
    """Where the charts are, and why some are not."""
    if drawn == Drawn():
        return
    out.heading(console, "Charts")
    out.paths(console, drawn.paths)
    for name, reason in drawn.missing.items():
        out.item(console, f"no {name}", reason)


def show_study(console: Console, study: Study, rule: HeldOut | None, n_held_out: int) -> None:
    """Title and a list of facts."""
    console.print(Text(study.title, style="bold"))
    name = [] if study.name == study.title else [("study", study.name)]
    split = held_out_text(rule, study.grid, n_held_out) if rule else "none"
    told = [*name, *_what_was_read(study), ("held out", split), ("counted", _counted(study))]
    out.facts(console, told)
    show_reading(console, study)


def show_reading(console: Console, study: Study) -> None:
    """What to check about how the table was read, before any result."""
    out.warnings(console, "Check how the table was read", study.warnings)


def listed(rows: Sequence[object]) -> str:
    """'rows 3, 17, 20 and 9 more'."""
    shown = ", ".join(str(row) for row in rows[:MAX_LISTED])
    more = f" and {len(rows) - MAX_LISTED} more" if len(rows) > MAX_LISTED else ""
    return f"row{'' if len(rows) == 1 else 's'} {shown}{more}"


def _what_was_read(study: Study) -> list[tuple[str, str]]:
    log = study.log
    found = [("runs", f"{len(study.runs)} of {_configurations(study)}")]
    if log.unfinished:
        n_out = sum(log.unfinished.values())
        states = ", ".join(f"{n} {state}" for state, n in log.unfinished.items())
        found.append(("not finished", f"{plural(n_out, 'run')} left out: {states}"))
    if log.n_filtered:
        n_left = log.n_rows - sum(log.unfinished.values())
        found.append(("filtered", f"{n_left - log.n_filtered} of {n_left} rows kept"))
    if log.bad:
        some = "; ".join(str(fault) for fault in log.bad[:3]) + ("; …" if len(log.bad) > 3 else "")
        found.append(("left out", f"{plural(log.n_bad, 'bad row')} ({some})"))
    if log.dropped:
        found.append(("dropped", f"the {len(log.dropped)} largest losses ({listed(log.dropped)})"))
    n_diverged = len(log.diverged)
    rows = f"{plural(n_diverged, 'run')} ({listed(log.diverged)})" if n_diverged else "none"
    found += [("diverged", rows), ("replicates", _replicates(study))]
    if study.measured:
        found.append(("measured", f"{_some(study.measured)} (not used)"))
    return found


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return ", ".join(names[:MAX_LISTED]) + more


def _configurations(study: Study) -> str:
    grid = study.grid
    parts = [f"{len(np.unique(grid.column(axis.name)))} {axis.name}" for axis in grid.axes]
    return f"{plural(len(grid), 'configuration')}: {', '.join(parts)}"


def _replicates(study: Study) -> str:
    groups = study.log.replicates
    if not groups:
        return "none"
    n_runs = sum(len(group) for group in groups)
    rows = listed([_joined(group) for group in groups])
    return f"{plural(len(groups), 'configuration')} run more than once, {n_runs} runs ({rows})"


def _joined(group: Sequence[int]) -> str:
    """'3+17' for the rows of one configuration."""
    return "+".join(map(str, group[:3])) + ("+…" if len(group) > 3 else "")


def held_out_text(rule: HeldOut, grid: Grid, n: int) -> str:
    """'30 configurations with C ≥ 1.5e22', 'none'."""
    if rule.kind == "nothing":
        return "none"
    edge = rule.threshold(grid)
    shown = f"C ≥ {flops(edge)}" if rule.kind == "compute" else f"{rule.name} = {count(edge)}"
    return f"{plural(n, 'configuration')} with {shown}"


def _counted(study: Study) -> str:
    grid = study.grid
    inputs = [name for name in ("N", "D") if name in grid.names]
    renamed = [_read_as(study, name, column) for name, column in _renamed(study, ("N", "D", "C"))]
    given = f"{' and '.join(inputs)} as the table counts {'them' if len(inputs) > 1 else 'it'}"
    given += f" ({', '.join(renamed)})" if renamed else ""
    match compute_rule(study):
        case "6ND":
            return f"{given}; C = 6ND"
        case "column" if len(inputs) == 2:
            return f"{given}; C too ({_against_six_n_d(study)})"
        case "column":
            return f"{given}; C too" if inputs else "C as the table counts it"
    return f"{given}; no compute" if inputs else "no compute"


def _read_as(study: Study, name: str, column: str) -> str:
    unit = f" in {unit_name(study.units[name])}" if name in study.units else ""
    return f"{name} is '{column}'{unit}"


def _renamed(study: Study, names: Sequence[str]) -> list[tuple[str, str]]:
    """Those of ``names`` that the table calls otherwise, or counts in another unit."""
    found = [(name, study.columns.get(name, name)) for name in names]
    return [(name, column) for name, column in found if column != name or name in study.units]


def _against_six_n_d(study: Study) -> str:
    grid = study.grid
    ratio = grid.C / (6 * grid.N * grid.D)
    low, high = float(ratio.min()), float(ratio.max())
    off = max(1 - low, high - 1)
    if low < 0.5 or high > 2.0:
        ends = dict.fromkeys([number(low, 2), number(high, 2)])
        return f"{' to '.join(ends)} times 6ND"
    return "it is 6ND" if off < 1e-6 else f"within {percent(off, 2)} of 6ND"
