"""`lawsmith fit --metrics`: several losses of the same runs, a surface for each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import typer
from rich.console import Console

from lawsmith import __version__
from lawsmith.analysis import answer_study
from lawsmith.answer import Answer
from lawsmith.answer.payload import warning_payload
from lawsmith.answer.text import beyond, loss_text
from lawsmith.arrays import FloatArray
from lawsmith.cli import console as out
from lawsmith.cli import options as read
from lawsmith.cli.console import downloads, stdout, working
from lawsmith.cli.fit_run import FitRequest
from lawsmith.cli.payload import compute_rule, plain
from lawsmith.cli.study_view import show_reading
from lawsmith.datasets import Study, load
from lawsmith.errors import LawsmithError
from lawsmith.formats import interval, percent
from lawsmith.runs import State

RISES = 0.5  # a correlation of rank with compute above which a column is no loss


def fit_metrics(asked: FitRequest, names: Sequence[str], *, as_json: bool) -> None:
    """Read, answer for each column, show side by side."""
    found: dict[str, Answer] = {}
    study = None
    for name in names:
        columns = {**asked.reading.columns, "loss": name}
        with downloads() as progress:
            study = load(asked.table, replace(asked.reading, columns=columns), progress=progress)
        check_falls(study, "--metrics", name)
        targets = read.targets(asked.targets, list(study.grid.hp))
        with working(f"Working out the answer for {name}"):
            found[name] = answer_study(study, targets, level=asked.level, hold_out=asked.hold_out)
    assert study is not None
    if as_json:
        made = payload(study, found)
        typer.echo(json.dumps(made, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        show_reading(stdout(), study)
        show(stdout(), found)


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


def payload(study: Study, found: dict[str, Answer]) -> dict[str, Any]:
    """The first column's answer, and every column's under ``metrics``."""
    first = next(iter(found.values()))
    made: dict[str, Any] = plain(
        {
            "version": __version__,
            "study": {"name": study.name, "title": study.title, "compute": compute_rule(study)},
            **first.to_dict(),
            "metrics": {name: answer.to_dict() for name, answer in found.items()},
            "reading_warnings": [warning_payload(w) for w in study.warnings],
            "notes": list(study.notes),
        }
    )
    return made


def show(console: Console, found: dict[str, Answer]) -> None:
    """A row a column for each target."""
    first = next(iter(found.values()))
    for i, forecast in enumerate(first.forecasts):
        out.heading(console, f"Best loss at {forecast.target.label}, {beyond(forecast)}")
        level = percent(first.level)
        table = out.table("column", "loss", f"{level} interval", "one further run", "warnings")
        for name, answer in found.items():
            one = answer.forecasts[i]
            codes = ", ".join(dict.fromkeys(w.code for w in answer.warnings))
            spans = [(one.low, one.high), (one.run_low, one.run_high)]
            ends = [interval(low, high, loss_text) for low, high in spans]
            table.add_row(name, loss_text(one.loss), *ends, codes)
        out.show(console, table)
    told = {w.code: w.message for answer in found.values() for w in answer.warnings}
    if told:
        out.heading(console, "What the warnings mean, by an example")
        for code, message in told.items():
            out.item(console, code, message)
