"""Steps: made of runs and scores, as plain values, and made again from short records.

A record holds what a replay decided and fitted; every score is a function of that and the task,
so `steps_from` makes the same steps again, to the last digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from lawsmith.laws.law import Law
from lawsmith.replay.judge import Judge, phi_of
from lawsmith.replay.records import Scores, Step, Task

Json = dict[str, Any]


def make_step(
    task: Task,
    rows: Sequence[int],
    window: float,
    laws: tuple[Scores | None, Scores | None],
    envelope: tuple[float, float | None],
) -> Step:
    """The step after running ``rows``, of which the last is now.

    laws, envelope   of what was observed, and of the mixed grid
    """
    row, pool = rows[-1], task.pool
    cost = total_cost(task, rows)
    return Step(
        iteration=len(rows),
        candidate=row,
        config=_config(task, row),
        loss=float(task.loss[row]),
        compute=float(pool.C[row]),
        cost=cost,
        cost_fraction=cost / task.total_compute,
        window=window,
        observed=laws[0],
        fantasized=laws[1],
        envelope_observed=envelope[0],
        envelope_mixed=envelope[1],
    )


def total_cost(task: Task, rows: Sequence[int]) -> float:
    """FLOPs of ``rows``."""
    return task.pricing.together(task.pool, rows)


def _config(task: Task, row: int) -> dict[str, float | str]:
    """N, D and the other axes of a candidate."""
    pool = task.pool
    names: dict[str, None] = {name: None for name in ("N", "D") if name in pool.names}
    names |= dict.fromkeys(axis.name for axis in pool.axes)
    return {name: pool.column(name)[row].item() for name in names}


def step_values(step: Step) -> Json:
    """One step, nested as in the trace of `lawsmith replay --json`; NaN stays NaN."""
    return {
        "iteration": step.iteration,
        "candidate": step.candidate,
        "config": dict(step.config),
        "loss": step.loss,
        "compute": step.compute,
        "cost": step.cost,
        "cost_fraction": step.cost_fraction,
        "window": step.window,
        "fits": {
            "observed": None if step.observed is None else asdict(step.observed),
            "fantasized": None if step.fantasized is None else asdict(step.fantasized),
        },
        "envelope": {"mixed": step.envelope_mixed, "observed": step.envelope_observed},
    }


def step_record(step: Step, law: Law) -> Json:
    """One step in short, strict JSON.

    row       its candidate; window null in the initial design
    observed, fantasized   [parameters as searched: logs of the positive ones, points] or null
    envelope  [observed, mixed]
    """
    return {
        "row": step.candidate,
        "window": None if np.isnan(step.window) else step.window,
        "observed": _fit_record(step.observed, law),
        "fantasized": _fit_record(step.fantasized, law),
        "envelope": [step.envelope_observed, step.envelope_mixed],
    }


def _fit_record(scores: Scores | None, law: Law) -> list[Any] | None:
    if scores is None:
        return None
    return [phi_of(law, scores).tolist(), scores.n_points]


def steps_from(task: Task, records: Iterable[Mapping[str, Any]]) -> list[Step]:
    """The steps of which these are the records, from the first step on."""
    observed, fantasized = Judge(task), Judge(task)
    rows: list[int] = []
    steps = []
    for record in records:
        rows.append(record["row"])
        window = float("nan") if record["window"] is None else record["window"]
        laws = _judged(observed, record["observed"]), _judged(fantasized, record["fantasized"])
        steps.append(make_step(task, rows, window, laws, record["envelope"]))
    return steps


def _judged(judge: Judge, fit: list[Any] | None) -> Scores | None:
    return None if fit is None else judge.judged(np.array(fit[0], dtype=np.float64), fit[1])
