"""A task's answer as text for people, and as plain values for --json."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lawsmith.answer.text import (
    Json,
    digest_of,
    distance,
    judged_payload,
    loss_cells,
    shared_payload,
)
from lawsmith.digest import Columns, Digest
from lawsmith.formats import interval, percent, plural
from lawsmith.laws.uncertainty import Interval

if TYPE_CHECKING:
    from lawsmith.tasks.records import TaskAnswer, TaskForecast

WAYS = {"two steps": "by way of the loss", "direct": "from scale alone"}
NUMBERS = ("value", "low", "high", "mean_low", "mean_high", "decades")  # of a forecast
Row = tuple[str, str, str]


def accuracy_text(value: float) -> str:
    """An accuracy in percent, to a tenth."""
    return f"{100.0 * value:.1f}%"


def headline(answer: TaskAnswer, forecast: TaskForecast) -> str:
    """'71.3% at 1e23 FLOPs, 95% interval of one run [66.0%, 75.2%]'."""
    ends = interval(forecast.low, forecast.high, accuracy_text)
    at = f"{accuracy_text(forecast.value)} at {forecast.target.label}"
    return f"{at}, {percent(answer.level)} interval of one run {ends}"


def lines(forecast: TaskForecast) -> list[Row]:
    """The accuracy, its mean over runs, the loss on the way, and what each way predicts."""
    intervals = [
        ("accuracy of a run", forecast.value, forecast.low, forecast.high),
        ("mean over runs", forecast.value, forecast.mean_low, forecast.mean_high),
    ]
    if len(forecast.ways) > 1:
        intervals += [(f"  {WAYS[way]}", *ends) for way, ends in forecast.ways.items()]
    rows = [(what, accuracy_text(v), interval(a, b, accuracy_text)) for what, v, a, b in intervals]
    if forecast.loss is not None:
        rows.append(("loss", *loss_cells(forecast.loss)))
    return rows


def chance_text(answer: TaskAnswer) -> str:
    """The floor of accuracy, and whether it was given."""
    ends = interval(answer.chance.low, answer.chance.high, accuracy_text)
    if answer.task.chance is None:
        return f"Chance was not given: estimated as {accuracy_text(answer.chance.centre)} {ends}"
    small = f"small models score {accuracy_text(answer.chance.centre)} {ends}"
    return f"Chance {accuracy_text(answer.task.chance)}, {small}"


def _ways_text(answer: TaskAnswer) -> str:
    """The weights of the ways."""
    weights = answer.model.way_weights()
    if len(weights) == 1:
        return "From scale alone: no loss was named (--via)"
    if np.ptp(answer.model.weight) < 1e-12:
        return "Both ways count the same: there are too few runs to judge them by"
    shares = ", ".join(f"{WAYS[way]} {percent(w, 2)}" for way, w in weights.items())
    return f"Weights by how the largest runs are predicted from the others: {shares}"


def held_out_text(answer: TaskAnswer) -> str:
    """'8 of 9 held-out runs inside their 95% intervals, mean error 1.2 points'; '' without any."""
    judged = answer.held_out
    if judged is None:
        return ""
    inside = f"{int(judged.inside.sum())} of {plural(len(judged.rows), 'held-out run')}"
    error = f"mean error {100.0 * judged.mean_error:.1f} points"
    return f"{inside} inside their {percent(answer.level)} intervals, {error}"


def beyond(forecast: TaskForecast) -> str:
    """How far a target lies from the data."""
    return distance(forecast.decades, " of compute")


def remarks(answer: TaskAnswer) -> list[str]:
    """Sentences below the forecasts."""
    sentences = [chance_text(answer), _ways_text(answer)]
    if answer.held_out is not None:
        sentences.append(f"Held out: {held_out_text(answer)}")
    return sentences


def listing(answer: TaskAnswer) -> Digest:
    """The verdict, a table for each target, what it rests on, warnings."""
    heads = ("", "value", f"{percent(answer.level)} interval")
    tables = [
        Columns(f"{one.target.label}, {beyond(one)}", heads, lines(one)) for one in answer.forecasts
    ]
    return digest_of(answer, [*tables, "\n".join(f"{sentence}." for sentence in remarks(answer))])


def payload(answer: TaskAnswer) -> Json:
    """The answer as plain values; ``answers`` are in the order of the targets."""
    names = ("row", "compute", "accuracy", "predicted", "low", "high")
    judged = answer.held_out
    kept_out = None
    if judged is not None:
        kept_out = judged_payload(judged, names, {"mean_error": judged.mean_error})
    return {
        "metric": answer.task.name,
        "via": answer.via or None,
        "chance": {
            "given": answer.task.chance,
            "estimated": answer.task.chance is None,
            "value": answer.chance.centre,
            "interval": [answer.chance.low, answer.chance.high],
        },
        "questions": answer.task.questions or None,
        "answers": [forecast_payload(f, answer.level) for f in answer.forecasts],
        "weights": answer.model.way_weights(),
        "held_out_runs": kept_out,
        **shared_payload(answer),
    }


def forecast_payload(forecast: TaskForecast, level: float) -> Json:
    """One answer; ``low`` and ``high`` are of one run, ``mean_…`` of the mean over runs."""
    target, loss = forecast.target, forecast.loss
    scales = {} if loss is None else loss.scales
    return {
        "compute": target.C,
        "N": scales["N"].centre if "N" in scales else target.N,
        "D": scales["D"].centre if "D" in scales else target.D,
        **{name: getattr(forecast, name) for name in NUMBERS},
        "run_low": forecast.low,
        "run_high": forecast.high,
        "level": level,
        "loss": None if loss is None else _ends(Interval(loss.loss, loss.low, loss.high)),
        "ways": {way: _ends(found) for way, found in forecast.ways.items()},
    }


def _ends(interval: Interval) -> Json:
    return {"value": interval.centre, "low": interval.low, "high": interval.high}


def forecast_row(forecast: TaskForecast) -> Json:
    """One answer as a flat row of a table."""
    numbers = {name: getattr(forecast, name) for name in NUMBERS}
    named = {"accuracy": numbers.pop("value"), **numbers}
    return {"target": forecast.target.label, "C": forecast.target.C, **named}
