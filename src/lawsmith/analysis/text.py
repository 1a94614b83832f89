"""An analysis for people: a few lines, and a listing of parameters, predictions and warnings."""

from __future__ import annotations

import math

from lawsmith.analysis.records import Analysis, Prediction
from lawsmith.digest import Columns, Digest, codes
from lawsmith.formats import digits, interval, number, percent, plural
from lawsmith.laws.fit import LawFit
from lawsmith.laws.uncertainty import Interval


def title(a: Analysis) -> str:
    """'Analysis of runs.csv: LC, E + A·C^α (α < 0), 12 points'."""
    points = plural(a.fit.n_points, "point")
    return f"Analysis of {a.study.name}: {a.law.name}, {a.law.formula}, {points}"


def lines(a: Analysis) -> list[str]:
    """Parameters, predictions, the held-out error and the codes of warnings."""
    params = ", ".join(f"{name} = {number(value)}" for name, value in a.fit.params.items())
    said = [params, *(_headline(p, a.options.level) for p in a.predictions)]
    return [*said, *_held_out(a), *codes([w.code for w in a.warnings])]


def listing(a: Analysis) -> Digest:
    """All that the law says."""
    level = percent(a.options.level)
    known = a.uncertainty.params(a.options.level) if a.uncertainty else {}
    rows = [
        (name, number(value), parameter_interval(a.fit, name, known.get(name)))
        for name, value in a.fit.params.items()
    ]
    params = Columns("Parameters", ("", "fitted", f"{level} interval"), rows)
    heads = ("target", "loss", f"{level} interval", "of a further run")
    predicted = [(p.target.label, digits(p.loss, "#.4g"), *_ends(p)) for p in a.predictions]
    predictions = [Columns("Predictions, if the law holds", heads, predicted)] if predicted else []
    warned = [f"{w.code}: {w.message}" for w in a.warnings]
    return Digest(title(a), [params, *predictions, *_held_out(a), *warned])


def parameter_interval(fit: LawFit, name: str, found: Interval | None) -> str:
    """The interval of a parameter in words; 'fixed', 'none' or 'not identified' without one."""
    if name in fit.fixed:
        return "fixed"
    if found is None:
        return "none"
    return "not identified" if math.isnan(found.low) else interval(found.low, found.high)


def _headline(p: Prediction, level: float) -> str:
    ends = "" if p.interval is None else f", {percent(level)} interval {_ends(p)[0]}"
    return f"{digits(p.loss, '#.4g')} at {p.target.label}{ends}"


def _ends(p: Prediction) -> tuple[str, str]:
    if p.interval is None or p.run_interval is None:
        return "none", "none"
    law, run = p.interval, p.run_interval
    return interval(law.low, law.high, _loss), interval(run.low, run.high, _loss)


def _loss(value: float) -> str:
    return digits(value, "#.4g")


def _held_out(a: Analysis) -> list[str]:
    if a.score is None:
        return []
    judged = plural(len(a.score.rows), "held-out best run")
    return [f"{judged}: root mean square error {percent(a.score.rms_error)}"]
