"""`lawsmith fit --metric`: accuracies of tasks at a target, on the terminal or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from lawsmith import __version__
from lawsmith.analysis import answer_tasks
from lawsmith.answer.payload import warning_payload
from lawsmith.cli import console as out
from lawsmith.cli import options as read
from lawsmith.cli.console import downloads, stdout, working
from lawsmith.cli.draw import Drawn, draw_tasks
from lawsmith.cli.fit_metrics import check_falls
from lawsmith.cli.fit_run import FitRequest
from lawsmith.cli.fit_view import show_charts, show_notes
from lawsmith.cli.payload import compute_rule, plain
from lawsmith.cli.study_view import show_study
from lawsmith.datasets import ReadOptions, Study, load
from lawsmith.errors import LawsmithError
from lawsmith.formats import interval, percent
from lawsmith.tasks import Task, TaskAnswer
from lawsmith.tasks.text import HEADS, accuracy_text, beyond, lines, remarks, rests_on


def fit_tasks(
    asked: FitRequest, tasks: Sequence[Task], via: str, *, folder: Path | None, as_json: bool
) -> None:
    """Read, answer, show."""
    with downloads() as progress:
        study = load(asked.table, reading(asked.reading, tasks, via), progress=progress)
    if via:
        check_falls(study, "--via", via)
    targets = read.targets(asked.targets, list(study.grid.hp))
    with working("Working out the answer"):
        found = answer_tasks(
            study, tasks, targets, via=via, level=asked.level, hold_out=asked.hold_out
        )
    drawn = draw_tasks(folder, study, found) if folder else Drawn()
    if as_json:
        made = payload(study, found, drawn)
        typer.echo(json.dumps(made, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        show(stdout(), study, asked, found, drawn)


def reading(options: ReadOptions, tasks: Sequence[Task], via: str) -> ReadOptions:
    """With the columns of the tasks; without --via, accuracy is in the place of the loss."""
    columns = dict(options.columns)
    if via and columns.get("loss", via) != via:
        raise LawsmithError(
            "--via", got=f"{via!r}, and --loss {columns['loss']!r}", want="one loss"
        )
    columns["loss"] = via or tasks[0].name
    sign = options.loss_sign if via else "any"
    names = tuple(task.name for task in tasks)
    return replace(options, columns=columns, loss_sign=sign, metrics=names)


def payload(study: Study, found: Sequence[TaskAnswer], drawn: Drawn) -> dict[str, Any]:
    """The first task's answer, and all of them by name where there are several."""
    several = {answer.task.name: answer.to_dict() for answer in found} if len(found) > 1 else {}
    made: dict[str, Any] = plain(
        {
            "version": __version__,
            "study": {"name": study.name, "title": study.title, "compute": compute_rule(study)},
            **found[0].to_dict(),
            "metrics": several,
            "charts": drawn.paths,
            "charts_missing": drawn.missing,
            "reading_warnings": [warning_payload(w) for w in study.warnings],
            "notes": list(study.notes),
        }
    )
    return made


def show(
    console: Console, study: Study, asked: FitRequest, found: Sequence[TaskAnswer], drawn: Drawn
) -> None:
    """The study; every task, or a table of them where there are several; warnings and notes."""
    held_out = 0 if asked.hold_out is None else len(study.grid.split(asked.hold_out)[1])
    show_study(console, study, asked.hold_out, held_out)
    if len(found) == 1:
        show_task(console, found[0])
    else:
        show_several(console, found)
    show_notes(console, study.notes)
    show_charts(console, drawn)


def show_task(console: Console, found: TaskAnswer) -> None:
    """One task: the verdict, each target, what it rests on."""
    out.heading(console, f"Answer for {found.task.name}, from {rests_on(found)}")
    out.prose(console, found.verdict)
    for forecast in found.forecasts:
        out.heading(console, f"{forecast.target.label}, {beyond(forecast)}")
        table = out.table(HEADS[0], HEADS[1], f"{percent(found.level)} {HEADS[2]}")
        for line in lines(forecast):
            table.add_row(*line)
        out.show(console, table)
    console.print()
    for remark in remarks(found):
        out.prose(console, f"{remark}.")
    if found.warnings:
        out.heading(console, "Warnings about the answer")
        for warning in found.warnings:
            out.item(console, warning.code, warning.message)


def show_several(console: Console, found: Sequence[TaskAnswer]) -> None:
    """A row a task for each target, then which tasks to beware of."""
    level = percent(found[0].level)
    for i, forecast in enumerate(found[0].forecasts):
        out.heading(console, f"Answers at {forecast.target.label}, {beyond(forecast)}")
        table = out.table("task", "accuracy", f"{level} interval of a run", "warnings")
        for answer in found:
            one = answer.forecasts[i]
            codes = ", ".join(dict.fromkeys(w.code for w in answer.warnings))
            ends = interval(one.low, one.high, accuracy_text)
            table.add_row(answer.task.name, accuracy_text(one.value), ends, codes)
        out.show(console, table)
    told = {w.code: w.message for answer in found for w in answer.warnings}
    if told:
        out.heading(console, "What the warnings mean, by an example")
        for code, message in told.items():
            out.item(console, code, message)
