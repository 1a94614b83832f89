"""A task's answer in words, for people, and as plain values, for --json."""

from __future__ import annotations

from typing import Any

from lawsmith.answer.payload import table_rows, warning_payload
from lawsmith.answer.text import WARNINGS, loss_text
from lawsmith.digest import Columns, Digest, as_remarks
from lawsmith.formats import flops, interval, percent, plural
from lawsmith.laws.uncertainty import Interval
from lawsmith.tasks.records import HeldOutScores, TaskAnswer, TaskForecast

HEADS = ("", "value", "interval")
WAYS = {"two steps": "by way of the loss", "direct": "from scale alone"}
Row = tuple[str, str, str]
Json = dict[str, Any]


def accuracy_text(value: float) -> str:
    """An accuracy in percent, to a tenth."""
    return f"{100.0 * value:.1f}%"


def headline(found: TaskAnswer, forecast: TaskForecast) -> str:
    """'71.3% at 1e23 FLOPs, 95% interval of one run [66.0%, 75.2%]'."""
    ends = interval(forecast.low, forecast.high, accuracy_text)
    at = f"{accuracy_text(forecast.value)} at {forecast.target.label}"
    return f"{at}, {percent(found.level)} interval of one run {ends}"


def lines(forecast: TaskForecast) -> list[Row]:
    """The accuracy, its mean over runs, the loss on the way, and what each way says."""
    found = [
        ("accuracy of a run", forecast.value, forecast.low, forecast.high),
        ("mean over runs", forecast.value, forecast.mean_low, forecast.mean_high),
    ]
    if len(forecast.ways) > 1:
        found += [(f"  {WAYS[way]}", *ends) for way, ends in forecast.ways.items()]
    rows = [(what, accuracy_text(v), interval(a, b, accuracy_text)) for what, v, a, b in found]
    if forecast.loss is not None:
        loss = forecast.loss
        rows.append(("loss", loss_text(loss.loss), interval(loss.low, loss.high, loss_text)))
    return rows


def rests_on(found: TaskAnswer) -> str:
    """'31 runs, up to 3.3e20 FLOPs'."""
    return f"{plural(found.n_runs, 'run')}, up to {flops(found.largest)} FLOPs"


def chance_text(found: TaskAnswer) -> str:
    """What the floor of accuracy is, and whether it was given."""
    ends = interval(found.chance.low, found.chance.high, accuracy_text)
    if found.task.chance is None:
        return f"Chance was not given: estimated as {accuracy_text(found.chance.centre)} {ends}"
    small = f"small models score {accuracy_text(found.chance.centre)} {ends}"
    return f"Chance {accuracy_text(found.task.chance)}, {small}"


def ways_text(found: TaskAnswer) -> str:
    """How the ways are weighed."""
    weights = found.way_weights()
    if len(weights) == 1:
        return "From scale alone: no loss was named (--via)"
    if found.weight.max() - found.weight.min() < 1e-12:
        return "Both ways count the same: there are too few runs to judge them by"
    shares = ", ".join(f"{WAYS[way]} {percent(w, 2)}" for way, w in weights.items())
    return f"Weights by how the largest runs are predicted from the others: {shares}"


def held_out_text(found: TaskAnswer) -> str:
    """'8 of 9 held-out runs inside their 95% intervals, mean error 1.2 points'; '' without any."""
    judged = found.held_out
    if judged is None:
        return ""
    inside = f"{int(judged.inside.sum())} of {plural(len(judged.rows), 'held-out run')}"
    error = f"mean error {100.0 * judged.error:.1f} points"
    return f"{inside} inside their {percent(found.level)} intervals, {error}"


def beyond(forecast: TaskForecast) -> str:
    """How far a target lies from the data."""
    if forecast.decades <= 0.0:
        return "inside the data"
    return f"{forecast.decades:.1f} decades of compute beyond the largest run"


def remarks(found: TaskAnswer) -> list[str]:
    """Sentences below the forecasts."""
    said = [chance_text(found), ways_text(found)]
    if found.held_out is not None:
        said.append(f"Held out: {held_out_text(found)}")
    return said


def listing(found: TaskAnswer) -> Digest:
    """All of it: the verdict, a table a target, what it rests on, warnings."""
    what, value, ends = HEADS
    heads = (what, value, f"{percent(found.level)} {ends}")
    tables = [
        Columns(f"{one.target.label}, {beyond(one)}", heads, lines(one)) for one in found.forecasts
    ]
    warned = as_remarks(WARNINGS, [(w.code, w.message) for w in found.warnings])
    verdict = [found.verdict] if found.verdict else []
    said = "\n".join(f"{sentence}." for sentence in remarks(found))
    title = f"Answer for {found.task.name}, from {rests_on(found)}"
    return Digest(title, [*verdict, *tables, said, *warned])


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
