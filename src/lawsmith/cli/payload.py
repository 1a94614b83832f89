"""An analysis as one JSON object: plain values only, null where a number is not finite."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lawsmith import __version__
from lawsmith.analysis import Analysis, Comparison, HeldOutScore, HyperparameterLaw, Prediction
from lawsmith.cli.draw import Drawn
from lawsmith.datasets import Study
from lawsmith.laws.allocation import log_optimal_n
from lawsmith.laws.fit import LawFit
from lawsmith.laws.uncertainty import Interval, Uncertainty

Json = dict[str, Any]


def fit_payload(analysis: Analysis, compared: Sequence[Comparison], drawn: Drawn) -> Json:
    """What `lawsmith fit --json` prints."""
    a = analysis
    found: Json = plain(
        {
            "version": __version__,
            "study": _study(a),
            **_fit(a.fit),
            "intervals": _intervals(a.uncertainty, a.options.level),
            "predictions": [_prediction(p, a) for p in a.predictions],
            "held_out": _score(a),
            "hyperparameters": [_hyperparameter(h, a.options.level) for h in a.hyperparameters],
            "comparison": [_comparison(c) for c in compared],
            "warnings": [{"code": w.code, "message": w.message} for w in a.warnings],
            "frontier": _frontier(a),
            "charts": drawn.paths,
            "charts_missing": drawn.missing,
            "notes": list(a.study.notes),
        }
    )
    return found


def plain(value: Any) -> Any:
    """Mappings, sequences and numpy values as JSON knows them; NaN and infinities are null."""
    match value:
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple() | np.ndarray():
            return [plain(item) for item in value]
        case bool() | np.bool_():
            return bool(value)
        case int() | np.integer():
            return int(value)
        case float() | np.floating():
            return float(value) if math.isfinite(value) else None
        case None:
            return None
    return str(value)


def _study(a: Analysis) -> Json:
    study, log = a.study, a.study.log
    return {
        "name": study.name,
        "title": study.title,
        "synthetic": study.synthetic,
        "rows": log.n_rows,
        "configurations": len(study.grid),
        "counts": {
            **study.runs.counts(),
            "filtered": log.n_filtered,
            "bad": log.n_bad,
            "dropped": len(log.dropped),
            "replicated": len(log.replicates),
            "pool": len(a.pool),
            "held_out": len(a.held_out),
        },
        # Rows of the table, counted from 1 below its header.
        "diverged_rows": log.diverged,
        "bad_rows": sorted({fault.row for fault in log.bad}),
        "dropped_rows": log.dropped,
        "replicate_rows": log.replicates,
        "compute": compute_rule(study),
    }


def compute_rule(study: Study) -> str | None:
    """How C is counted: 'column', '6ND', or None where the table has no compute."""
    if "C" in study.grid.names:
        return "column"
    return "6ND" if {"N", "D"} <= set(study.grid.names) else None


def _fit(fit: LawFit) -> Json:
    delta = fit.objective.delta
    return {
        "law": fit.law.name,
        "formula": fit.law.formula,
        "n_points": fit.n_points,
        "params": fit.params,
        "log_params": fit.log_params,
        "objective": fit.value,
        "objective_name": fit.objective.name,
        "delta": delta if fit.objective.name == "huber" else None,
        "status": fit.status,
        "gradient": fit.gradient,
        "n_basins": fit.n_basins,
        "condition": fit.condition,
        "at_bounds": fit.at_bounds,
        "fixed": fit.fixed,
        "priors": {k: {"value": p.value, "sd": p.sd} for k, p in fit.priors.items()},
    }


def _intervals(u: Uncertainty | None, level: float) -> Json | None:
    """None where as many parameters are free as there are points."""
    if u is None:
        return None
    params = u.params(level)
    return {
        "level": level,
        "method": u.method,
        "estimand": u.estimand,
        "dof": u.dof,
        "params": {name: _ends(i) for name, i in params.items()},
        "centre": {name: i.centre for name, i in params.items()},
        "residual_sd": u.residual_sd,
        "noise_sd": u.noise_sd,
        "optimism": -u.shift,
    }


def _ends(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]


def _prediction(p: Prediction, a: Analysis) -> Json:
    return {
        "target": {"C": p.target.C, "N": p.target.N, "D": p.target.D},
        "inputs": p.inputs,
        "loss": p.loss,
        "interval": _ends(p.interval),
        "centre": p.interval.centre if p.interval else None,
        "run_interval": _ends(p.run_interval),
        "decades": p.decades,
        "allocation": _allocation(p, a),
    }


def _allocation(p: Prediction, a: Analysis) -> Json | None:
    if p.allocation is None:
        return None
    fitted = fitted_allocation(a.fit, p.target.C)
    return {
        name: {"value": fitted[name], "centre": i.centre, "interval": _ends(i)}
        for name, i in p.allocation.items()
    }


def fitted_allocation(fit: LawFit, C: float) -> dict[str, float]:
    """N*, D* and D/N of the law as fitted, at compute C = 6ND."""
    N = float(np.exp(log_optimal_n(fit.law, fit.phi[None], np.array([C]))[0, 0]))
    return {"N": N, "D": C / (6 * N), "D/N": C / (6 * N * N)}


def _score(a: Analysis) -> Json | None:
    if a.score is None or a.options.hold_out is None:
        return None
    rule = a.options.hold_out
    return {
        "rule": str(rule),
        "threshold": rule.threshold(a.study.grid),
        **_errors(a.score),
    }


def _errors(score: HeldOutScore) -> Json:
    return {
        "n_points": len(score.rows),
        "mse": score.mse,
        "rmse": score.rmse,
        "relative_rmse": score.relative_rmse,
    }


def _hyperparameter(h: HyperparameterLaw, level: float) -> Json:
    fit = _fit(h.fit)
    kept = ("formula", "n_points", "params", "log_params", "fixed")
    return {
        "axis": h.axis,
        **{key: fit[key] for key in kept},
        "intervals": _intervals(h.uncertainty, level),
    }


def _comparison(c: Comparison) -> Json:
    if c.fit is None or c.score is None:
        return {"law": c.law.name, "reason": c.reason}
    return {
        "law": c.law.name,
        "params": c.fit.params,
        "fitted_points": c.fit.n_points,
        **_errors(c.score),
        "reason": None,
    }


def _frontier(a: Analysis) -> list[Json]:
    """The points fitted; 'row' counts the study's configurations from 0."""
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
