"""Steps as plain values: nested for people and programs, or a short record from which to go on.

A record holds what a replay decided and fitted; every score is a function of that and the task,
so `steps_from` makes the same steps again, to the last digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from lawsmith.laws.law import Law
from lawsmith.replay.judge import Judge, phi_of
from lawsmith.replay.records import Scores, Step, Task
from lawsmith.replay.steps import Found, make_step

Json = dict[str, Any]


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
            "observed": scores_values(step.observed),
            "fantasized": scores_values(step.fantasized),
        },
        "envelope": {"mixed": step.envelope_mixed, "observed": step.envelope_observed},
    }


def scores_values(scores: Scores | None) -> Json | None:
    """Scores as plain values; None where there was no law."""
    if scores is None:
        return None
    return {
        "params": dict(scores.params),
        "log_params": dict(scores.log_params),
        "n_points": scores.n_points,
        "regret": dict(scores.regret),
        "regret_incumbent": dict(scores.regret_incumbent),
        "held_out_mse": scores.held_out_mse,
        "held_out_mse_beyond": scores.held_out_mse_beyond,
        "pool_mse": scores.pool_mse,
        "extrapolation": dict(scores.extrapolation),
        "extrapolation_incumbent": dict(scores.extrapolation_incumbent),
        "incumbent_params": dict(scores.incumbent_params),
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
    judges = {"observed": Judge(task), "fantasized": Judge(task)}
    rows: list[int] = []
    steps = []
    for record in records:
        rows.append(record["row"])
        window = float("nan") if record["window"] is None else record["window"]
        share_observed, share_mixed = record["envelope"]
        answer = Found(
            observed=_judged(judges["observed"], record["observed"]),
            fantasized=_judged(judges["fantasized"], record["fantasized"]),
            envelope_observed=share_observed,
            envelope_mixed=share_mixed,
        )
        steps.append(make_step(task, rows, window, answer))
    return steps


def _judged(judge: Judge, fit: list[Any] | None) -> Scores | None:
    return None if fit is None else judge.judged(np.array(fit[0], dtype=np.float64), fit[1])
