"""What several commands show: how the table was read, answers side by side, charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lawsmith.answer import Answer, Forecast
from lawsmith.answer import text as words
from lawsmith.cli import console as out
from lawsmith.digest import Columns, Digest, Part, as_remarks, as_warnings
from lawsmith.files import write_output
from lawsmith.formats import count, flops, interval, listed, number, percent, plural
from lawsmith.grid import Grid, HeldOut
from lawsmith.spreadsheet import csv_text
from lawsmith.tasks import TaskAnswer, TaskForecast
from lawsmith.tasks import text as task_words

if TYPE_CHECKING:  # `status` reads no table and should start fast
    from lawsmith.cli.fit import FitResult
    from lawsmith.datasets import Study
    from lawsmith.replay import Replayed

MAX_LISTED = 5


@dataclass(frozen=True)
class Drawn:
    """The charts that were written, and why some could not be drawn."""

    paths: tuple[Path, ...] = ()
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def payload(self) -> dict[str, Any]:
        """Their part of ``--json``."""
        return {"charts": self.paths, "charts_missing": self.missing}


def draw_fit(folder: Path, result: FitResult) -> Drawn:
    """Every chart of the answer, of the law and of the curves that the runs allow."""
    from lawsmith.charts import write_all  # here: altair is slow to import
    from lawsmith.charts.answer import answer_with_runs
    from lawsmith.charts.trunks import answer_with_curves

    study, answer, along = result.study, result.answer, result.along
    answered = None if answer is None else answer_with_runs(answer, study)
    curved = None if answer is None or along is None else answer_with_curves(answer, study, along)
    return _drawn(write_all, folder, answered, result.analysis, curved=curved)


def draw_tasks(folder: Path, study: Study, answers: Sequence[TaskAnswer]) -> Drawn:
    """Both charts of every task."""
    from lawsmith.charts import write_tasks
    from lawsmith.datasets.records import study_name

    return _drawn(write_tasks, folder, study_name(study), answers)


def draw_replay(folder: Path, replayed: Replayed) -> Drawn:
    """Every chart of a replay's answer."""
    from lawsmith.charts import write_all
    from lawsmith.charts.answer import replay_with_runs

    both = replayed.answers
    return _drawn(
        write_all, folder, both and replay_with_runs(replayed.trace, replayed.study, both)
    )


def _drawn(write: Callable[..., Any], folder: Path, *what: Any, **more: Any) -> Drawn:
    with out.working(f"Drawing charts into {folder}"):
        paths, missing = write(folder, *what, **more)
    return Drawn(tuple(paths), missing)


def losses_parts(answers: Mapping[str, Answer]) -> list[Part]:
    """The answers for several losses of the same runs: a table per target, a row per loss."""

    def cells(one: Forecast) -> tuple[str, ...]:
        return *words.loss_cells(one), interval(one.run_low, one.run_high, words.loss_text)

    first = next(iter(answers.values()))
    heads = ("column", "loss", f"{percent(first.level)} interval", "one further run", "warnings")
    titles = [f"Best loss at {f.target.label}, {words.beyond(f)}" for f in first.forecasts]
    texts = {n: words.others_text(a.others) for n, a in answers.items() if a.others is not None}
    lacking = as_remarks("Runs without a loss", [(n, text) for n, text in texts.items() if text])
    return _side_by_side(answers, titles, heads, cells, lacking)


def tasks_parts(answers: Sequence[TaskAnswer]) -> list[Part]:
    """The answers for several tasks: a table per target, a row per task."""

    def cells(one: TaskForecast) -> tuple[str, ...]:
        form = task_words.accuracy_text
        return form(one.value), interval(one.low, one.high, form)

    first, named = answers[0], {one.task.name: one for one in answers}
    heads = ("task", "accuracy", f"{percent(first.level)} interval of a run", "warnings")
    titles = [f"Answers at {f.target.label}, {task_words.beyond(f)}" for f in first.forecasts]
    return _side_by_side(named, titles, heads, cells, [])


def _side_by_side(
    answers: Mapping[str, Any],
    titles: Sequence[str],
    heads: tuple[str, ...],
    cells: Callable[[Any], tuple[str, ...]],
    notes: list[Part],
) -> list[Part]:
    """A table per target with a row per answer, and what the codes of warnings mean."""
    codes = {n: ", ".join(dict.fromkeys(w.code for w in a.warnings)) for n, a in answers.items()}
    tables = [
        Columns(title, heads, [(n, *cells(a.forecasts[i]), codes[n]) for n, a in answers.items()])
        for i, title in enumerate(titles)
    ]
    messages = {w.code: w.message for answer in answers.values() for w in answer.warnings}
    explained = as_remarks("What the warnings mean, by an example", list(messages.items()))
    return [*tables, *notes, *explained]


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]], option: str = "--out") -> Path:
    """Write a table with the columns of its first row; ``option`` names the file."""
    return write_output(path, csv_text(list(rows[0]), rows), where=option)


