"""What the demo finds out: the bundled study replayed at 2 % of its compute, and its whole law."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lawsmith.analysis import Analysis, FitOptions, Target, analyse
from lawsmith.cli.draw import Drawn, draw, draw_replay
from lawsmith.cli.replay_progress import collect, replaying
from lawsmith.cli.report_sources import now
from lawsmith.datasets import Study, load
from lawsmith.errors import LawsmithError
from lawsmith.frontier import frontier
from lawsmith.grid import IntArray
from lawsmith.laws.catalogue import LC
from lawsmith.outlook import Outlook
from lawsmith.policies import make_policy
from lawsmith.replay import Stop, Task, Trace, outlook_after, prepare, replay
from lawsmith.report import write_report
from lawsmith.report.files import study_files
from lawsmith.report.of_replay import replay_source
from lawsmith.report.source import Record
from lawsmith.report.trace_file import Replayed
from lawsmith.runs import Runs
from lawsmith.surrogates import make_surrogate
from lawsmith.threads import one_thread

STUDY = "tinylm"
SHARE = 0.02  # of the pool's compute
BEYOND = 1e16  # FLOPs where no run can tell
SETTINGS = {"policy": "frontier", "surrogate": "trend", "law": "LC", "n_init": 10, "budget": SHARE}


@dataclass(frozen=True, eq=False)
class Demo:
    """A replay and what it is held against.

    outlook   on the targets, the first of which is the compute of the largest run held out
    dense     the analysis of the whole pool
    """

    study: Study
    trace: Trace
    outlook: Outlook
    dense: Analysis

    @property
    def task(self) -> Task:
        return self.trace.task

    @property
    def chosen(self) -> IntArray:
        """Rows of the pool, in the order they were run."""
        return np.array([step.candidate for step in self.trace.steps])

    @property
    def envelope(self) -> IntArray:
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
    task = prepare(study, LC, extrapolate_to=targets)
    stop = Stop(budget=SHARE * task.total_compute)
    policy = make_policy(
        "frontier",
        make_surrogate("trend", seed=seed),
        law=task.law,
        target=targets[0],
        budget=stop.budget,
    )
    with replaying(task, stop) as report:
        walk = replay(task, policy, seed=seed, stop=stop, block=16)
        steps, interrupted = collect(walk, report)
    if interrupted:
        raise KeyboardInterrupt
    trace = Trace(task, policy.name, seed, SETTINGS, tuple(steps))
    rows = [step.candidate for step in steps]
    with one_thread():
        seen = outlook_after(
            task, policy, Runs.from_losses(rows, task.loss[rows]), targets, seed=seed
        )
    assert seen is not None  # the frontier policy's surrogate can draw, and 2 % are many runs
    asked = FitOptions(
        law=LC, hold_out=task.hold_out, targets=tuple(Target(C) for C in targets), seed=seed
    )
    return Demo(study, trace, seen, analyse(study, asked))


@dataclass(frozen=True)
class Files:
    """What the demo left behind: a report, the table of the runs it chose, and charts."""

    report: Path
    table: Path
    drawn: Drawn


def write_files(found: Demo, folder: Path) -> Files:
    """Everything the demo writes, in one place."""
    table = _write_runs(found, folder / "runs.csv")
    charts = draw_replay(found.trace, folder / "replay") + draw(found.dense, folder / "whole-pool")
    return Files(_write_report(found, folder / "report.html"), table, charts)


def _write_report(found: Demo, path: Path) -> Path:
    """The replay as a page."""
    trace = found.trace
    replayed = Replayed(found.study, trace, found.outlook.predictions, "budget")
    settings = {"study": STUDY, "seed": trace.seed, **SETTINGS}
    command = f"lawsmith demo --seed {trace.seed}"
    record = Record((command,), settings, study_files(STUDY), now())
    return write_report(replay_source(replayed, record), path)


def _write_runs(found: Demo, path: Path) -> Path:
    """The chosen runs in their order, to try `lawsmith fit` on."""
    pool, rows = found.task.pool, found.chosen
    columns = {name: pool.numbers(name)[rows] for name in ("N", "D", "C", "lr", "batch")}
    columns["loss"] = found.task.loss[rows]
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
    except OSError as error:
        got = f"{path}: {error.strerror or error}"
        raise LawsmithError("--out", got=got, want="a folder that can be written") from None
    return path
