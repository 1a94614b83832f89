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

HEADS = ("", "value", "interval")
WAYS = {"two steps": "by way of the loss", "direct": "from scale alone"}
NUMBERS = ("value", "low", "high", "mean_low", "mean_high", "decades")  # of a forecast
Row = tuple[str, str, str]


def accuracy_text(value: float) -> str:
    """An accuracy in percent, to a tenth."""
    return f"{100.0 * value:.1f}%"


def headline(found: TaskAnswer, forecast: TaskForecast) -> str:
    """'71.3% at 1e23 FLOPs, 95% interval of one run [66.0%, 75.2%]'."""
    ends = interval(forecast.low, forecast.high, accuracy_text)
    at = f"{accuracy_text(forecast.value)} at {forecast.target.label}"
    return f"{at}, {percent(found.level)} interval of one run {ends}"


def lines(forecast: TaskForecast) -> list[Row]:
    """The accuracy, its mean over runs, the loss on the way, and what each way predicts."""
    found = [
        ("accuracy of a run", forecast.value, forecast.low, forecast.high),
        ("mean over runs", forecast.value, forecast.mean_low, forecast.mean_high),
    ]
    if len(forecast.ways) > 1:
        found += [(f"  {WAYS[way]}", *ends) for way, ends in forecast.ways.items()]
    rows = [(what, accuracy_text(v), interval(a, b, accuracy_text)) for what, v, a, b in found]
    if forecast.loss is not None:
        rows.append(("loss", *loss_cells(forecast.loss)))
    return rows


def chance_text(found: TaskAnswer) -> str:
    """The floor of accuracy, and whether it was given."""
    ends = interval(found.chance.low, found.chance.high, accuracy_text)
    if found.task.chance is None:
        return f"Chance was not given: estimated as {accuracy_text(found.chance.centre)} {ends}"
    small = f"small models score {accuracy_text(found.chance.centre)} {ends}"
    return f"Chance {accuracy_text(found.task.chance)}, {small}"


def _ways_text(found: TaskAnswer) -> str:
    """The weights of the ways."""
    weights = found.model.way_weights()
    if len(weights) == 1:
        return "From scale alone: no loss was named (--via)"
    if np.ptp(found.model.weight) < 1e-12:
        return "Both ways count the same: there are too few runs to judge them by"
    shares = ", ".join(f"{WAYS[way]} {percent(w, 2)}" for way, w in weights.items())
    return f"Weights by how the largest runs are predicted from the others: {shares}"


def held_out_text(found: TaskAnswer) -> str:
    """'8 of 9 held-out runs inside their 95% intervals, mean error 1.2 points'; '' without any."""
    judged = found.held_out
    if judged is None:
        return ""
    inside = f"{int(judged.inside.sum())} of {plural(len(judged.rows), 'held-out run')}"
    error = f"mean error {100.0 * judged.mean_error:.1f} points"
    return f"{inside} inside their {percent(found.level)} intervals, {error}"


def beyond(forecast: TaskForecast) -> str:
    """How far a target lies from the data."""
    return distance(forecast.decades, " of compute")


def remarks(found: TaskAnswer) -> list[str]:
    """Sentences below the forecasts."""
    sentences = [chance_text(found), _ways_text(found)]
    if found.held_out is not None:
        sentences.append(f"Held out: {held_out_text(found)}")
    return sentences


def listing(found: TaskAnswer) -> Digest:
    """The verdict, a table for each target, what it rests on, warnings."""
    what, value, ends = HEADS
    heads = (what, value, f"{percent(found.level)} {ends}")
    tables = [
        Columns(f"{one.target.label}, {beyond(one)}", heads, lines(one)) for one in found.forecasts
    ]
    return digest_of(found, [*tables, "\n".join(f"{sentence}." for sentence in remarks(found))])


def payload(found: TaskAnswer) -> Json:
    """The answer as plain values; ``answers`` are in the order of the targets."""
    names = ("row", "compute", "accuracy", "predicted", "low", "high")
    judged = found.held_out
    kept_out = None
    if judged is not None:
        kept_out = judged_payload(judged, names, {"mean_error": judged.mean_error})
    return {
        "metric": found.task.name,
        "via": found.via or None,
        "chance": {
            "given": found.task.chance,
            "estimated": found.task.chance is None,
            "value": found.chance.centre,
            "interval": [found.chance.low, found.chance.high],
        },
        "questions": found.task.questions or None,
        "answers": [forecast_payload(f, found.level) for f in found.forecasts],
        "weights": found.model.way_weights(),
        "held_out_runs": kept_out,
        **shared_payload(found),
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


def _ends(found: Interval) -> Json:
    return {"value": found.centre, "low": found.low, "high": found.high}


def forecast_row(forecast: TaskForecast) -> Json:
    """One answer as a flat row of a table."""
    numbers = {name: getattr(forecast, name) for name in NUMBERS}
    named = {"accuracy": numbers.pop("value"), **numbers}
    return {"target": forecast.target.label, "C": forecast.target.C, **named}
