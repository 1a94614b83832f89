"""The demo on the terminal: the study, its frontier, each law beside the truth, what it means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from lawsmith.analysis import Analysis
from lawsmith.cli import console as out
from lawsmith.cli.console import figure
from lawsmith.cli.draw import Drawn
from lawsmith.cli.study_view import plural, show_study
from lawsmith.cli.truth import Case, Check, optimism, true_best
from lawsmith.formats import count, flops, interval, number, percent


def show_demo(console: Console, cases: Sequence[Case], table: Path, drawn: Drawn) -> None:
    """All of `lawsmith demo`."""
    compute, shares = cases[0], cases[-1]
    show_study(console, compute.analysis)
    out.heading(console, "Everything here is synthetic")
    out.prose(
        console,
        "The runs are drawn from a known law, with noise between seeds, learning rates and batch "
        "sizes to tune, and a corner that diverges; no model was trained. So each claim can be "
        "held against the truth: the same law fitted to the frontier of the same study without "
        "noise.",
    )
    show_frontier(console, compute.analysis)
    for case in cases:
        show_case(console, case)
    out.heading(console, "Written (each chart as PNG too)")
    out.paths(console, [table, *(path for path in drawn.paths if path.suffix == ".html")])
    out.heading(console, "Next")
    out.paths(console, [f"lawsmith fit {table} --law chinchilla --target 1e23 --compare"])
    out.heading(console, "What matters")
    lines = (_forecast(compute), _spending(shares), _honesty(cases))
    out.facts(console, [(f"{i}.", line) for i, line in enumerate(lines, start=1)])


def show_frontier(console: Console, a: Analysis) -> None:
    """The runs no cheaper run beats, beside the best a study without noise would have found."""
    grid = a.study.grid
    axes = [axis.name for axis in grid.axes if axis.name not in ("N", "D")]
    out.heading(console, f"Its compute–loss frontier, {plural(len(a.frontier), 'run')}")
    table = out.table("C", "N", "D", *axes, "loss", "true best", words=0)
    for row, best in zip(a.frontier.tolist(), true_best(a), strict=True):
        sizes = [flops(grid.C[row]), count(grid.N[row]), count(grid.D[row])]
        values = [number(float(grid.numbers(name)[row]), 3) for name in axes]
        table.add_row(*sizes, *values, f"{a.loss[row]:.4f}", f"{best:.4f}")
    out.show(console, table)


def show_case(console: Console, case: Case) -> None:
    """One law's parameters and predictions, each with the truth and whether it was caught."""
    a = case.analysis
    points = plural(a.fit.n_points, "point")
    out.heading(console, f"{case.law.formula} on {points}, against the truth")
    table = out.table("", "truth", "fitted", f"{percent(a.options.level)} interval", "inside?")
    for check in checks(case):
        form = count if check.name[:2] in ("N*", "D*") else figure
        ends = interval(check.interval.low, check.interval.high, form)
        inside = "yes" if check.inside else "no"
        table.add_row(check.name, form(check.truth), form(check.fitted), ends, inside)
    out.show(console, table)


def checks(case: Case) -> list[Check]:
    """All that is compared with the truth, in the order shown."""
    shares = [
        replace(check, name=f"{name}* at {p.target.label}")
        for i, p in enumerate(case.analysis.predictions)
        for name, check in case.allocation(i).items()
        if name in ("N", "D")
    ]
    losses = [replace(check, name=f"loss at {check.name}") for check in case.predictions]
    return [*case.parameters, *losses, *shares]


def _forecast(case: Case) -> str:
    check, p = case.predictions[0], case.analysis.predictions[0]
    return (
        f"At {check.name}, {p.decades:.1f} decades beyond the runs, the law says "
        f"{_loss(check)}; the truth is {check.truth:.4f}."
    )


def _loss(check: Check) -> str:
    ends = interval(check.interval.low, check.interval.high, "{:.4f}".format)
    return f"{check.fitted:.4f} {ends}"


def _spending(case: Case) -> str:
    N, D = (case.allocation(0)[name] for name in ("N", "D"))
    ranges = [interval(x.interval.low, x.interval.high, count) for x in (N, D)]
    return (
        f"That compute is best spent on N = {count(N.fitted)} {ranges[0]} and "
        f"D = {count(D.fitted)} {ranges[1]}; truly on {count(N.truth)} and {count(D.truth)}."
    )


def _honesty(cases: Sequence[Case]) -> str:
    found = [check.inside for case in cases for check in checks(case)]
    return (
        f"{sum(found)} of {len(found)} intervals hold the truth (all come from one set of runs, "
        "so they stand or fall together). The frontier is a minimum of noisy runs, here "
        f"{percent(optimism(cases[0].analysis), 2)} below the true best; the intervals allow for "
        "that, the fitted values do not."
    )
