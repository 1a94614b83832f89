"""The demo on the terminal: the study, the runs chosen, their law beside that of all runs."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.text import Text

from lawsmith.cli import console as out
from lawsmith.cli.console import figure, symbol
from lawsmith.cli.demo_run import SHARE, STUDY, Demo, Files
from lawsmith.formats import count, flops, interval, number, percent, plural
from lawsmith.outlook import Prediction


def show_demo(console: Console, found: Demo, files: Files) -> None:
    """All of `lawsmith demo`."""
    show_study(console, found)
    show_runs(console, found)
    show_law(console, found)
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
    lines = (_forecast(found), _search(found), _caution(found))
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
        f"lawsmith acts as if no run had been made. It chooses one after the other, until "
        f"{percent(SHARE)} of the compute is spent; a surrogate fills in the runs not made; a law "
        "of the best loss for each compute is fitted to both. Then it is held against the law of "
        "the whole pool, and against runs that neither has seen.",
    )


def show_runs(console: Console, found: Demo) -> None:
    """The chosen runs that no cheaper one beats, beside the best there was for that compute."""
    pool, rows = found.task.pool, found.envelope
    axes = [axis.name for axis in pool.axes if axis.name not in ("N", "D")]
    out.heading(console, f"The best of the {len(found.chosen)} runs, by compute")
    table = out.table("C", "N", "D", *axes, "loss", "best of all runs", words=0)
    for row in rows.tolist():
        sizes = [flops(pool.C[row]), count(pool.N[row]), count(pool.D[row])]
        values = [number(float(pool.numbers(name)[row]), 3) for name in axes]
        best = found.best_within(float(pool.C[row]))
        table.add_row(*sizes, *values, f"{found.task.loss[row]:.3f}", f"{best:.3f}")
    out.show(console, table)


def show_law(console: Console, found: Demo) -> None:
    """Parameters and predictions: from 2 % with their interval, from the whole pool, in truth."""
    seen, dense = found.outlook, found.dense.fit
    out.heading(console, f"{found.task.law.formula}, found with {percent(SHARE)} of the compute")
    level = f"{percent(seen.level)} interval"
    table = out.table("", "found", level, "whole pool", "best run there")
    for name, ends in seen.params.items():
        between = interval(ends.low, ends.high, figure)
        table.add_row(
            symbol(name), figure(seen.fit.params[name]), between, figure(dense.params[name]), "–"
        )
    for p in seen.predictions:
        between = interval(p.pool.low, p.pool.high, "{:.3f}".format)
        tried = f"{found.best_within(p.compute):.3f}" if _was_run(found, p) else "none was run"
        label = f"loss at {flops(p.compute)} FLOPs"
        table.add_row(label, f"{p.loss:.3f}", between, f"{_of_pool(found, p):.3f}", tried)
    out.show(console, table)
    out.prose(
        console,
        "The interval is of what the whole pool's law would say. That of the loss itself is wider: "
        f"{_truths(found)}.",
    )


def _was_run(found: Demo, p: Prediction) -> bool:
    return p.compute <= float(found.study.grid.C.max()) * (1.0 + 1e-9)


def _of_pool(found: Demo, p: Prediction) -> float:
    return float(found.dense.fit.predict({"C": p.compute})[0])


def _truths(found: Demo) -> str:
    parts = [
        f"{interval(p.truth.low, p.truth.high, '{:.3f}'.format)} at {flops(p.compute)}"
        for p in found.outlook.predictions
    ]
    return " and ".join(parts)


def _forecast(found: Demo) -> str:
    p = found.outlook.predictions[0]
    whole, best = _of_pool(found, p), found.best_within(p.compute)
    return (
        f"At {flops(p.compute)} FLOPs, {10**p.decades:.1f} times the largest run it could choose, "
        f"the law from {percent(SHARE)} of the compute says {p.loss:.3f}. That of the whole pool "
        f"says {whole:.3f} ({_off(p.loss, whole)}), and the best run there has {best:.3f} "
        f"({_off(p.loss, best)})."
    )


def _off(loss: float, other: float) -> str:
    return f"{percent(abs(loss / other - 1.0), 2)} off"


def _search(found: Demo) -> str:
    whole = found.task.reference.envelope
    n_hit = int(np.isin(whole, found.chosen).sum())
    return (
        f"{len(found.chosen)} of {len(found.task.pool)} runs were made. Of the {len(whole)} that "
        f"no cheaper one beats, to which the whole pool's law is fitted, {n_hit} are among them."
    )


def _caution(found: Demo) -> str:
    inside = [p.pool.low <= _of_pool(found, p) <= p.pool.high for p in found.outlook.predictions]
    return (
        f"{sum(inside)} of {len(inside)} intervals of the loss hold what the whole pool says. They "
        f"are wide, because runs this small are noisy and {percent(SHARE)} is little: another "
        "--seed chooses other runs, and 5% of the compute comes nearer."
    )