def show_charts(drawn: Drawn) -> None:
    """Where the charts are, and why some are not."""
    if not drawn.paths and not drawn.missing:
        return
    out.heading("Charts")
    out.paths(drawn.paths)
    for name, reason in drawn.missing.items():
        out.item(f"no {name}", reason)


def show_study(study: Study, rule: HeldOut | None) -> None:
    """Show the title and facts about the runs, and warnings about how they were read."""
    log, grid, groups = study.log, study.grid, study.log.replicates
    axes = [f"{len(np.unique(grid.column(axis.name)))} {axis.name}" for axis in grid.axes]
    states = ", ".join(f"{n} {state}" for state, n in log.unfinished.items())
    n_out = sum(log.unfinished.values())
    n_left = log.n_rows - n_out
    bad = "; ".join(str(fault) for fault in log.bad[:3]) + ("; …" if len(log.bad) > 3 else "")
    # The rows of one configuration as '3+17'.
    joined = ["+".join(map(str, rows[:3])) + ("+…" if len(rows) > 3 else "") for rows in groups]
    n_again = sum(map(len, groups))
    again = f"{plural(len(groups), 'configuration')} run more than once, {n_again} runs"
    dropped, diverged = len(log.dropped), plural(len(log.diverged), "run")
    out.title(study.title)
    out.facts(
        {
            "study": study.name if study.name != study.title else "",
            "runs": f"{len(study.runs)} of {plural(len(grid), 'configuration')}: {', '.join(axes)}",
            "not finished": n_out and f"{plural(n_out, 'run')} left out: {states}",
            "filtered": log.n_filtered and f"{n_left - log.n_filtered} of {n_left} rows kept",
            "left out": log.bad and f"{plural(log.n_bad, 'bad row')} ({bad})",
            "dropped": log.dropped and f"the {dropped} largest losses ({_rows(log.dropped)})",
            "diverged": f"{diverged} ({_rows(log.diverged)})" if log.diverged else "none",
            "replicates": f"{again} ({_rows(joined)})" if groups else "none",
            "measured": study.measured and f"{listed(study.measured, MAX_LISTED)} (not used)",
            "held out": held_out_text(rule, grid) if rule else "none",
            "counted": _counted(study),
        }
    )
    show_reading(study)


def show_reading(study: Study) -> None:
    """Show warnings about how the table was read, before any result."""
    out.show(Digest("", as_warnings("Check how the table was read", study.warnings)))


def _rows(rows: Sequence[object]) -> str:
    """'rows 3, 17, 20 and 9 more'."""
    return f"row{'' if len(rows) == 1 else 's'} {listed(rows, MAX_LISTED)}"


def held_out_text(rule: HeldOut, grid: Grid) -> str:
    """'30 configurations with C ≥ 1.5e22', 'none'."""
    if rule.kind == "nothing":
        return "none"
    edge, n = rule.threshold(grid), len(grid.split(rule)[1])
    shown = f"C ≥ {flops(edge)}" if rule.kind == "compute" else f"{rule.name} = {count(edge)}"
    return f"{plural(n, 'configuration')} with {shown}"


def _counted(study: Study) -> str:
    from lawsmith.cli.options import compute_rule
    from lawsmith.datasets.column_names import unit_name

    grid = study.grid
    inputs = [name for name in ("N", "D") if name in grid.names]
    renamed = []
    for name in ("N", "D", "C"):
        column, unit = study.columns.get(name, name), study.units.get(name)
        if column != name or unit is not None:
            in_unit = "" if unit is None else f" in {unit_name(unit)}"
            renamed.append(f"{name} is '{column}'{in_unit}")
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


def _against_six_n_d(study: Study) -> str:
    grid = study.grid
    ratio = grid.C / (6 * grid.N * grid.D)
    low, high = float(ratio.min()), float(ratio.max())
    off = max(1 - low, high - 1)
    if low < 0.5 or high > 2.0:
        ends = dict.fromkeys([number(low, 2), number(high, 2)])
        return f"{' to '.join(ends)} times 6ND"
    return "it is 6ND" if off < 1e-6 else f"within {percent(off, 2)} of 6ND"
