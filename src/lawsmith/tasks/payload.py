"""A task's answer as plain values: what ``--json`` prints of it."""

from __future__ import annotations

from typing import Any

from lawsmith.answer.payload import table_rows, warning_payload
from lawsmith.laws.uncertainty import Interval
from lawsmith.tasks.records import HeldOutScores, TaskAnswer, TaskForecast

Json = dict[str, Any]


def payload(found: TaskAnswer) -> Json:
    """``answers`` in the order of the targets, and what they rest on."""
    return {
        "metric": found.task.name,
        "via": found.via or None,
        "chance": {
            "given": found.task.chance,
            "estimated": found.estimated_chance,
            "value": found.chance.centre,
            "interval": [found.chance.low, found.chance.high],
        },
        "questions": found.task.questions or None,
        "answers": [forecast_payload(f, found.level) for f in found.forecasts],
        "verdict": found.verdict,
        "level": found.level,
        "n_runs": found.n_runs,
        "largest_compute": found.largest,
        "weights": found.way_weights(),
        "held_out_runs": None if found.held_out is None else held_out_payload(found.held_out),
        "answer_warnings": [warning_payload(w) for w in found.warnings],
    }


def forecast_payload(forecast: TaskForecast, level: float) -> Json:
    """One answer; ``low`` and ``high`` of what one run measures, ``mean_low`` and ``mean_high`` of
    the mean over runs."""
    target, loss = forecast.target, forecast.loss
    scales = {} if loss is None else loss.scales
    return {
        "compute": target.C,
        "N": scales["N"].centre if "N" in scales else target.N,
        "D": scales["D"].centre if "D" in scales else target.D,
        "value": forecast.value,
        "low": forecast.low,
        "high": forecast.high,
        "mean_low": forecast.mean_low,
        "mean_high": forecast.mean_high,
        "run_low": forecast.low,
        "run_high": forecast.high,
        "level": level,
        "decades": forecast.decades,
        "loss": None if loss is None else _ends(Interval(loss.loss, loss.low, loss.high)),
        "ways": {way: _ends(found) for way, found in forecast.ways.items()},
    }


def _ends(found: Interval) -> Json:
    return {"value": found.centre, "low": found.low, "high": found.high}


def forecast_row(forecast: TaskForecast) -> Json:
    """One answer as a flat row of a table."""
    return {
        "target": forecast.target.label,
        "C": forecast.target.C,
        "accuracy": forecast.value,
        "low": forecast.low,
        "high": forecast.high,
        "mean_low": forecast.mean_low,
        "mean_high": forecast.mean_high,
        "decades": forecast.decades,
    }


def held_out_payload(judged: HeldOutScores) -> Json:
    """Runs that were kept out, each beside its prediction."""
    names = ("row", "compute", "accuracy", "predicted", "low", "high")
    return {
        "n": len(judged.rows),
        "n_inside": int(judged.inside.sum()),
        "mean_error": judged.error,
        "runs": table_rows(names, vars(judged).values()),
    }
