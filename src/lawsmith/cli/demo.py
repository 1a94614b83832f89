"""`lawsmith demo`: replay the bundled study at 2 % of its compute, show it, write a report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from lawsmith.answer.text import WARNINGS, held_out_text, loss_text
from lawsmith.cli import console as out
from lawsmith.cli.commands import DemoRequest, ReplayRequest
from lawsmith.cli.options import folder
from lawsmith.cli.replay import replay_with_bar, set_up, show_head
from lawsmith.cli.report import replay_record
from lawsmith.cli.views import draw_replay, write_rows
from lawsmith.datasets import Study, load
from lawsmith.digest import Columns, Digest, as_warnings
from lawsmith.formats import count, flops, number, percent
from lawsmith.frontier import frontier
from lawsmith.grid import IntArray
from lawsmith.laws.catalogue import LC
from lawsmith.replay import Answers, Replayed, Task, Trace
from lawsmith.replay.replayed import whole_pool
from lawsmith.report import replay_source, write_report

STUDY = "tinylm"
SHARE = 0.02  # of the pool's compute
BEYOND = 1e16  # FLOPs, more than any run had


@dataclass(frozen=True, eq=False)
class Demo:
    """The replay, and the answers by the runs chosen and by all of the pool.

    The first target is the compute of the largest run held out.
    """

    replayed: Replayed
    answers: Answers

    @property
    def study(self) -> Study:
        return self.replayed.study

    @property
    def trace(self) -> Trace:
        return self.replayed.trace

    @property
    def task(self) -> Task:
        return self.trace.task

    @property
    def chosen(self) -> IntArray:
        """Rows of the pool, in the order they were run."""
        return np.array([step.candidate for step in self.trace.steps])

    @property
    def best(self) -> IntArray:
        """Rows of the pool that were run and that no cheaper run beats."""
        rows = self.chosen
        return rows[frontier(self.task.pool.subset(rows), self.task.loss[rows], ("C",))]

    def best_within(self, compute: float) -> float:
        """The lowest loss of all runs of the study up to this compute, held out or not."""
        loss, cost = self.study.runs.config_loss(len(self.study.grid)), self.study.grid.C
        return float(np.nanmin(loss[cost <= compute * (1.0 + 1e-9)]))


def demo(request: DemoRequest) -> None:
    """Run `lawsmith demo`."""
    made = folder(request.out, "--out")
    show_demo(run_demo(request.seed), made)


def run_demo(seed: int) -> Demo:
    """Choose runs of the bundled study until 2 % of its pool's compute is spent."""
    computes = (float(load(STUDY).grid.C.max()), BEYOND)
    words = [word for C in computes for word in ("--target", repr(C))]
    request = ReplayRequest(study=STUDY, law=LC, budget=SHARE, seed=seed, words=tuple(words))
    replayed = replay_with_bar(set_up(request))
    if replayed.stopped == "interrupted":
        raise KeyboardInterrupt
    assert replayed.answers is not None  # 2 % of the compute pays for hundreds of runs
    return Demo(replayed, replayed.answers)


def show_demo(result: Demo, folder: Path) -> None:
    """Write and show everything."""
    table = write_runs(result, folder / "runs.csv")
    drawn = draw_replay(folder / "charts", result.replayed)
    record = replay_record(result.trace, (f"lawsmith demo --seed {result.trace.seed}",))
    page = write_report(replay_source(result.replayed, record), folder / "report.html")
    show_head(result.replayed)
    out.prose(
        f"These are {len(result.study.runs)} real training runs. lawsmith acts as if none had been "
        f"made. It chooses one after the other, until {percent(SHARE)} of the compute is spent. "
        "Then it predicts the best loss at a larger compute. This is compared with what the whole "
        "pool predicts, and with the runs held out, which neither has seen."
    )
    show_runs(result)
    chosen = result.answers.chosen
    warned = as_warnings(WARNINGS, chosen.warnings)
    compared, *held_out = whole_pool(result.answers)
    if isinstance(compared, Columns):  # within 80 columns, whatever the targets are called
        compared = replace(compared, heads=(*compared.heads[:-1], "off"))
    parts = [chosen.verdict, compared, *held_out, *warned]
    out.show(Digest(f"The answer, from {percent(SHARE)} of the compute", parts))
    pages = [path for path in drawn.paths if path.suffix == ".html"]
    out.paths([table, *pages], "Written (each chart as PNG too)")
    commands = [f"fit {table} --target 1e16", f"replay {STUDY} --budget 5%", "fit YOUR-RUNS.csv"]
    out.paths([f"lawsmith {command}" for command in commands], "Next")
    out.heading("What matters")
    seen = f"Its predictions of larger runs: {held_out_text(chosen)}."
    lines = (_forecast(result), seen, _search(result))
    out.facts({f"{i}.": line for i, line in enumerate(lines, start=1)})
    out.paths([page], "The report: open it in a browser, it needs no network")


def show_runs(result: Demo) -> None:
    """Show the best chosen runs by compute, beside the best of all runs up to that compute."""
    pool = result.task.pool
    axes = [axis.name for axis in pool.axes if axis.name not in ("N", "D")]
    cells = []
    for row in result.best.tolist():
        sizes = [flops(pool.C[row]), count(pool.N[row]), count(pool.D[row])]
        values = [number(float(pool.numbers(name)[row]), 3) for name in axes]
        best = result.best_within(float(pool.C[row]))
        cells.append((*sizes, *values, f"{result.task.loss[row]:.3f}", f"{best:.3f}"))
    title = f"The best of the {len(result.chosen)} runs, by compute"
    heads = ("C", "N", "D", *axes, "loss", "best of all runs")
    out.table(title, heads, cells, align="")


def _forecast(result: Demo) -> str:
    ours, all_runs = result.answers.chosen.forecasts[0], result.answers.pool.forecasts[0]
    best = result.best_within(ours.compute)
    held = "inside" if ours.run_low <= best <= ours.run_high else "outside"
    return (
        f"At {ours.target.label}, {10**ours.decades:.1f} times its largest run, "
        f"{percent(SHARE)} of the compute says {loss_text(ours.loss)}. The whole pool says "
        f"{loss_text(all_runs.loss)} ({_off(ours.loss, all_runs.loss)}). The best run there has "
        f"{loss_text(best)} ({_off(ours.loss, best)}), {held} the interval of a further run."
    )


def _off(loss: float, other: float) -> str:
    return f"{percent(abs(loss / other - 1.0), 2)} off"


def _search(result: Demo) -> str:
    whole = result.task.reference.envelope
    n_hit = int(np.isin(whole, result.chosen).sum())
    return (
        f"{len(result.chosen)} of {len(result.task.pool)} runs were made. Of the {len(whole)} that "
        f"no cheaper one beats, {n_hit} are among them."
    )


def write_runs(result: Demo, path: Path) -> Path:
    """The chosen runs in their order, to try `lawsmith fit` on."""
    steps = result.trace.steps
    rows = [{**step.config, "C": step.compute, "loss": step.loss} for step in steps]
    return write_rows(path, rows)
