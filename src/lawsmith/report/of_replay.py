"""A report's source from a replay: what its runs say, and what the whole pool would have said."""

from __future__ import annotations

import numpy as np

from lawsmith.analysis import FitOptions
from lawsmith.answer import Target, target_of
from lawsmith.charts.answer import Answered, answered_in
from lawsmith.charts.narrowing import Moment
from lawsmith.charts.timeline import Event
from lawsmith.datasets.records import Study
from lawsmith.frontier import frontier
from lawsmith.laws.fit import LawFit
from lawsmith.replay import Replayed, answers_of
from lawsmith.replay.records import Step, Trace
from lawsmith.report.answers import moments
from lawsmith.report.laws import sizes_of, try_analyse
from lawsmith.report.parts import RunTable
from lawsmith.report.run_table import run_table
from lawsmith.report.source import Record, Source, Spend
from lawsmith.report.trace_file import observed_study
from lawsmith.runs import Runs

TOO_FEW = "too few runs have finished"


def replay_source(replayed: Replayed, record: Record) -> Source:
    """The source of a report on a replay; its answers are worked out where it has none."""
    trace, task = replayed.trace, replayed.trace.task
    study, targets = observed_study(replayed), _targets(trace)
    computes = tuple(target for target in targets if not target.sized)
    force = bool(trace.settings.get("force"))
    options = FitOptions(task.law, targets=computes[:1], force=force)
    analysis, why_no_law = try_analyse(study, options)
    sizes, why_no_sizes = sizes_of(study, options, analysis, why_no_law)
    answered = _answered(replayed, targets)
    last = trace.steps[-1]
    return Source(
        kind="replay",
        study=study,
        law=task.law,
        spend=Spend(last.cost, task.total_compute, len(trace.steps), len(task.pool)),
        runs=_runs(trace, study, None if analysis is None else analysis.fit),
        record=record,
        answered=answered,
        why_no_answer="" if answered is not None else TOO_FEW,
        analysis=analysis,
        why_no_law=why_no_law,
        sizes=sizes,
        why_no_sizes=why_no_sizes,
        moments=_moments(trace, study, targets),
        events=tuple(map(_event, trace.steps, study.run_names or [""] * len(trace.steps))),
        trace=trace,
    )


def _targets(trace: Trace) -> tuple[Target, ...]:
    told = trace.settings.get("targets")
    return tuple(map(target_of, told)) if isinstance(told, list) else ()


def _answered(replayed: Replayed, targets: tuple[Target, ...]) -> Answered | None:
    trace, study = replayed.trace, replayed.study
    rows = [step.candidate for step in trace.steps]
    answers = replayed.answers or answers_of(trace.task, study, rows, targets)
    return None if answers is None else answered_in(trace, study, answers)


def _moments(trace: Trace, study: Study, targets: tuple[Target, ...]) -> tuple[Moment, ...]:
    """What was known on the way at the first target."""
    if not targets:
        return ()

    def spend(runs: Runs) -> float:
        return trace.steps[len(runs) - 1].cost_fraction

    return tuple(moments(trace.task.pool, study.runs, targets[0], spend, prior=trace.task.prior))


def _event(step: Step, called: str) -> Event:
    initial = np.isnan(step.window)
    state = "diverged" if np.isnan(step.loss) else "initial" if initial else "done"
    name = called or f"{step.iteration}"
    return Event(name, step.compute, step.loss, state, step.config, step.window)


def _runs(trace: Trace, study: Study, fit: LawFit | None) -> RunTable:
    steps = trace.steps
    rows = np.array([step.candidate for step in steps])
    best = rows[frontier(study.grid.subset(rows), trace.task.loss[rows], ("C",))]
    roles = ["best so far" if step.candidate in best else "" for step in steps]
    chosen = ["initial design" if np.isnan(step.window) else "search" for step in steps]
    return run_table(
        study.grid,
        study.runs.index,
        first={
            "run": [step.iteration for step in steps],
            **({"name": list(study.run_names)} if study.run_names else {}),
            "state": study.runs.state.tolist(),
        },
        loss=study.runs.loss,
        fit=fit,
        last={
            "role": roles,
            "chosen by": chosen,
            "spent (%)": [float(f"{100 * step.cost_fraction:.4g}") for step in steps],
        },
    )
