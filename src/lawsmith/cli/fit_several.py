"""`lawsmith fit --metrics` and `--metric`: several losses of the same runs, or accuracies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lawsmith.analysis import answer_tasks
from lawsmith.analysis.losses import answer_losses, reading_of
from lawsmith.arrays import FloatArray
from lawsmith.cli import options as read
from lawsmith.cli import views
from lawsmith.cli.console import notes, print_json, stdout, working
from lawsmith.cli.draw import Drawn, draw_tasks
from lawsmith.cli.fit_payload import losses_payload, tasks_payload
from lawsmith.cli.request import Request, load_study
from lawsmith.datasets import ReadOptions, Study
from lawsmith.errors import LawsmithError
from lawsmith.runs import State

RISES = 0.5  # rank correlation with compute above which a column is no loss


def fit_losses(asked: Request, names: Sequence[str], *, as_json: bool) -> None:
    """Read each column as the loss, answer for each, show the answers side by side."""
    studies: dict[str, Study] = {}
    for name in names:
        study = load_study(asked.table, reading_of(name, names, asked.reading))
        check_falls(study, "--metrics", name)
        studies[name] = study
    targets = read.targets(asked.targets, list(study.grid.hp))
    with working("Working out the answers"):
        found = answer_losses(studies, targets, level=asked.level, hold_out=asked.hold_out)
    if as_json:
        print_json(losses_payload(study, found))
    else:
        views.show_reading(stdout(), study)
        views.show_losses(stdout(), found)


def fit_tasks(asked: Request, folder: Path | None, *, as_json: bool) -> None:
    """Read the columns of the tasks, answer for each, show."""
    study = load_study(asked.table, _reading(asked))
    targets = read.targets(asked.targets, list(study.grid.hp))
    via, rule = asked.via, asked.hold_out
    if via:
        check_falls(study, "--via", via)
    with working("Working out the answer"):
        found = answer_tasks(study, asked.tasks, targets, via=via, level=asked.level, hold_out=rule)
    drawn = draw_tasks(folder, study, found) if folder else Drawn()
    if as_json:
        print_json(tasks_payload(study, found, drawn))
        return
    console = stdout()
    views.show_study(console, study, rule, 0 if rule is None else len(study.grid.split(rule)[1]))
    if len(found) == 1:
        views.show_task(console, found[0])
    else:
        views.show_tasks(console, found)
    notes(console, study.notes)
    views.show_charts(console, drawn)


def _reading(asked: Request) -> ReadOptions:
    """With the columns of the tasks; without --via, accuracy is in the place of the loss."""
    options, via = asked.reading, asked.via
    columns = dict(options.columns)
    if via and columns.get("loss", via) != via:
        got = f"{via!r}, and --loss {columns['loss']!r}"
        raise LawsmithError("--via", got=got, want="one loss")
    columns["loss"] = via or asked.tasks[0].name
    sign = options.loss_sign if via else "any"
    names = tuple(task.name for task in asked.tasks)
    return replace(options, columns=columns, loss_sign=sign, metrics=names)


def check_falls(study: Study, option: str, name: str) -> None:
    """Refuse a column that rises with compute: it is no loss."""
    done = study.runs.of(State.DONE)
    C = study.grid.C[done.index]
    if len(done) > 3 and len(np.unique(C)) > 1 and len(np.unique(done.loss)) > 1:
        rank = float(np.corrcoef(_rank(C), _rank(done.loss))[0, 1])
        if rank > RISES:
            got = f"{name}, which rises with compute (rank correlation {rank:.2f})"
            hint = f"for an accuracy: --metric {name}"
            raise LawsmithError(option, got=got, want="a loss", hint=hint)


def _rank(values: FloatArray) -> FloatArray:
    """Place of each value in their order, the same for equal ones."""
    return np.unique(values, return_inverse=True)[1].astype(np.float64)
