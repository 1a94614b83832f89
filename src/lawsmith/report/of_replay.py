"""A report's source from a replay: trace.json read back, what its runs and what its pool say."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lawsmith.analysis import FitOptions
from lawsmith.answer import Target, target_of
from lawsmith.charts.answer import Answered, answered_in
from lawsmith.charts.narrowing import Moment
from lawsmith.charts.timeline import Attempt
from lawsmith.costs import Apart, Trunks
from lawsmith.datasets import ReadLog, ReadOptions, Study, load
from lawsmith.datasets.fetch import Progress
from lawsmith.errors import LawsmithError
from lawsmith.files import read_bytes, reason
from lawsmith.frontier import frontier
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import get_law
from lawsmith.laws.fit import LawFit
from lawsmith.numbers import finite, read_json
from lawsmith.plausible import SCALE
from lawsmith.replay import Replayed, Step, Task, Trace, answers_of, prepare
from lawsmith.replay.steps import make_step
from lawsmith.report.cards.runs import run_table
from lawsmith.report.finding import Memory, moments, with_laws
from lawsmith.report.parts import RunTable
from lawsmith.report.source import Found, Record, Source, Spend
from lawsmith.runs import Runs
from lawsmith.study.earlier import prior_from

TOO_FEW = "too few runs have finished"
FILE = "trace.json"
MAX_BYTES = 512 * 2**20
Json = dict[str, Any]


def replay_source(replayed: Replayed, record: Record) -> Source:
    """The source of a report on a replay; its answers are worked out where it has none."""
    trace, task = replayed.trace, replayed.trace.task
    study, targets = observed_study(replayed), _targets(trace)
    computes = tuple(target for target in targets if not target.sized)
    force = bool(trace.settings.get("force"))
    options = FitOptions(task.law, targets=computes[:1], force=force)
    answered = _answered(replayed, targets)
    why_not = TOO_FEW if answered is None else ""
    found = Found(answered, why_not, moments=_moments(trace, study, targets))
    found = with_laws(found, study, options)
    last = trace.steps[-1]
    return Source(
        kind="replay",
        study=study,
        law=task.law,
        spend=Spend(last.cost, task.total_compute, len(trace.steps), len(task.pool)),
        runs=_runs(trace, study, None if found.analysis is None else found.analysis.fit),
        record=record,
        found=found,
        attempts=tuple(_attempts(trace, study)),
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

    return moments(study, targets[0], spend, Memory(), prior=trace.task.prior)


def _attempts(trace: Trace, study: Study) -> list[Attempt]:
    found: list[Attempt] = []
    spent = 0.0
    for step in trace.steps:
        initial = np.isnan(step.window)
        state = "diverged" if np.isnan(step.loss) else "initial" if initial else "done"
        name = study.run_names[len(found)] if study.run_names else f"{step.iteration}"
        cost, spent = step.cost - spent, step.cost
        run = (name, step.compute, cost, step.loss, state, step.config, step.window)
        found.append(Attempt(*run))
    return found


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


def read_replay(path: Path, reading: ReadOptions, *, progress: Progress | None = None) -> Replayed:
    """The replay in a file; ``reading`` adds what the file does not tell, such as column names."""
    told = _read(path)
    try:
        return _replayed(told, reading, progress)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        got = f"{type(error).__name__}: {error}"
        raise _not_a_trace(path, got) from None


def _read(path: Path) -> Json:
    try:
        told = read_json(read_bytes(path, limit=MAX_BYTES))
    except OSError as error:
        raise LawsmithError(str(path), got=reason(error)) from None
    except ValueError as error:
        raise _not_a_trace(path, str(error)) from None
    if not isinstance(told, dict) or "trace" not in told:
        raise _not_a_trace(path, "no key 'trace'")
    return told


def _not_a_trace(path: Path, got: str) -> LawsmithError:
    return LawsmithError(str(path), got=got, want="what lawsmith replay --out writes")


def _replayed(told: Json, reading: ReadOptions, progress: Progress | None) -> Replayed:
    settings = dict(told["settings"])
    above = settings.get("diverged_above")
    own = ReadOptions(
        columns={str(k): str(v) for k, v in (settings.get("columns") or {}).items()},
        ignore=tuple(str(name) for name in settings.get("ignore") or ()),
        where=settings.get("where"),
        drop_largest_loss=int(settings.get("drop_largest_loss") or 0),
        skip_bad_rows=bool(settings.get("skip_bad_rows")),
        diverged_above=math.inf if above is None else finite(above, where="diverged_above"),
        compute=str(settings.get("compute") or "auto"),
    )
    study = load(str(told["study"]), own.then(reading), progress=progress)
    sources = [str(source) for source in settings.get("learn_from") or ()]
    task = replace(_task(study, settings), prior=prior_from(sources))
    _check_same(task, told)
    steps = tuple(_steps(task, told["trace"]))
    if not steps:
        raise ValueError("no steps")
    trace = Trace(task, str(told["method"]), int(told["seed"]), settings, steps)
    return Replayed(study, trace, str(told.get("stopped", "")))


def _task(study: Study, settings: Json) -> Task:
    decay = settings.get("trunk_decay")
    return prepare(
        study,
        get_law(str(settings["law"])),
        hold_out=HeldOut.parse(str(settings["hold_out"])),
        targets=[_scale(C) for C in settings["targets"] if not isinstance(C, dict)],
        pricing=Apart() if decay is None else Trunks(finite(decay, where="trunk_decay")),
        slice_by=str(settings.get("slice_by") or "C"),
        force=bool(settings.get("force")),
    )


def _check_same(task: Task, told: Json) -> None:
    """The table may have changed since, or be another of the same name."""
    pool = told["pool"]
    same = len(task.pool) == pool["n"]
    if not same or not math.isclose(task.total_compute, pool["total_compute"], rel_tol=1e-9):
        got = f"a pool of {len(task.pool)} runs, {task.total_compute:.6g} FLOPs"
        want = f"{pool['n']} runs, {pool['total_compute']:.6g} FLOPs, as it was replayed"
        hint = "give it its table of then; of an older replay, say --columns as it was told"
        raise LawsmithError(task.study, got=got, want=want, hint=hint)


def _steps(task: Task, told: list[Json]) -> Iterator[Step]:
    """What was run when; the laws fitted on the way are not read, for a report shows none."""
    rows: list[int] = []
    for step in told:
        rows.append(int(step["candidate"]))
        if not 0 <= rows[-1] < len(task.pool):
            raise ValueError(f"candidate {rows[-1]} of {len(task.pool)}")
        window = step["window"]
        window = math.nan if window is None else finite(window, where="window")
        yield make_step(task, rows, window, (None, None), (math.nan, None))


def _scale(value: object) -> float:
    number = finite(value, where="target")
    if not SCALE.hold(number):
        raise LawsmithError("target", got=f"{number:g}", want=SCALE.want)
    return number


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
