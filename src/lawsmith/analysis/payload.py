"""An analysis as plain values, which ``--json`` prints."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lawsmith.answer.text import warning_payload
from lawsmith.digest import plain
from lawsmith.laws.uncertainty import Interval

if TYPE_CHECKING:
    from lawsmith.analysis.records import Analysis, HyperparameterLaw, Prediction
    from lawsmith.answer.records import HeldOutRuns
    from lawsmith.laws.fit import LawFit
    from lawsmith.laws.uncertainty import Uncertainty

Json = dict[str, Any]


def payload(a: Analysis) -> Json:
    """All of an analysis: its study, its law and its warnings."""
    warnings = [warning_payload(w) for w in a.warnings]
    values: Json = plain({"study": a.study.name, **law_payload(a), "warnings": warnings})
    return values


def law_payload(a: Analysis) -> Json:
    """The law, its intervals and predictions, and the points it was fitted to."""
    return {
        **_fit(a.fit),
        "intervals": _intervals(a.uncertainty, a.options.level),
        "predictions": [prediction_payload(p) for p in a.predictions],
        "held_out": _score(a),
        "hyperparameters": [_hyperparameter(h, a.options.level) for h in a.hyperparameters],
        "frontier": _frontier(a),
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


def _fit(fit: LawFit) -> Json:
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


def _intervals(u: Uncertainty | None, level: float) -> Json | None:
    """None with as many free parameters as points."""
    if u is None:
        return None
    params = u.params(level)
    return {
        "level": level,
        "method": u.method,
        "estimand": u.estimand,
        "dof": u.dof,
        "params": {name: _param(i) for name, i in params.items()},
        "residual_sd": u.residual_sd,
        "noise_sd": u.noise_sd,
        "optimism": -u.shift,
    }


def _param(ends: Interval) -> Json:
    """A parameter that is not identified has no interval; see `laws.uncertainty`."""
    known = not math.isnan(ends.low)
    return {"value": ends.centre, "low": ends.low, "high": ends.high, "identified": known}


def _ends(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]


def prediction_payload(p: Prediction) -> Json:
    shares = (p.allocation or {}).items()
    allocation = {name: {"value": i.centre, "interval": _ends(i)} for name, i in shares}
    return {
        "target": {"C": p.target.C, "N": p.target.N, "D": p.target.D},
        "inputs": p.inputs,
        "loss": p.loss,
        "interval": _ends(p.interval),
        "run_interval": _ends(p.run_interval),
        "decades": p.decades,
        "allocation": allocation or None,
    }


def _score(a: Analysis) -> Json | None:
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


def _hyperparameter(h: HyperparameterLaw, level: float) -> Json:
    fit = _fit(h.fit)
    kept = ("formula", "n_points", "params", "log_params", "fixed")
    return {
        "axis": h.axis,
        **{key: fit[key] for key in kept},
        "intervals": _intervals(h.uncertainty, level),
    }


def _frontier(a: Analysis) -> list[Json]:
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
