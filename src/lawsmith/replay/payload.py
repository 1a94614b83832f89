"""A replay as plain values: what ``--json`` prints of it.

``candidate`` and ``envelope`` count rows of the pool from 0; ``pool.rows`` says which of the
study's distinct configurations, in the order of its table, each row of the pool is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lawsmith import __version__
from lawsmith.analysis.payload import plain
from lawsmith.answer.text import NO_ANSWER, warning_payload
from lawsmith.laws.fit import LawFit
from lawsmith.metrics import DENSE_GRID, speedup, spend_until_settled, value_at
from lawsmith.replay.records import Scores, Step, Task, Trace
from lawsmith.replay.steps import step_values

if TYPE_CHECKING:
    from lawsmith.replay.replayed import Replayed

Json = dict[str, Any]
BUDGETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
WITHIN = (1.0, 0.5)  # per cent of predicted loss
RECOVERED = 0.9
FitName = Literal["fantasized", "observed"]
FITS: tuple[FitName, ...] = ("fantasized", "observed")


def payload(done: Replayed) -> Json:
    """What `lawsmith replay --json` prints and ``trace.json`` holds, but for the charts."""
    trace, task = done.trace, done.trace.task
    return {
        "version": __version__,
        "study": task.study,
        "title": task.title,
        "synthetic": task.synthetic,
        "policy": trace.settings["policy"],
        "method": trace.policy,
        "seed": trace.seed,
        "settings": trace.settings,
        "law": task.law.name,
        "formula": task.law.formula,
        "pool": _pool(done),
        "reference": _reference(task),
        "trace": [step_values(step) for step in trace.steps],
        "summary": _summary(done),
        **_answers(done),
        "complete": done.stopped != "interrupted",
        "stopped": done.stopped,
        "reading_warnings": [warning_payload(w) for w in done.study.warnings],
        "notes": list(task.notes),
    }


def _answers(done: Replayed) -> Json:
    """By the runs chosen, as `lawsmith fit --json` has it, and by the whole pool."""
    if done.answers is None:
        return {**NO_ANSWER, "whole_pool": None}
    return {**done.answers.chosen.to_dict(), "whole_pool": done.answers.pool.to_dict()}


def _pool(done: Replayed) -> Json:
    task, grid = done.trace.task, done.study.grid
    return {
        "n": len(task.pool),
        "total_compute": task.total_compute,
        "n_levels": len(task.pool.levels),
        "n_held_out": len(grid) - len(task.pool),
        "n_held_out_frontier": len(task.held_out.loss),
        "n_held_out_beyond": int(task.held_out.beyond.sum()),
        "threshold": task.hold_out.threshold(grid),
        "rows": task.rows,
    }


def _reference(task: Task) -> Json:
    reference = task.reference
    return {
        **_law(reference.validation),
        "held_out_mse": reference.held_out_mse,
        "held_out_mse_beyond": reference.held_out_mse_beyond,
        "pool_mse": reference.pool_mse,
        "envelope": reference.envelope,
        "losses": reference.losses,
        "global": _law(reference.everything),
    }


def _law(fit: LawFit) -> Json:
    return {"params": fit.params, "log_params": fit.log_params, "n_points": fit.n_points}


def _summary(done: Replayed) -> Json:
    kept = ("iteration", "cost_fraction", "envelope", "fits")
    return {
        "budgets": [
            {"budget": budget, **{name: step_values(step)[name] for name in kept}}
            for budget, step in at_budgets(done)
        ],
        "spend_to_reach": reached(done.trace),
    }


def step_table(trace: Trace) -> list[Json]:
    """One flat row a step, every row with the same columns: what ``steps.csv`` holds."""
    rows = [_flat(plain(step_values(step))) for step in trace.steps]
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in names} for row in rows]


def _flat(value: Json, prefix: str = "") -> Json:
    """{'fits': {'observed': {'regret': {'E': 1}}}} → {'observed.regret.E': 1}."""
    found: Json = {}
    for name, item in value.items():
        if isinstance(item, dict):
            found |= _flat(item, "" if name == "fits" else f"{prefix}{name}.")
        elif name not in FITS or item is not None:  # a fit that is not there has no columns
            found[prefix + name] = item
    return found


def scores(step: Step, fit: FitName) -> Scores | None:
    """The scores of one of the two fits."""
    return step.fantasized if fit == "fantasized" else step.observed


def at_budgets(done: Replayed) -> list[tuple[float, Step]]:
    """(budget, the last step within it) of every round budget that the replay reached."""
    steps, spent = done.trace.steps, done.trace.cost_fraction
    number = value_at(spent, [step.iteration for step in steps], BUDGETS)
    return [
        (budget, steps[int(iteration) - 1])
        for budget, iteration in zip(BUDGETS, number.tolist(), strict=True)
        if not np.isnan(iteration) and budget <= _known_to(done) + 1e-9
    ]


def _known_to(done: Replayed) -> float:
    """The spend up to which it is known what stands; beyond, the replay did not go.

    One that its budget ended stands there: the next run would have cost more.
    """
    spent, budget = done.last.cost_fraction, done.trace.settings.get("budget")
    return max(spent, budget) if done.stopped == "budget" and isinstance(budget, float) else spent


def reached(trace: Trace) -> list[Json]:
    """The paper's goals: extrapolations that stay close, an envelope that stays found.

    spend   the share of the pool's compute after which a goal was met to the end, by fit; None
            where it was not met at the end
    """
    label = next(iter(trace.task.targets), None)
    found = []
    for within in WITHIN if label is not None else ():
        close = partial(_close, label=str(label), within=within)
        found.append(_goal(trace, "extrapolation", label, within, close))
    return [*found, _goal(trace, "envelope", None, RECOVERED, _recovered)]


def _goal(
    trace: Trace, metric: str, target: str | None, goal: float, met: Callable[[Step, FitName], bool]
) -> Json:
    steps, spent = trace.steps, trace.cost_fraction
    spend = {fit: spend_until_settled(spent, [met(s, fit) for s in steps]) for fit in FITS}
    less = {fit: speedup(value, DENSE_GRID) for fit, value in spend.items()}
    return {"metric": metric, "target": target, "goal": goal, "spend": spend, "times_less": less}


def _close(step: Step, fit: FitName, label: str, within: float) -> bool:
    found = scores(step, fit)
    return found is not None and abs(found.extrapolation[label]) <= within


def _recovered(step: Step, fit: FitName) -> bool:
    share = step.envelope_mixed if fit == "fantasized" else step.envelope_observed
    return share is not None and share >= RECOVERED
