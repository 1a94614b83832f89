"""An answer as plain values: what ``--json`` prints of it, the same for fit, replay and status."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from lawsmith.answer.records import Answer, Forecast, HeldOutRuns
from lawsmith.arrays import AnyArray
from lawsmith.curves import CurveFinding
from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.surface import Range

Json = dict[str, Any]
NO_ANSWER: Json = {"answers": [], "verdict": None, "held_out_runs": None, "answer_warnings": []}


def payload(answer: Answer) -> Json:
    """``answers`` in the order of the targets, and what they rest on."""
    told: Json = {
        "answers": [forecast_payload(f, answer.level) for f in answer.forecasts],
        "verdict": answer.verdict,
        "level": answer.level,
        "n_runs": answer.n_runs,
        "n_diverged": answer.n_diverged,
        "largest_compute": answer.largest,
        "held_out_runs": None if answer.held_out is None else held_out_payload(answer.held_out),
        "learnt_from": {
            "public": list(answer.public),
            "studies": [lesson._asdict() for lesson in answer.learnt_from],
        },
        "answer_warnings": [warning_payload(w) for w in answer.warnings],
    }
    if answer.others is not None:
        told["other_losses"] = asdict(answer.others)
    if answer.curves is not None:
        told["curves"] = curves_payload(answer.curves)
        for one, forecast in zip(told["answers"], answer.forecasts, strict=True):
            one["source"] = forecast.source or "surface"
    return told


def curves_payload(found: CurveFinding) -> Json:
    """What was used of losses along runs."""
    return {
        "n_trunks": found.n_trunks,
        "n_branches": found.n_branches,
        "gain": found.gain,
        "noise": found.noise,
        "decay_share": found.share,
        "n_inferred": found.n_rows,
        "ends": [asdict(end) for end in found.ends],
        "notes": list(found.notes),
    }


def forecast_payload(forecast: Forecast, level: float) -> Json:
    """One answer; ``interval`` of N, D, D/N and λ, ``near`` what costs at most 0.5 % more loss."""
    scales = forecast.scales
    return {
        "compute": forecast.compute,
        "N": scales["N"].centre if "N" in scales else forecast.target.N,
        "D": scales["D"].centre if "D" in scales else forecast.target.D,
        "loss": forecast.loss,
        "low": forecast.low,
        "high": forecast.high,
        "run_low": forecast.run_low,
        "run_high": forecast.run_high,
        "level": level,
        "decades": forecast.decades,
        "scales": {name: _range(r) for name, r in scales.items()},
        "hyperparameters": {
            **{name: _range(r) for name, r in forecast.hp.items()},
            **{name: {"value": value} for name, value in forecast.levels.items()},
        },
        "at_edge": list(forecast.at_edge),
    }


def forecast_row(forecast: Forecast) -> Json:
    """One answer as a flat row of a table; the ends of intervals as NAME_low and NAME_high."""
    row: Json = {
        "target": forecast.target.label,
        "C": forecast.compute,
        "loss": forecast.loss,
        "low": forecast.low,
        "high": forecast.high,
        "run_low": forecast.run_low,
        "run_high": forecast.run_high,
        "decades": forecast.decades,
    }
    for name, found in {**forecast.scales, **forecast.hp}.items():
        row |= {name: found.centre, f"{name}_low": found.low, f"{name}_high": found.high}
    return {**row, **forecast.levels}


def _range(found: Range) -> Json:
    return {
        "value": found.centre,
        "interval": [found.low, found.high],
        "near": [found.near_low, found.near_high],
    }


def held_out_payload(judged: HeldOutRuns) -> Json:
    """Runs that were kept out, each beside its prediction."""
    names = ("row", "compute", "loss", "predicted", "run_low", "run_high")
    return {
        "n": len(judged.rows),
        "n_inside": int(judged.inside.sum()),
        "median_error": judged.error,
        "rms_error": judged.rms_error,
        "runs": table_rows(names, vars(judged).values()),
    }


def table_rows(names: Sequence[str], columns: Iterable[AnyArray]) -> list[Json]:
    """Columns of one length as rows of named values."""
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def warning_payload(warning: Diagnostic) -> Json:
    """A warning: its code, its sentence and its numbers."""
    return {"code": warning.code, "message": warning.message, **dict(warning.numbers)}
