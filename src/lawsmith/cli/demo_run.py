"""What the demo finds out: the bundled study replayed at 2 % of its compute, and its whole pool."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lawsmith.answer import Target
from lawsmith.charts.answer import answered_in
from lawsmith.cli.draw import Drawn, draw_replay
from lawsmith.cli.replay_progress import collect, replaying
from lawsmith.cli.report_sources import now
from lawsmith.datasets import Study, load
from lawsmith.files import write_told
from lawsmith.frontier import frontier
from lawsmith.grid import IntArray
from lawsmith.laws.catalogue import LC
from lawsmith.policies import Method, make_policy
from lawsmith.replay import Answers, Replayed, Stop, Task, Trace, answers_of, prepare, replay
from lawsmith.report import write_report
from lawsmith.report.of_replay import replay_source
from lawsmith.report.source import Record, study_files
from lawsmith.spreadsheet import csv_text

STUDY = "tinylm"
SHARE = 0.02  # of the pool's compute
BEYOND = 1e16  # FLOPs where no run can tell
SETTINGS = {**Method().settings(), "law": "LC", "budget": SHARE}


@dataclass(frozen=True, eq=False)
class Demo:
    """A replay and its answers: by the runs chosen and by all of the pool.

    The first target is the compute of the largest run held out.
    """

    study: Study
    trace: Trace
    answers: Answers

    @property
    def task(self) -> Task:
        return self.trace.task

    @property
    def chosen(self) -> IntArray:
        """Rows of the pool, in the order they were run."""
        return np.array([step.candidate for step in self.trace.steps])

    @property
    def best(self) -> IntArray:
        """Rows of the pool that were run and that no cheaper one of those beats."""
        rows = self.chosen
        return rows[frontier(self.task.pool.subset(rows), self.task.loss[rows], ("C",))]

    def best_within(self, compute: float) -> float:
        """The least loss of any run of the study that costs no more, held out or not."""
        loss, cost = self.study.runs.config_loss(len(self.study.grid)), self.study.grid.C
        return float(np.nanmin(loss[cost <= compute * (1.0 + 1e-9)]))


def run_demo(seed: int) -> Demo:
    """Choose runs of the bundled study until 2 % of its pool's compute are spent."""
    study = load(STUDY)
    targets = (float(study.grid.C.max()), BEYOND)
    task = prepare(study, LC, targets=targets)
    stop = Stop(budget=SHARE * task.total_compute)
    method = Method(target=targets[0])
    policy = make_policy(method.policy, method.make_surrogate(), **method.options())
    with replaying(task, stop) as report:
        walk = replay(task, policy, seed=seed, stop=stop, block=16)
        steps, interrupted = collect(walk, report)
    if interrupted:
        raise KeyboardInterrupt
    settings = {**SETTINGS, "hold_out": str(task.hold_out), "targets": list(targets)}
    trace = Trace(task, policy.name, seed, settings, tuple(steps))
    rows = [step.candidate for step in steps]
    answers = answers_of(task, study, rows, [Target(C) for C in targets])
    assert answers is not None  # 2 % of the compute are hundreds of runs
    return Demo(study, trace, answers)


@dataclass(frozen=True)
class Files:
    """What the demo left behind: a report, the table of the runs it chose, and charts."""

    report: Path
    table: Path
    drawn: Drawn


def write_files(found: Demo, folder: Path) -> Files:
    """Everything the demo writes, in one place."""
    table = _write_runs(found, folder / "runs.csv")
    answered = answered_in(found.trace, found.study, found.answers)
    charts = draw_replay(found.trace, answered, folder / "charts")
    return Files(_write_report(found, folder / "report.html"), table, charts)


def _write_report(found: Demo, path: Path) -> Path:
    """The replay as a page."""
    trace = found.trace
    replayed = Replayed(found.study, trace, "budget", found.answers)
    settings = {"study": STUDY, "seed": trace.seed, **trace.settings}
    command = f"lawsmith demo --seed {trace.seed}"
    record = Record((command,), settings, study_files(STUDY), now())
    return write_report(replay_source(replayed, record), path)


def _write_runs(found: Demo, path: Path) -> Path:
    """The chosen runs in their order, to try `lawsmith fit` on."""
    pool, rows = found.task.pool, found.chosen
    columns = {name: pool.numbers(name)[rows] for name in ("N", "D", "C", "lr", "batch")}
    columns["loss"] = found.task.loss[rows]
    cells = zip(*(values.tolist() for values in columns.values()), strict=True)
    text = csv_text(list(columns), (dict(zip(columns, row, strict=True)) for row in cells))
    return write_told(path, text, where="--out")
