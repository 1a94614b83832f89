"""The tables of a replay: where it stood at round budgets, and the spend to reach each goal."""

from __future__ import annotations

import math

from rich.console import Console

from lawsmith.cli import console as out
from lawsmith.cli.replay_summary import (
    FIT_TEXTS,
    FITS,
    FitName,
    Reached,
    Replayed,
    at_budgets,
    reached,
    scores,
)
from lawsmith.formats import number, percent
from lawsmith.replay import Scores, Task

NONE = "–"


def present(done: Replayed) -> list[FitName]:
    """The fits that the replay has; random search has no fantasies."""
    return [fit for fit in FITS if any(scores(step, fit) for step in done.trace.steps)]


def show_budgets(console: Console, done: Replayed) -> None:
    """Runs, envelope and the difference in predicted loss at each round budget."""
    rows, fits = at_budgets(done), present(done)
    if not rows:
        return
    label = next(iter(done.trace.task.targets), None) if fits else None
    and_loss = "" if label is None else f", and loss at {label} against the whole pool's law"
    out.heading(console, f"Envelope recovered{and_loss}")
    mixed = "fantasized" in fits
    shares = ["mixed grid", "observed"] if mixed else ["observed"]
    table = out.table("spent", "runs", *shares, *(FIT_TEXTS[fit] for fit in fits if label))
    for budget, step in rows:
        found = [_share(step.envelope_mixed)] if mixed else []
        cells = [_difference(scores(step, fit), label) for fit in fits if label]
        cells = [*found, _share(step.envelope_observed), *cells]
        table.add_row(percent(budget), str(step.iteration), *cells)
    out.show(console, table)
    if label:
        out.prose(
            console,
            "In brackets the law of the incumbents, each parameter at its nearest so far, as the "
            "paper's tables have it: no user can know it.",
        )


def show_distances(console: Console, done: Replayed) -> None:
    """Regret of every parameter and held-out error, a table for each fit."""
    task, rows = done.trace.task, at_budgets(done)
    keys = {f"log_{p.name}" if p.positive else p.name: p for p in task.law.params}
    heads = [f"{'ln ' if p.positive else ''}{out.symbol(p.name)}" for p in keys.values()]
    errors = _errors(task)
    for fit in present(done) if rows else []:
        out.heading(console, f"Distance from the whole pool's law, {FIT_TEXTS[fit]}")
        table = out.table("spent", *heads, *errors)
        for budget, step in rows:
            found = scores(step, fit)
            regrets = [_small(found.regret[key] if found else None) for key in keys]
            cells = [_small(getattr(found, name, None)) for name in errors.values()]
            table.add_row(percent(budget), *regrets, *cells)
        own = [_small(getattr(task.reference, name)) for name in errors.values()]
        table.add_row("whole pool", *([""] * len(keys)), *own)
        out.show(console, table)


def _errors(task: Task) -> dict[str, str]:
    """Column → the error of that name in `Scores` and `Reference`, those that say something new."""
    found = {"held-out MSE": "held_out_mse"}
    if not task.held_out.beyond.all():
        found["not dominated"] = "held_out_mse_beyond"
    if task.law.inputs != ("C",):
        found["pool MSE"] = "pool_mse"
    return found


def show_goals(console: Console, done: Replayed) -> None:
    """The spend after which each goal is met to the end, and how much less that is."""
    fits = present(done)
    if not fits:
        return
    out.heading(console, "Compute spent to reach and keep (in brackets: times less than the pool)")
    table = out.table("", *(FIT_TEXTS[fit] for fit in fits))
    goals = reached(done.trace)
    for goal in goals:
        table.add_row(_goal(goal), *(_spend(goal, fit) for fit in fits))
    out.show(console, table)
    if done.stopped != "exhausted" and any(goal.spend[fit] for goal in goals for fit in fits):
        out.prose(console, "Kept to the end of this replay, which is not the end of the pool.")


def _share(share: float | None) -> str:
    return NONE if share is None else f"{100 * share:.0f}%"


def _difference(found: Scores | None, label: str) -> str:
    """'+4.92% (+3.21%)': now, and of the law of the incumbents."""
    if found is None:
        return NONE
    now, incumbent = found.extrapolation[label], found.extrapolation_incumbent[label]
    return f"{signed(now)} ({signed(incumbent)})"


def signed(x: float) -> str:
    """'+4.92%', and '+0.00%' whatever the sign of nearly nothing."""
    return f"{round(x, 2) + 0.0:+.2f}%"


def _small(x: float | None) -> str:
    return NONE if x is None or math.isnan(x) else number(x, 2)


def _goal(goal: Reached) -> str:
    if goal.metric == "envelope":
        return f"envelope recovered to {percent(goal.goal)}"
    return f"loss at {goal.target} within {number(goal.goal)}%"


def _spend(goal: Reached, fit: FitName) -> str:
    spend, times = goal.spend[fit], goal.times_less(fit)
    if spend is None or times is None:
        return "not reached"
    return f"{percent(spend)} ({number(times, 3)}×)"
