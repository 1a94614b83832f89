"""An analysis as one JSON object: plain values only, null where a number is not finite."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lawsmith import __version__
from lawsmith.analysis import (
    Analysis,
    Comparison,
    Cut,
    HeldOutScore,
    HyperparameterLaw,
    Prediction,
)
from lawsmith.answer import HeldOutRuns
from lawsmith.answer.payload import held_out_payload, warning_payload
from lawsmith.answer.serving import Serving
from lawsmith.cli.draw import Drawn
from lawsmith.datasets import Study
from lawsmith.laws.fit import LawFit
from lawsmith.laws.uncertainty import Interval, Uncertainty

if TYPE_CHECKING:
    from lawsmith.cli.fit_run import Fitted

Json = dict[str, Any]


def fit_payload(found: Fitted, drawn: Drawn) -> Json:
    """What `lawsmith fit --json` prints: the answer, then the law that describes the runs."""
    made: Json = plain(
        {
            "version": __version__,
            "study": _study(found),
            **(NO_ANSWER if found.answer is None else found.answer.payload()),
            "why_no_answer": found.why_no_answer or None,
            "serving": [serving_payload(one) for one in found.serving],
            **_law(found),
            "warnings": [warning_payload(w) for w in (*found.study.warnings, *found.warnings)],
            **_compared(found),
            "charts": drawn.paths,
            "charts_missing": drawn.missing,
            "notes": list(found.study.notes),
        }
    )
    return made


NO_ANSWER: Json = {"answers": [], "verdict": None, "held_out_runs": None, "answer_warnings": []}


def _law(found: Fitted) -> Json:
    """The law, its intervals, its own predictions and warnings; null fields without one."""
    a = found.analysis
    if a is None:
        return {"law": None, "why_no_law": found.why_no_law, "predictions": []}
    return {
        **_fit(a.fit),
        "why_no_law": None,
        "intervals": _intervals(a.uncertainty, a.options.level),
        "predictions": [_prediction(p) for p in a.predictions],
        "held_out": _score(a),
        "hyperparameters": [_hyperparameter(h, a.options.level) for h in a.hyperparameters],
        "frontier": _frontier(a),
    }


def serving_payload(found: Serving) -> Json:
    """The cheapest model for training and serving at the loss of a target."""
    return {
        "compute": found.C,
        "loss": found.loss,
        "tokens": found.tokens,
        "N": found.N,
        "D": found.D,
        "near_N": found.near_N,
        "training": found.training,
        "serving": found.serving,
        "total": found.total,
        "training_alone": {"N": found.alone_N, "D": found.alone_D, "total": found.alone},
        "saved": found.saved,
        "ratio_not_run": found.at_edge,
    }


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


def _study(found: Fitted) -> Json:
    study, log = found.study, found.study.log
    return {
        "name": study.name,
        "title": study.title,
        "synthetic": study.synthetic,
        "rows": log.n_rows,
        "configurations": len(study.grid),
        "counts": {
            **study.runs.counts(),
            "filtered": log.n_filtered,
            "not_finished": dict(log.unfinished),
            "bad": log.n_bad,
            "dropped": len(log.dropped),
            "replicated": len(log.replicates),
            "pool": len(study.grid) - len(found.held_out),
            "held_out": len(found.held_out),
        },
        # Rows of the table, counted from 1 below its header.
        "diverged_rows": log.diverged,
        "bad_rows": sorted({fault.row for fault in log.bad}),
        "dropped_rows": log.dropped,
        "replicate_rows": log.replicates,
        "compute": compute_rule(study),
        # How the table was read.
        "columns": dict(study.columns),
        "units": dict(study.units),
        "axes": [axis.name for axis in study.grid.axes],
        "measured": list(study.measured),
    }


def compute_rule(study: Study) -> str | None:
    """How C is counted: 'column', '6ND', or None where the table has no compute."""
    if "C" in study.grid.names:
        return "column"
    return "6ND" if study.has_compute else None


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
        "params": {name: _param(i) for name, i in params.items()},
        "residual_sd": u.residual_sd,
        "noise_sd": u.noise_sd,
        "optimism": -u.shift,
    }


def _param(found: Interval) -> Json:
    """A parameter that the runs do not tell has no interval (laws.uncertainty says when)."""
    told = not math.isnan(found.low)
    return {"value": found.centre, "low": found.low, "high": found.high, "identified": told}


def _ends(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]


def _prediction(p: Prediction) -> Json:
    return {
        "target": {"C": p.target.C, "N": p.target.N, "D": p.target.D},
        "inputs": p.inputs,
        "loss": p.loss,
        "interval": _ends(p.interval),
        "run_interval": _ends(p.run_interval),
        "decades": p.decades,
        "allocation": _allocation(p),
    }


def _allocation(p: Prediction) -> Json | None:
    """N*, D* and D/N of the law at the target's compute C = 6ND."""
    if p.allocation is None:
        return None
    return {name: {"value": i.centre, "interval": _ends(i)} for name, i in p.allocation.items()}


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


def _compared(found: Fitted) -> Json:
    """Every law, best first, and the surface on the same hold-outs."""
    if not found.compared:
        return {"comparison": [], "comparison_surface": None}
    cuts = found.cuts
    surface = {"hold_outs": _hold_outs(cuts, found.surface_cuts)}
    laws = [_comparison(c, cuts) for c in found.compared]
    return {"comparison": laws, "comparison_surface": surface}


def _comparison(c: Comparison, cuts: Sequence[Cut]) -> Json:
    if c.fit is None:
        return {"law": c.law.name, "reason": c.reason}
    return {
        "law": c.law.name,
        "params": c.fit.params,
        "fitted_points": c.fit.n_points,
        "aicc": c.aicc,
        "predictions": [_prediction(p) for p in c.predictions],
        "hold_outs": _hold_outs(cuts, c.cuts),
        **(_errors(c.score) if c.score is not None else {}),
        "reason": None,
    }


def _hold_outs(cuts: Sequence[Cut], judged: Sequence[HeldOutRuns | None]) -> list[Json]:
    """The best runs above each cut beside their predictions; nulls where there are none."""
    none: Json = {"n": None, "n_inside": None, "median_error": None, "rms_error": None, "runs": []}
    return [
        {"cut": cut.name, **(none if runs is None else held_out_payload(runs))}
        for cut, runs in zip(cuts, judged, strict=True)
    ]


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
