"""A replay as one JSON object: plain values only, null where a number is not finite.

``candidate`` and ``envelope`` count rows of the pool from 0; ``pool.rows`` says which of the
study's distinct configurations, in the order of its table, each row of the pool is.
"""

from __future__ import annotations

from lawsmith import __version__
from lawsmith.answer.payload import warning_payload
from lawsmith.cli.draw import Drawn
from lawsmith.cli.payload import NO_ANSWER, Json, plain
from lawsmith.cli.replay_summary import FITS, Reached, at_budgets, reached
from lawsmith.laws.fit import LawFit
from lawsmith.replay import Replayed, Task, Trace, step_values


def replay_payload(done: Replayed, drawn: Drawn) -> Json:
    """What `lawsmith replay --json` prints and ``trace.json`` holds."""
    trace, task = done.trace, done.trace.task
    found: Json = plain(
        {
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
            "charts": drawn.paths,
            "charts_missing": drawn.missing,
            "reading_warnings": [warning_payload(w) for w in done.study.warnings],
            "notes": list(task.notes),
        }
    )
    return found


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
        "spend_to_reach": [_goal(goal) for goal in reached(done.trace)],
    }


def _goal(goal: Reached) -> Json:
    return {
        "metric": goal.metric,
        "target": goal.target,
        "goal": goal.goal,
        "spend": goal.spend,
        "times_less": {fit: goal.times_less(fit) for fit in goal.spend},
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
