"""The source of a report on a table, or on a replay, which may be read from its file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from lawsmith.analysis import Analysis, FitOptions, answer_study
from lawsmith.answer import Answer, Target, target_of
from lawsmith.charts.answer import answer_with_runs, replay_with_runs
from lawsmith.charts.runs import FITTED, HELD_OUT, config_run_names, run_kinds
from lawsmith.charts.timeline import Attempt
from lawsmith.charts.trunks import answer_with_curves
from lawsmith.costs import SeparateRuns, Trunks
from lawsmith.curves import Along
from lawsmith.datasets import ReadLog, ReadOptions, load
from lawsmith.datasets.fetch import Progress
from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.files import read_bytes, reason
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import get_law
from lawsmith.numbers import as_finite, read_json
from lawsmith.plausible import SCALE
from lawsmith.replay import Replayed, Step, Task, Trace, answers_of, prepare
from lawsmith.replay.steps import make_step
from lawsmith.report.cards.record import Column, run_table
from lawsmith.report.findings import Memory, moments, with_laws
from lawsmith.report.parts import RunTable
from lawsmith.report.source import Findings, Record, Source, Spend
from lawsmith.runs import Runs
from lawsmith.study.live import prior_from

FILE = "trace.json"  # what lawsmith replay --out writes
MAX_BYTES = 512 * 2**20
Json = dict[str, Any]
TOO_FEW = "too few runs have finished"
ROLES = {FITTED: "fitted", HELD_OUT: "held out"}
READING = [option.name for option in fields(ReadOptions)]


def table_source(
    study: Study,
    options: FitOptions,
    targets: Sequence[Target],
    record: Record,
    along: Along | None = None,
    answer: Answer | None = None,
) -> Source:
    """The source of a report on a table of runs.

    along   losses along runs
    answer  if it is known already
    """
    why_not = ""
    if answer is None:
        level, hold_out = options.level, options.hold_out
        try:
            answer = answer_study(study, targets, level=level, hold_out=hold_out, curves=along)
        except LawsmithError as error:
            why_not = str(error)
    findings = Findings(why_no_answer=why_not)
    if answer is not None:
        curved = None if along is None else answer_with_curves(answer, study, along)
        findings = replace(findings, answered=answer_with_runs(answer, study), curved=curved)
    findings = with_laws(findings, study, options)
    cost = float(study.grid.C[study.runs.index].sum())
    spend = Spend(cost, float(study.grid.C.sum()), len(study.runs), len(study.grid))
    names: Column = study.run_names or range(1, len(study.runs) + 1)
    runs = _runs(study, findings.analysis, {"run": list(names)}, {})
    return Source("table", study, options.law, spend, runs, record, findings)


def replay_source(replayed: Replayed, record: Record) -> Source:
    """The source of a report on a replay; its answers are computed if it has none."""
    trace, task, study = replayed.trace, replayed.trace.task, observed_study(replayed)
    settings, steps = trace.settings, trace.steps
    wanted = settings.get("targets")
    targets = tuple(map(target_of, wanted)) if isinstance(wanted, list) else ()
    rows = [step.candidate for step in steps]
    answers = replayed.answers or answers_of(task, rows, targets)
    answered = None if answers is None else replay_with_runs(trace, replayed.study, answers)

    def share(runs: Runs) -> float:
        return steps[len(runs) - 1].cost_fraction

    known = moments(study, targets[0], share, Memory(), prior=task.prior) if targets else ()
    computes = tuple(target for target in targets if not target.sized)
    options = FitOptions(task.law, targets=computes[:1], force=bool(settings.get("force")))
    why_not = TOO_FEW if answered is None else ""
    findings = with_laws(Findings(answered, why_not, moments=known), study, options)
    spend = Spend(steps[-1].cost, task.total_compute, len(steps), len(task.pool))
    first: dict[str, Column] = {"run": [step.iteration for step in steps]}
    first |= {"name": list(study.run_names)} if study.run_names else {}
    chosen = ["initial design" if np.isnan(step.window) else "search" for step in steps]
    shares = [float(f"{100 * step.cost_fraction:.4g}") for step in steps]
    runs = _runs(study, findings.analysis, first, {"chosen by": chosen, "spent (%)": shares})
    attempts = tuple(_attempts(trace, study))
    return Source("replay", study, task.law, spend, runs, record, findings, attempts)


def observed_study(replayed: Replayed) -> Study:
    """The pool as a study with only the runs of the replay."""
    task = replayed.trace.task
    rows = [step.candidate for step in replayed.trace.steps]
    names = config_run_names(replayed.study)
    return replace(
        replayed.study,
        grid=task.pool,
        runs=Runs.from_losses(rows, task.loss[rows]),
        log=ReadLog(len(rows)),
        run_names=tuple(names[task.rows[row]] for row in rows) if names else (),
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
    """All runs in the order of the study, with their role in the law."""
    runs, kinds = study.runs, np.full(len(study.grid), "", dtype=object)
    if analysis is not None:
        kinds = np.array([ROLES.get(kind, "") for kind in run_kinds(analysis)], dtype=object)
    first = {**first, "state": runs.state.tolist()}
    last = {"role": kinds[runs.index].tolist(), **last}
    return run_table(study.grid, runs.index, runs.loss, analysis, first=first, last=last)


def read_replay(path: Path, reading: ReadOptions, *, progress: Progress | None = None) -> Replayed:
    """Read a replay from its file; ``reading`` adds what the file lacks, such as column names."""
    try:
        text = read_bytes(path, limit=MAX_BYTES)
    except OSError as error:
        raise LawsmithError(str(path), got=reason(error)) from None
    try:
        content = read_json(text)
        if not isinstance(content, dict) or "trace" not in content:
            raise ValueError("no key 'trace'")
        return _replayed(content, reading, progress)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        got = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        want = "what lawsmith replay --out writes"
        raise LawsmithError(str(path), got=got, want=want) from None


def _replayed(content: Json, reading: ReadOptions, progress: Progress | None) -> Replayed:
    settings = dict(content["settings"])
    given = {name: settings[name] for name in READING if settings.get(name) is not None}
    own = TypeAdapter(ReadOptions).validate_python(given)
    study = load(str(content["study"]), own.then(reading), progress=progress)
    sources = [str(source) for source in settings.get("learn_from") or ()]
    task = replace(_task(study, settings), prior=prior_from(sources))
    _check_same(task, content)
    steps = tuple(_steps(task, content["trace"]))
    if not steps:
        raise ValueError("no steps")
    trace = Trace(task, str(content["method"]), int(content["seed"]), settings, steps)
    return Replayed(trace, str(content.get("stopped", "")))


def _task(study: Study, settings: Json) -> Task:
    decay = settings.get("trunk_decay")
    return prepare(
        study,
        get_law(str(settings["law"])),
        hold_out=HeldOut.parse(str(settings["hold_out"])),
        targets=[_scale(C) for C in settings["targets"] if not isinstance(C, dict)],
        pricing=SeparateRuns() if decay is None else Trunks(as_finite(decay, where="trunk_decay")),
        slice_by=str(settings.get("slice_by") or "C"),
        force=bool(settings.get("force")),
    )


def _check_same(task: Task, content: Json) -> None:
    """Refuse another table than that of the replay: it may have changed, or share its name."""
    pool = content["pool"]
    same = len(task.pool) == pool["n"]
    if not same or not math.isclose(task.total_compute, pool["total_compute"], rel_tol=1e-9):
        got = f"a pool of {len(task.pool)} runs, {task.total_compute:.6g} FLOPs"
        want = f"{pool['n']} runs, {pool['total_compute']:.6g} FLOPs, as it was replayed"
        hint = "use the table as it was then; for an older replay, pass the same --columns"
        raise LawsmithError(task.study.name, got=got, want=want, hint=hint)


def _steps(task: Task, steps: list[Json]) -> Iterator[Step]:
    """The steps, without the laws fitted at each, which a report does not show."""
    rows: list[int] = []
    for step in steps:
        rows.append(int(step["candidate"]))
        if not 0 <= rows[-1] < len(task.pool):
            raise ValueError(f"candidate {rows[-1]} of {len(task.pool)}")
        window = step["window"]
        window = math.nan if window is None else as_finite(window, where="window")
        yield make_step(task, rows, window, (None, None), (math.nan, None))


def _scale(value: object) -> float:
    number = as_finite(value, where="target")
    if not SCALE.contains(number):
        raise LawsmithError("target", got=f"{number:g}", want=SCALE.want)
    return number
