"""Steps as plain values and back: what `lawsmith replay --json` prints and a benchmark stores.

NaN is a value here; a writer of strict JSON turns it into null, and null reads as NaN again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lawsmith.replay.records import Scores, Step

Json = dict[str, Any]


def step_values(step: Step) -> Json:
    """One step, nested as in the trace of `lawsmith replay --json`."""
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
            "observed": _scores_values(step.observed),
            "fantasized": _scores_values(step.fantasized),
        },
        "envelope": {"mixed": step.envelope_mixed, "observed": step.envelope_observed},
    }


def step_from(values: Mapping[str, Any]) -> Step:
    """The step of which these are the values."""
    fits, envelope = values["fits"], values["envelope"]
    return Step(
        iteration=values["iteration"],
        candidate=values["candidate"],
        config=values["config"],
        loss=_number(values["loss"]),
        compute=values["compute"],
        cost=values["cost"],
        cost_fraction=values["cost_fraction"],
        window=_number(values["window"]),
        observed=_scores_from(fits["observed"]),
        fantasized=_scores_from(fits["fantasized"]),
        envelope_observed=envelope["observed"],
        envelope_mixed=envelope["mixed"],
    )


_MAPPINGS = (
    "params",
    "log_params",
    "regret",
    "regret_incumbent",
    "extrapolation",
    "extrapolation_incumbent",
    "incumbent_params",
)
_NUMBERS = ("held_out_mse", "held_out_mse_beyond", "pool_mse")


def _scores_values(scores: Scores | None) -> Json | None:
    if scores is None:
        return None
    return {
        "n_points": scores.n_points,
        **{name: getattr(scores, name) for name in _NUMBERS},
        **{name: dict(getattr(scores, name)) for name in _MAPPINGS},
    }


def _scores_from(values: Mapping[str, Any] | None) -> Scores | None:
    if values is None:
        return None
    read: Json = {name: _number(values[name]) for name in _NUMBERS}
    for name in _MAPPINGS:
        read[name] = {key: _number(value) for key, value in values[name].items()}
    return Scores(n_points=values["n_points"], **read)


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
