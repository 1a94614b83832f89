"""Steps of a replay as records, and back; and what a fantasized point counts in a fit.

A record holds what a replay decided and fitted; every score is a function of that and the task,
so `steps_from` makes the same steps again, to the last digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from lawsmith.grid import FloatArray
from lawsmith.laws.law import Law
from lawsmith.replay import Scores, Step, Task
from lawsmith.replay.steps import make_step, scores_of
from lawsmith.runs import Runs
from lawsmith.surrogates.base import Posterior
from lawsmith_paper.jobs import Json


def phi_of(law: Law, scores: Scores) -> FloatArray:
    """(p,) the parameters of scores as they are searched: logs of the positive ones."""
    params = law.params
    return np.array(
        [scores.log_params[p.name] if p.positive else scores.params[p.name] for p in params]
    )


def step_record(step: Step, law: Law) -> Json:
    """One step in short, strict JSON.

    row       its candidate; window null in the initial design
    observed, fantasized   [parameters as searched: logs of the positive ones, points] or null
    envelope  [observed, mixed]
    """

    def fit(found: Scores | None) -> list[Any] | None:
        return None if found is None else [phi_of(law, found).tolist(), found.n_points]

    return {
        "row": step.candidate,
        "window": None if np.isnan(step.window) else step.window,
        "observed": fit(step.observed),
        "fantasized": fit(step.fantasized),
        "envelope": [step.envelope_observed, step.envelope_mixed],
    }


def steps_from(task: Task, records: Iterable[Mapping[str, Any]]) -> list[Step]:
    """The steps of which these are the records, from the first step on."""

    def judged(fit: list[Any] | None) -> Scores | None:
        return None if fit is None else scores_of(task, np.array(fit[0], dtype=np.float64), fit[1])

    rows: list[int] = []
    steps = []
    for record in records:
        rows.append(record["row"])
        window = float("nan") if record["window"] is None else record["window"]
        laws = judged(record["observed"]), judged(record["fantasized"])
        steps.append(make_step(task, rows, window, laws, record["envelope"]))
    return steps


def as_known(m: int, runs: Runs, posterior: Posterior) -> FloatArray:
    """(m,) 1 for a run, σ²/(σ² + s²) for a fantasized point: its variance s² beside a run's σ²."""
    of_run, of_point = posterior.noise**2, posterior.sd**2
    both = of_run + of_point
    share = np.divide(of_run, both, out=np.ones(m), where=both > 0.0)
    return np.where(np.isfinite(runs.config_loss(m)), 1.0, share)
