"""The demo on the terminal: the study, the runs chosen, their answer beside that of all runs."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.text import Text

from lawsmith.answer import Forecast
from lawsmith.answer.text import held_out_text, loss_text
from lawsmith.cli import console as out
from lawsmith.cli.answer_view import show_warnings
from lawsmith.cli.demo_run import SHARE, STUDY, Demo, Files
from lawsmith.formats import count, flops, interval, number, percent, plural


def show_demo(console: Console, found: Demo, files: Files) -> None:
    """All of `lawsmith demo`."""
    show_study(console, found)
    show_runs(console, found)
    show_answers(console, found)
    out.heading(console, "Written (each chart as PNG too)")
    pages = [path for path in files.drawn.paths if path.suffix == ".html"]
    out.paths(console, [files.table, *pages])
    out.heading(console, "Next")
    out.paths(
        console,
        [
            f"lawsmith fit {files.table} --target 1e16",
            f"lawsmith replay {STUDY} --budget 5%",
            "lawsmith fit YOUR-RUNS.csv",
        ],
    )
    out.heading(console, "What matters")
    lines = (_forecast(found), _held_out(found), _search(found))
    out.facts(console, [(f"{i}.", line) for i, line in enumerate(lines, start=1)])
    out.heading(console, "The report: open it in a browser, it needs no network")
    out.paths(console, [files.report])


def show_study(console: Console, found: Demo) -> None:
    """What the runs are, and what is done with them."""
    task, grid, last = found.task, found.study.grid, found.trace.steps[-1]
    console.print(Text(found.study.title, style="bold"))
    axes = [f"{len(np.unique(grid.column(axis.name)))} {axis.name}" for axis in grid.axes]
    study = f"{plural(len(found.study.runs), 'real training run')}: {', '.join(axes)}"
    pool = f"{len(task.pool)} configurations, {flops(task.total_compute)} FLOPs in all"
    held = f"{len(grid) - len(task.pool)} configurations, the most expensive ones"
    ran = f"{plural(last.iteration, 'run')} of the pool, {percent(last.cost_fraction)} of that"
    facts = {"study": study, "pool": pool, "held out": held, "ran": ran}
    out.facts(console, [*facts.items(), ("seed", str(found.trace.seed))])
    out.prose(
        console,
        "lawsmith acts as if no run had been made. It chooses one after the other, until "
        f"{percent(SHARE)} of the compute is spent. Then it predicts the best loss at a larger "
        "compute. This is compared with what the whole pool predicts, and with the runs held out, "
        "which neither has seen.",
    )


def show_runs(console: Console, found: Demo) -> None:
    """The chosen runs that no cheaper one beats, beside the best there was for that compute."""
    pool, rows = found.task.pool, found.best
    axes = [axis.name for axis in pool.axes if axis.name not in ("N", "D")]
    out.heading(console, f"The best of the {len(found.chosen)} runs, by compute")
    table = out.table("C", "N", "D", *axes, "loss", "best of all runs", words=0)
    for row in rows.tolist():
        sizes = [flops(pool.C[row]), count(pool.N[row]), count(pool.D[row])]
        values = [number(float(pool.numbers(name)[row]), 3) for name in axes]
        best = found.best_within(float(pool.C[row]))
        table.add_row(*sizes, *values, f"{found.task.loss[row]:.3f}", f"{best:.3f}")
    out.show(console, table)


def show_answers(console: Console, found: Demo) -> None:
    """The best loss at each target: from 2 %, from the whole pool, and in truth."""
    chosen, pool = found.answers.chosen, found.answers.pool
    level = f"{percent(chosen.level)} interval"
    out.heading(console, f"The answer, from {percent(SHARE)} of the compute")
    out.prose(console, chosen.verdict)
    table = out.table("best loss at", "found", level, "whole pool", level, "best run")
    for ours, all_runs in zip(chosen.forecasts, pool.forecasts, strict=True):
        tried = loss_text(found.best_within(ours.compute)) if _was_run(found, ours) else "none"
        table.add_row(ours.target.label, *_loss(ours), *_loss(all_runs), tried)
    out.show(console, table)
    show_warnings(console, chosen)


def _loss(forecast: Forecast) -> tuple[str, str]:
    return loss_text(forecast.loss), interval(forecast.low, forecast.high, loss_text)


def _was_run(found: Demo, forecast: Forecast) -> bool:
    return forecast.compute <= float(found.study.grid.C.max()) * (1.0 + 1e-9)


def _forecast(found: Demo) -> str:
    ours, all_runs = found.answers.chosen.forecasts[0], found.answers.pool.forecasts[0]
    best = found.best_within(ours.compute)
    held = "inside" if ours.run_low <= best <= ours.run_high else "outside"
    return (
        f"At {ours.target.label}, {10**ours.decades:.1f} times its largest run, "
        f"{percent(SHARE)} of the compute says {loss_text(ours.loss)}. The whole pool says "
        f"{loss_text(all_runs.loss)} ({_off(ours.loss, all_runs.loss)}). The best run there has "
        f"{loss_text(best)} ({_off(ours.loss, best)}), {held} the interval of a further run."
    )


def _off(loss: float, other: float) -> str:
    return f"{percent(abs(loss / other - 1.0), 2)} off"


def _held_out(found: Demo) -> str:
    return f"Of the runs that it never saw: {held_out_text(found.answers.chosen)}."


def _search(found: Demo) -> str:
    whole = found.task.reference.envelope
    n_hit = int(np.isin(whole, found.chosen).sum())
    return (
        f"{len(found.chosen)} of {len(found.task.pool)} runs were made. Of the {len(whole)} that "
        f"no cheaper one beats, {n_hit} are among them."
    )
