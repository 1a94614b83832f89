"""An analysis as text for people, and as plain values, which ``--json`` prints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lawsmith.answer.text import warning_payload
from lawsmith.digest import Columns, Digest, Part, as_warnings, plain, warning_codes
from lawsmith.formats import count, flops, formatted, interval, number, padded, percent, plural
from lawsmith.laws.allocation import further_inputs
from lawsmith.laws.uncertainty import Interval

if TYPE_CHECKING:
    from lawsmith.analysis.records import Analysis, HyperparameterLaw, Prediction
    from lawsmith.answer.records import HeldOutRuns
    from lawsmith.laws.fit import LawFit
    from lawsmith.laws.objective import Objective
    from lawsmith.laws.uncertainty import Uncertainty

Json = dict[str, Any]


def title(a: Analysis) -> str:
    """'Analysis of runs.csv: LC, E + A·C^α (α < 0), 12 points'."""
    points = plural(a.fit.n_points, "point")
    return f"Analysis of {a.study.name}: {a.law.name}, {a.law.formula}, {points}"


def lines(a: Analysis) -> list[str]:
    """Parameters, predictions, the held-out error and the codes of warnings."""
    params = ", ".join(f"{name} = {number(value)}" for name, value in a.fit.params.items())
    shown = [params, *(_headline(p, a.options.level) for p in a.predictions)]
    if a.score is not None:
        runs = plural(len(a.score.rows), "held-out best run")
        shown.append(f"{runs}: root mean square error {percent(a.score.rms_error)}")
    return [*shown, *warning_codes([w.code for w in a.warnings])]


def listing(a: Analysis) -> Digest:
    """The law with everything known about it."""
    warned = as_warnings("Warnings about the law", a.warnings)
    return Digest(title(a), [*parts(a), *warned])


def _parameter_interval(fit: LawFit, name: str, known: Interval | None) -> str:
    """The interval of a parameter; 'fixed', 'none' or 'not identified' without one."""
    if name in fit.fixed:
        return "fixed"
    if known is None:
        return "none"
    return "not identified" if math.isnan(known.low) else interval(known.low, known.high, padded)


def _headline(p: Prediction, level: float) -> str:
    ends = "" if p.interval is None else f", {percent(level)} interval {_ends(p)[0]}"
    return f"{_loss(p.loss)} at {p.target.label}{ends}"


def parts(a: Analysis) -> list[Part]:
    """The formula, parameters with intervals, how they were found, and predictions."""
    level = percent(a.options.level)
    known = a.uncertainty.params(a.options.level) if a.uncertainty else {}
    logs = a.fit.log_params
    rows = [
        (
            name,
            padded(x),
            padded(logs[name]) if name in logs else "",
            _parameter_interval(a.fit, name, known.get(name)),
        )
        for name, x in a.fit.params.items()
    ]
    title = f"Law: {a.law.formula}, fitted to {_points(a)}"
    shown: list[Part] = [Columns(title, ("", "fitted", "ln", f"{level} interval"), rows)]
    shown += [f"{_optimiser(a.fit)}\n{_about_intervals(a)}", *_predictions(a)]
    if a.score is not None:
        rmse = f"RMSE {number(a.score.rmse, 3)} ({percent(a.score.rms_error, 3)} of loss)"
        points = plural(len(a.score.rows), "point")
        error = f"{rmse}, MSE {number(a.score.mse, 3)}, over {points}."
        shown.append(Digest(f"The law {a.law.name} on the held-out frontier", [error]))
    return [*shown, *_hyperparameters(a)]


def _points(a: Analysis) -> str:
    points = plural(a.fit.n_points, "point")
    return f"all {points}" if len(a.done) == a.fit.n_points else f"the {points} of the frontier"


def _optimiser(fit: LawFit) -> str:
    parts = [
        f"{_objective(fit.objective)} {number(fit.value, 5)}",
        f"{fit.status} (gradient {number(fit.gradient, 2)})",
        "1 basin" if fit.n_basins == 1 else f"{fit.n_basins} basins, the lowest taken",
        f"condition number {number(fit.condition, 3)}",
    ]
    return f"Fit: {'; '.join(parts)}."


def _objective(objective: Objective) -> str:
    huber = f"sum of Huber(δ = {number(objective.delta)}) of log loss"
    known = {
        "huber": huber,
        "least-squares-log": "half the sum of squares of log loss",
        "least-squares": "half the sum of squares of loss",
        "mae": "sum of absolute errors of log loss",
        "one-sided": f"{huber}, runs above the law counting {percent(objective.above)}",
    }
    return known.get(objective.name, objective.name)


def _about_intervals(a: Analysis) -> str:
    """What the intervals describe, and how they were made."""
    u = a.uncertainty
    if u is None:
        return "Intervals: none, as there are no more points than free parameters."
    dof = "1 degree" if u.dof == 1 else f"{u.dof} degrees"
    intervals = f"Intervals: of {u.estimand}, by {u.method} with {dof} of freedom"
    return f"{intervals}; stretched to the fitted value where it lies outside."


def _predictions(a: Analysis) -> list[Part]:
    """The loss at each target, and the best N and D for its compute."""
    if not a.predictions:
        return []
    level = percent(a.options.level)
    rows = [(p.target.label, _loss(p.loss), *_ends(p), _beyond(p.decades)) for p in a.predictions]
    title = f"What the law {a.law.name} predicts, {level} intervals if it holds"
    heads = ("target", "loss", "interval", "of a further run", "decades beyond")
    tables: list[Part] = [Columns(title, heads, rows)]
    if any(p.allocation for p in a.predictions):
        title = f"Best N and D by {a.law.name} (C = 6ND), with {level} intervals"
        further = further_inputs(a.law)
        shares = [_allocated(p, further) for p in a.predictions]
        tables.append(Columns(title, ("C", *further, "N*", "D*", "D/N"), shares))
    return tables


def _beyond(decades: float) -> str:
    return "inside" if decades <= 0 else formatted(decades, ".1f")


def _loss(x: float) -> str:
    return formatted(x, ".4f") if x >= 0.1 else number(x)


def _ends(p: Prediction) -> tuple[str, str]:
    """The intervals of the law and of a further run."""
    if p.interval is None or p.run_interval is None:
        return "none", "none"
    law, run = p.interval, p.run_interval
    return interval(law.low, law.high, _loss), interval(run.low, run.high, _loss)


def _allocated(p: Prediction, further: Sequence[str]) -> tuple[str, ...]:
    """A row of the table of best N and D."""
    cells = [flops(p.target.C), *(count(p.inputs[name]) for name in further)]
    for name, share in (p.allocation or {}).items():
        form = _short if name == "D/N" else count
        ends = "" if np.isnan(share.low) else f" {interval(share.low, share.high, form)}"
        cells.append(f"{form(share.centre)}{ends}")
    return tuple(cells)


def _short(x: float) -> str:
    return number(x, 3)


def _hyperparameters(a: Analysis) -> list[Part]:
    """The best value of each tuned hyperparameter as a power of N and D."""
    if not a.hyperparameters:
        return []
    first, level = a.hyperparameters[0].fit, a.options.level
    cells = plural(first.n_points, "cell")
    rows = [
        (h.axis, _short(h.fit.params["c"]), *(_power(h, name, level) for name in ("a", "b")))
        for h in a.hyperparameters
    ]
    over = f"{first.law.formula} over {cells} (N, D), {percent(level)}"
    return [Columns(f"Best hyperparameters, {over}", ("axis", "c", "a", "b"), rows)]


def _power(h: HyperparameterLaw, name: str, level: float) -> str:
    value = formatted(h.fit.params[name], ".3f")
    if name in h.fit.fixed:
        return f"{value}, fixed: D follows N"
    if h.uncertainty is None:
        return value
    known = h.uncertainty.params(level)[name]
    if math.isnan(known.low):
        return f"{value}, not identified"
    return f"{value} {interval(known.low, known.high, lambda x: formatted(x, '.3f'))}"


def payload(a: Analysis) -> Json:
    """All of an analysis: its study, its law and its warnings."""
    warnings = [warning_payload(w) for w in a.warnings]
    values: Json = plain({"study": a.study.name, **law_payload(a), "warnings": warnings})
    return values


def law_payload(a: Analysis) -> Json:
    """The law, its intervals and predictions, and the points it was fitted to."""
    return {
        **_fit_payload(a.fit),
        "intervals": _intervals_payload(a.uncertainty, a.options.level),
        "predictions": [prediction_payload(p) for p in a.predictions],
        "held_out": _held_out_payload(a),
        "hyperparameters": [_hyperparameter_payload(h, a.options.level) for h in a.hyperparameters],
        "frontier": _frontier_payload(a),
    }


def prediction_row(p: Prediction) -> Json:
    """A prediction as a flat row of a table; NaN if there is no interval."""
    none = Interval(p.loss, math.nan, math.nan)
    law, run = p.interval or none, p.run_interval or none
    row: Json = {"target": p.target.label, "C": p.target.C, "loss": p.loss}
    row |= {"low": law.low, "high": law.high, "run_low": run.low, "run_high": run.high}
    for name, share in (p.allocation or {}).items():
        row |= {name: share.centre, f"{name}_low": share.low, f"{name}_high": share.high}
    return {**row, "decades": p.decades}


def _fit_payload(fit: LawFit) -> Json:
    delta = fit.objective.delta
    optimiser = ("status", "gradient", "n_basins", "condition", "at_bounds", "fixed")
    return {
        "law": fit.law.name,
        "formula": fit.law.formula,
        "n_points": fit.n_points,
        "params": fit.params,
        "log_params": fit.log_params,
        "objective": fit.value,
        "objective_name": fit.objective.name,
        "delta": delta if fit.objective.name == "huber" else None,
        **{name: getattr(fit, name) for name in optimiser},
    }


def _intervals_payload(u: Uncertainty | None, level: float) -> Json | None:
    """None with as many free parameters as points."""
    if u is None:
        return None
    # A parameter that is not identified has no interval.
    params = {
        name: {"value": v, "low": low, "high": high, "identified": not math.isnan(low)}
        for name, (v, low, high) in u.params(level).items()
    }
    return {
        "level": level,
        "method": u.method,
        "estimand": u.estimand,
        "dof": u.dof,
        "params": params,
        "residual_sd": u.residual_sd,
        "noise_sd": u.noise_sd,
        "optimism": -u.shift,
    }


def _pair(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]


def prediction_payload(p: Prediction) -> Json:
    shares = (p.allocation or {}).items()
    allocation = {name: {"value": i.centre, "interval": _pair(i)} for name, i in shares}
    return {
        "target": {"C": p.target.C, "N": p.target.N, "D": p.target.D},
        "inputs": p.inputs,
        "loss": p.loss,
        "interval": _pair(p.interval),
        "run_interval": _pair(p.run_interval),
        "decades": p.decades,
        "allocation": allocation or None,
    }


def _held_out_payload(a: Analysis) -> Json | None:
    rule = a.options.hold_out
    if a.score is None or rule is None:
        return None
    threshold = rule.threshold(a.study.grid)
    return {"rule": str(rule), "threshold": threshold, **score_payload(a.score)}


def score_payload(score: HeldOutRuns) -> Json:
    return {
        "n_points": len(score.rows),
        "mse": score.mse,
        "rmse": score.rmse,
        "relative_rmse": score.rms_error,
    }


def _hyperparameter_payload(h: HyperparameterLaw, level: float) -> Json:
    fit = _fit_payload(h.fit)
    kept = ("formula", "n_points", "params", "log_params", "fixed")
    return {
        "axis": h.axis,
        **{key: fit[key] for key in kept},
        "intervals": _intervals_payload(h.uncertainty, level),
    }


def _frontier_payload(a: Analysis) -> list[Json]:
    """The fitted points; 'row' counts the study's configurations from 0."""
    grid = a.study.grid
    names = [*grid.names, *(["C"] if "C" not in grid.names else [])]
    fitted = a.fit.predict({name: grid.numbers(name)[a.frontier] for name in a.law.inputs})
    return [
        {
            "row": row,
            **{name: grid.column(name)[row] for name in names},
            "loss": a.loss[row],
            "fitted": fitted[i],
        }
        for i, row in enumerate(a.frontier.tolist())
    ]
