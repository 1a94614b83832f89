"""A report's source from a replay: what its runs say, and what the whole pool would have said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lawsmith.analysis import FitOptions, Target
from lawsmith.charts.data.narrowing import Known
from lawsmith.charts.data.outlook import Seen
from lawsmith.charts.data.runs import called_in
from lawsmith.charts.data.timeline import Event
from lawsmith.charts.draw.titles import study_name
from lawsmith.datasets.records import Study
from lawsmith.outlook import Outlook
from lawsmith.replay.records import Step, Trace
from lawsmith.report.laws import shares_of, try_analyse
from lawsmith.report.outlooks import Lookout, enough_runs, first_runs, ladder, surrogate_of
from lawsmith.report.parts import RunTable
from lawsmith.report.run_table import run_table
from lawsmith.report.source import Record, Source, Spend
from lawsmith.report.trace_file import Replayed, observed_study
from lawsmith.runs import State


def replay_source(replayed: Replayed, record: Record) -> Source:
    """The source of a report on a replay."""
    trace, task = replayed.trace, replayed.trace.task
    study = observed_study(replayed)
    targets = tuple(float(label) for label in task.targets)
    force = bool(trace.settings.get("force"))
    options = FitOptions(task.law, targets=tuple(map(Target, targets[:1])), force=force)
    analysis, why_not = try_analyse(study, options)
    shares, why_no_shares = shares_of(study, options, analysis, why_not)
    known, seen, both = _outlooks(trace, study, targets)
    if seen is not None and replayed.predictions:
        # What the replay itself printed, to the last digit.
        exact = replace(seen.outlook, predictions=replayed.predictions)
        seen = replace(seen, outlook=exact)
    last = trace.steps[-1]
    return Source(
        kind="replay",
        study=study,
        law=task.law,
        spend=Spend(last.cost, task.total_compute, len(trace.steps), len(task.pool)),
        runs=_runs(trace, study, None if seen is None else seen.outlook),
        record=record,
        analysis=analysis,
        why_no_law=why_not,
        shares=shares,
        why_no_shares=why_no_shares,
        seen=seen,
        both=both,
        n_answered=int((study.runs.state == State.DONE.value).sum()),
        known=known,
        events=tuple(map(_event, trace.steps, study.run_names or [""] * len(trace.steps))),
        trace=trace,
    )


def _outlooks(
    trace: Trace, study: Study, targets: tuple[float, ...]
) -> tuple[tuple[Known, ...], Seen | None, Outlook | None]:
    """What was known on the way, then after the last run, then of N and D."""
    surrogate = surrogate_of(dict(trace.settings), trace.seed, n_runs=len(trace.steps))
    if surrogate is None:
        return (), None, None
    search = Lookout(trace.task.pool, surrogate, trace.task.law, targets, trace.seed)
    n_init = int(str(trace.settings.get("n_init") or 1))
    known, seen, both = [], None, None
    for n in ladder(enough_runs(search.law, n_init), len(trace.steps)):
        runs = first_runs(study.runs, n)
        posterior = search.posterior(runs)
        found = search.outlook(runs, posterior) if posterior is not None else None
        if found is None or posterior is None:
            continue
        if found.predictions:
            known.append(Known(trace.steps[n - 1].cost_fraction, n, found.predictions[0]))
        if n == len(trace.steps):
            seen = Seen(
                study_name(study),
                search.grid,
                runs,
                posterior,
                found,
                trace.task,
                called_in(study),
            )
            both = search.both(runs, posterior)
    return tuple(known), seen, both


def _event(step: Step, called: str) -> Event:
    initial = np.isnan(step.window)
    state = "diverged" if np.isnan(step.loss) else "initial" if initial else "done"
    name = called or f"{step.iteration}"
    return Event(name, step.compute, step.loss, state, step.config, step.window)


def _runs(trace: Trace, study: Study, outlook: Outlook | None) -> RunTable:
    steps = trace.steps
    on_envelope = set() if outlook is None else set(outlook.rows[outlook.observed].tolist())
    roles = ["envelope" if step.candidate in on_envelope else "" for step in steps]
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
        fit=None if outlook is None else outlook.fit,
        last={
            "role": roles,
            "chosen by": chosen,
            "spent (%)": [float(f"{100 * step.cost_fraction:.4g}") for step in steps],
        },
    )
