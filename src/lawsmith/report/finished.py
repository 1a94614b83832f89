"""A report's source from finished runs: of a table, of a catalogued study, or of a replay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lawsmith.analysis import Analysis, FitOptions, answer_study
from lawsmith.answer import Answer, Target, target_of
from lawsmith.charts.answer import answered_by, answered_in
from lawsmith.charts.runs import FITTED, HELD_OUT, run_kinds
from lawsmith.charts.timeline import Attempt
from lawsmith.charts.trunks import curved_by
from lawsmith.curves import Along
from lawsmith.datasets import ReadLog
from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.replay import Replayed, Trace, answers_of
from lawsmith.report.cards.record import Column, run_table
from lawsmith.report.finding import Memory, moments, with_laws
from lawsmith.report.parts import RunTable
from lawsmith.report.source import Found, Record, Source, Spend
from lawsmith.runs import Runs

TOO_FEW = "too few runs have finished"
ROLES = {FITTED: "fitted", HELD_OUT: "held out"}


def table_source(
    study: Study,
    options: FitOptions,
    targets: Sequence[Target],
    record: Record,
    along: Along | None = None,
    found: Answer | None = None,
) -> Source:
    """The source of a report on a study whose runs are all made.

    along   losses along runs
    found   the answer, where it is known already
    """
    why_not = ""
    if found is None:
        level, hold_out = options.level, options.hold_out
        try:
            found = answer_study(study, targets, level=level, hold_out=hold_out, curves=along)
        except LawsmithError as error:
            why_not = str(error)
    answered = None if found is None else answered_by(found, study)
    curved = None if found is None or along is None else curved_by(found, study, along)
    known = with_laws(Found(answered, why_not, curved), study, options)
    cost = float(study.grid.C[study.runs.index].sum())
    spend = Spend(cost, float(study.grid.C.sum()), len(study.runs), len(study.grid))
    called: Column = study.run_names or range(1, len(study.runs) + 1)
    runs = _runs(study, known.analysis, {"run": list(called)}, {})
    return Source("table", study, options.law, spend, runs, record, known)


def replay_source(replayed: Replayed, record: Record) -> Source:
    """The source of a report on a replay; its answers are worked out where it has none."""
    trace, task, study = replayed.trace, replayed.trace.task, observed_study(replayed)
    told, steps = trace.settings.get("targets"), trace.steps
    targets = tuple(map(target_of, told)) if isinstance(told, list) else ()
    rows = [step.candidate for step in steps]
    answers = replayed.answers or answers_of(task, replayed.study, rows, targets)
    answered = None if answers is None else answered_in(trace, replayed.study, answers)

    def share(runs: Runs) -> float:
        return steps[len(runs) - 1].cost_fraction

    way = moments(study, targets[0], share, Memory(), prior=task.prior) if targets else ()
    computes = tuple(target for target in targets if not target.sized)
    options = FitOptions(task.law, targets=computes[:1], force=bool(trace.settings.get("force")))
    why_not = TOO_FEW if answered is None else ""
    found = with_laws(Found(answered, why_not, moments=way), study, options)
    spend = Spend(steps[-1].cost, task.total_compute, len(steps), len(task.pool))
    first: dict[str, Column] = {"run": [step.iteration for step in steps]}
    first |= {"name": list(study.run_names)} if study.run_names else {}
    chosen = ["initial design" if np.isnan(step.window) else "search" for step in steps]
    shares = [float(f"{100 * step.cost_fraction:.4g}") for step in steps]
    runs = _runs(study, found.analysis, first, {"chosen by": chosen, "spent (%)": shares})
    attempts = tuple(_attempts(trace, study))
    return Source("replay", study, task.law, spend, runs, record, found, attempts)


def observed_study(replayed: Replayed) -> Study:
    """The pool as a study of which only the replayed runs were made."""
    task = replayed.trace.task
    rows = [step.candidate for step in replayed.trace.steps]
    called = replayed.study.config_names() if replayed.study.run_names else []
    return replace(
        replayed.study,
        grid=task.pool,
        runs=Runs.from_losses(rows, task.loss[rows]),
        log=ReadLog(len(rows)),
        run_names=tuple(called[task.rows[row]] for row in rows) if called else (),
        target=replayed.study.target[task.rows],
    )


def _attempts(trace: Trace, study: Study) -> Iterator[Attempt]:
    spent = 0.0
    for i, step in enumerate(trace.steps):
        initial = np.isnan(step.window)
        state = "diverged" if np.isnan(step.loss) else "initial" if initial else "done"
        name = study.run_names[i] if study.run_names else f"{step.iteration}"
        cost, spent = step.cost - spent, step.cost
        yield Attempt(name, step.compute, cost, step.loss, state, step.config, step.window)


def _runs(
    study: Study,
    analysis: Analysis | None,
    first: dict[str, Column],
    last: dict[str, Column],
) -> RunTable:
    """Every run in the study's order, and its part in the law."""
    runs, kinds = study.runs, np.full(len(study.grid), "", dtype=object)
    if analysis is not None:
        kinds = np.array([ROLES.get(kind, "") for kind in run_kinds(analysis)], dtype=object)
    first = {**first, "state": runs.state.tolist()}
    last = {"role": kinds[runs.index].tolist(), **last}
    return run_table(study.grid, runs.index, runs.loss, analysis, first=first, last=last)
