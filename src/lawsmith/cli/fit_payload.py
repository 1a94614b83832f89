"""What `lawsmith fit --json` prints: plain values, null where there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from lawsmith import __version__
from lawsmith.analysis import Comparison, Cut, Moved
from lawsmith.analysis.payload import law_payload, prediction_payload, score_payload
from lawsmith.answer import Answer, HeldOutRuns
from lawsmith.answer.serving import Serving
from lawsmith.answer.text import NO_ANSWER, forecast_payload, held_out_payload, warning_payload
from lawsmith.cli.fit_run import Decided, Fitted
from lawsmith.cli.options import compute_rule
from lawsmith.cli.views import Drawn
from lawsmith.datasets import Study
from lawsmith.tasks import TaskAnswer

Json = dict[str, Any]


def fit_payload(found: Fitted, drawn: Drawn) -> Json:
    """The answer, then the law that describes the runs."""
    return {
        "version": __version__,
        "study": _study(found),
        **(NO_ANSWER if found.answer is None else found.answer.to_dict()),
        "why_no_answer": found.why_no_answer or None,
        "serving": [serving_payload(one) for one in found.serving],
        "decisions": [decided_payload(one) for one in found.decisions],
        "other_n": [moved_payload(one, found.asked.level) for one in found.moved],
        **_law(found),
        "warnings": [warning_payload(w) for w in (*found.study.warnings, *found.warnings)],
        **_compared(found),
        "charts": drawn.paths,
        "charts_missing": drawn.missing,
        "notes": list(found.study.notes),
    }


def losses_payload(study: Study, found: Mapping[str, Answer]) -> Json:
    """The first column's answer, and every column's under ``metrics``."""
    several = {name: answer.to_dict() for name, answer in found.items()}
    return _several(study, {**next(iter(found.values())).to_dict(), "metrics": several})


def tasks_payload(study: Study, found: Sequence[TaskAnswer], drawn: Drawn) -> Json:
    """The first task's answer, and all of them by name where there are several."""
    several = {answer.task.name: answer.to_dict() for answer in found} if len(found) > 1 else {}
    charts = {"charts": drawn.paths, "charts_missing": drawn.missing}
    return _several(study, {**found[0].to_dict(), "metrics": several, **charts})


def _several(study: Study, answers: Json) -> Json:
    return {
        "version": __version__,
        "study": {"name": study.name, "title": study.title, "compute": compute_rule(study)},
        **answers,
        "reading_warnings": [warning_payload(w) for w in study.warnings],
        "notes": list(study.notes),
    }


def _law(found: Fitted) -> Json:
    """The law, its intervals, its own predictions and warnings; null fields without one."""
    a = found.analysis
    if a is None:
        return {"law": None, "why_no_law": found.why_no_law, "predictions": []}
    return {**law_payload(a), "why_no_law": None}


def moved_payload(found: Moved, level: float) -> Json:
    """A target with N counted in another way."""
    return {
        "expression": found.expression,
        "loss_moves_by": found.loss,
        "outside_interval": found.matters,
        "answer": forecast_payload(found.other, level),
    }


def decided_payload(found: Decided) -> Json:
    """Further runs, and the critical batch, at a target."""
    runs = [{**asdict(run), "narrowed": run.narrowed} for run in found.runs]
    batch = found.batch
    known = None if batch is None else {**asdict(batch), "identified": batch.identified}
    return {"target": found.target.plain, "next_runs": runs, "critical_batch": known}


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


def _study(found: Fitted) -> Json:
    study, log, rule = found.study, found.study.log, found.asked.hold_out
    n_held_out = 0 if rule is None else len(study.grid.split(rule)[1])
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
            "pool": len(study.grid) - n_held_out,
            "held_out": n_held_out,
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
        "predictions": [prediction_payload(p) for p in c.predictions],
        "hold_outs": _hold_outs(cuts, c.cuts),
        **(score_payload(c.score) if c.score is not None else {}),
        "reason": None,
    }


def _hold_outs(cuts: Sequence[Cut], judged: Sequence[HeldOutRuns | None]) -> list[Json]:
    """The best runs above each cut beside their predictions; nulls where there are none."""
    none: Json = {"n": None, "n_inside": None, "median_error": None, "rms_error": None, "runs": []}
    return [
        {"cut": cut.name, **(none if runs is None else held_out_payload(runs))}
        for cut, runs in zip(cuts, judged, strict=True)
    ]
