"""A fitted law on the terminal: its parameters, how they were found, what it predicts."""

from __future__ import annotations

import numpy as np
from rich.console import Console

from lawsmith.analysis import Analysis, Prediction
from lawsmith.cli import console as out
from lawsmith.cli.console import figure
from lawsmith.formats import count, digits, flops, interval, number, percent, plural
from lawsmith.laws.allocation import further_inputs
from lawsmith.laws.fit import LawFit
from lawsmith.laws.objective import Objective
from lawsmith.laws.uncertainty import Interval


def show_law(console: Console, a: Analysis) -> None:
    """The formula, the parameters with intervals, and how the optimiser got there."""
    out.heading(console, f"Law: {a.law.formula}, fitted to {_points(a)}")
    table = out.table("", "fitted", "ln", f"{percent(a.options.level)} interval")
    intervals = a.uncertainty.params(a.options.level) if a.uncertainty else {}
    for name, value in a.fit.params.items():
        log = figure(a.fit.log_params[name]) if name in a.fit.log_params else ""
        table.add_row(name, figure(value), log, _interval(a.fit, name, intervals.get(name)))
    out.show(console, table)
    console.print()
    out.prose(console, _optimiser(a.fit))
    out.prose(console, _about_intervals(a))


def _points(a: Analysis) -> str:
    n_runs = int(np.isfinite(a.loss[a.pool]).sum())
    points = plural(a.fit.n_points, "point")
    return f"all {points}" if n_runs == a.fit.n_points else f"the {points} of the frontier"


def _interval(fit: LawFit, name: str, found: Interval | None) -> str:
    if name in fit.fixed:
        return "fixed"
    if found is None:
        return "none"
    return "not identified" if np.isnan(found.low) else interval(found.low, found.high, figure)


def _optimiser(fit: LawFit) -> str:
    parts = [
        f"{_objective(fit.objective)} {number(fit.value, 5)}",
        f"{fit.status} (gradient {number(fit.gradient, 2)})",
        "1 basin" if fit.n_basins == 1 else f"{fit.n_basins} basins, the lowest taken",
        f"condition number {number(fit.condition, 3)}",
    ]
    if fit.priors:
        parts.append(f"pulled by priors on {', '.join(fit.priors)}")
    return f"Fit: {'; '.join(parts)}."


def _objective(objective: Objective) -> str:
    match objective.name:
        case "huber":
            return f"sum of Huber(δ = {number(objective.delta)}) of log loss"
        case "least-squares-log":
            return "half the sum of squares of log loss"
        case "least-squares":
            return "half the sum of squares of loss"
        case "mae":
            return "sum of absolute errors of log loss"
        case "one-sided":
            huber = f"Huber(δ = {number(objective.delta)}) of log loss"
            return f"sum of {huber}, runs above the law counting {percent(objective.above)}"
    return objective.name


def _about_intervals(a: Analysis) -> str:
    """What the intervals are of, and how they were made."""
    u = a.uncertainty
    if u is None:
        return "Intervals: none, as there are no more points than free parameters."
    dof = "1 degree" if u.dof == 1 else f"{u.dof} degrees"
    said = f"Intervals: of {u.estimand}, by {u.method} with {dof} of freedom"
    return f"{said}; stretched to the fitted value where it lies outside."


def show_predictions(console: Console, a: Analysis) -> None:
    """The loss at each target, and how to spend its compute."""
    if not a.predictions:
        return
    level = percent(a.options.level)
    out.heading(console, f"What the law {a.law.name} predicts, {level} intervals if it holds")
    table = out.table("target", "loss", "interval", "of a further run", "decades beyond")
    for p in a.predictions:
        beyond = "inside" if p.decades <= 0 else digits(p.decades, ".1f")
        table.add_row(p.target.label, _loss(p.loss), *_ends(p), beyond)
    out.show(console, table)
    if any(p.allocation for p in a.predictions):
        _show_allocation(console, a)


def _loss(x: float) -> str:
    return digits(x, ".4f") if x >= 0.1 else number(x)


def _ends(p: Prediction) -> tuple[str, str]:
    if p.interval is None or p.run_interval is None:
        return "none", "none"
    run = p.run_interval
    return interval(p.interval.low, p.interval.high, _loss), interval(run.low, run.high, _loss)


def _show_allocation(console: Console, a: Analysis) -> None:
    level = percent(a.options.level)
    out.heading(console, f"Best N and D by {a.law.name} (C = 6ND), with {level} intervals")
    further = further_inputs(a.law)
    table = out.table("C", *further, "N*", "D*", "D/N")
    for p in a.predictions:
        shares = (p.allocation or {}).items()
        cells = [_share(found, is_ratio=name == "D/N") for name, found in shares]
        table.add_row(flops(p.target.C), *(count(p.inputs[name]) for name in further), *cells)
    out.show(console, table)


def _share(found: Interval, *, is_ratio: bool) -> str:
    def form(x: float) -> str:
        return number(x, 3) if is_ratio else count(x)

    if np.isnan(found.low):
        return form(found.centre)
    return f"{form(found.centre)} {interval(found.low, found.high, form)}"
