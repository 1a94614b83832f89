"""What `lawsmith fit` shows, 80 columns wide, and its JSON; every number is in both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from lawsmith import __version__
from lawsmith.analysis import Comparison, Cut, Moved
from lawsmith.analysis.payload import law_payload, prediction_payload, score_payload
from lawsmith.analysis.text import parts as law_parts
from lawsmith.answer import HeldOutRuns
from lawsmith.answer.batch import OVERHEAD, CriticalBatch
from lawsmith.answer.next_runs import NextRun
from lawsmith.answer.serving import Serving
from lawsmith.answer.text import (
    NO_ANSWER,
    forecast_payload,
    held_out_payload,
    listing,
    loss_cells,
    loss_text,
    warning_payload,
)
from lawsmith.cli import console as out
from lawsmith.cli import options as read
from lawsmith.cli import views
from lawsmith.cli.commands import FitRequest
from lawsmith.cli.fit import Fitted, answer_losses, answer_tasks, work_out
from lawsmith.datasets import Study
from lawsmith.digest import Columns, Digest, Part, as_notes, as_remarks
from lawsmith.formats import count, digits, flops, interval, number, percent
from lawsmith.tasks.text import listing as task_listing

SURFACE = "the answer"
Json = dict[str, Any]


def run_fit(request: FitRequest) -> None:
    """All that `lawsmith fit` does."""
    tasks = read.tasks(request)
    read.targets(request.targets)  # bad text is reported before a table is read
    read.curve_options(request)
    folder = read.folder(request.charts, "--charts") if request.charts else None
    drawn, parts = views.Drawn(), list[Part]()
    if tasks:
        study, answers = answer_tasks(request, tasks)
        drawn = views.draw_tasks(folder, study, answers) if folder else drawn
        several = {one.task.name: one.to_dict() for one in answers} if len(answers) > 1 else {}
        payload = {**_several(study, answers[0].to_dict(), several), **drawn.payload}
        parts = views.tasks_parts(answers) if len(answers) > 1 else [task_listing(answers[0])]
    elif request.metrics:
        study, losses = answer_losses(request)
        several = {name: answer.to_dict() for name, answer in losses.items()}
        payload = _several(study, next(iter(several.values())), several)
        parts = views.losses_parts(losses)
    else:
        found = work_out(request)
        study, drawn = found.study, views.draw_fit(folder, found) if folder else drawn
        payload, parts = {**fit_payload(found), **drawn.payload}, fit_parts(found)
    if request.as_json:
        out.print_json(payload)
        return
    if request.metrics and not tasks:
        views.show_reading(study)  # the columns differ, the runs are as they are
    else:
        views.show_study(study, request.hold_out)
        parts += as_notes(study.notes)
    out.show(Digest("", parts))
    views.show_charts(drawn)


def _several(study: Study, first: Json, several: Json) -> Json:
    """The first column's answer, and every column's under ``metrics``."""
    return {
        "version": __version__,
        "study": {"name": study.name, "title": study.title, "compute": read.compute_rule(study)},
        **first,
        "metrics": several,
        "reading_warnings": [warning_payload(w) for w in study.warnings],
        "notes": list(study.notes),
    }


def fit_payload(found: Fitted) -> Json:
    """The answer, then the law that describes the runs; null where there is none."""
    level, described, cuts = found.request.level, found.analysis, found.cuts
    law = {"law": None, "predictions": []} if described is None else law_payload(described)
    surface = {"hold_outs": _judged(cuts, found.surface_cuts)} if found.compared else None
    return {
        "version": __version__,
        "study": _study_payload(found),
        **(NO_ANSWER if found.answer is None else found.answer.to_dict()),
        "why_no_answer": found.why_no_answer or None,
        "serving": [_serving_payload(one) for one in found.serving],
        "decisions": [
            {
                "target": one.target.plain,
                "next_runs": [{**asdict(run), "narrowed": run.narrowed} for run in one.runs],
                "critical_batch": one.batch
                and {**asdict(one.batch), "identified": one.batch.identified},
            }
            for one in found.decisions
        ],
        "other_n": [
            {
                "expression": one.expression,
                "loss_moves_by": one.loss,
                "outside_interval": one.matters,
                "answer": forecast_payload(one.other, level),
            }
            for one in found.moved
        ],
        **law,
        "why_no_law": found.why_no_law or None,
        "warnings": [warning_payload(w) for w in (*found.study.warnings, *found.warnings)],
        "comparison": [_comparison_payload(one, cuts) for one in found.compared],
        "comparison_surface": surface,
        "notes": list(found.study.notes),
    }


def _serving_payload(found: Serving) -> Json:
    same = ("loss", "tokens", "N", "D", "near_N", "training", "serving", "total", "saved")
    return {
        "compute": found.C,
        **{name: getattr(found, name) for name in same},
        "training_alone": {"N": found.alone_N, "D": found.alone_D, "total": found.alone},
        "ratio_not_run": found.at_edge,
    }


def _study_payload(found: Fitted) -> Json:
    study, log, rule = found.study, found.study.log, found.request.hold_out
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
        "compute": read.compute_rule(study),
        # How the table was read.
        "columns": dict(study.columns),
        "units": dict(study.units),
        "axes": [axis.name for axis in study.grid.axes],
        "measured": list(study.measured),
    }


def _comparison_payload(c: Comparison, cuts: Sequence[Cut]) -> Json:
    if c.fit is None:
        return {"law": c.law.name, "reason": c.reason}
    return {
        "law": c.law.name,
        "params": c.fit.params,
        "fitted_points": c.fit.n_points,
        "aicc": c.aicc,
        "predictions": [prediction_payload(p) for p in c.predictions],
        "hold_outs": _judged(cuts, c.cuts),
        **(score_payload(c.score) if c.score is not None else {}),
        "reason": None,
    }


def _judged(cuts: Sequence[Cut], judged: Sequence[HeldOutRuns | None]) -> list[Json]:
    """The best runs above each cut beside their predictions; nulls where there are none."""
    none: Json = {"n": None, "n_inside": None, "median_error": None, "rms_error": None, "runs": []}
    return [
        {"cut": cut.name, **(none if runs is None else held_out_payload(runs))}
        for cut, runs in zip(cuts, judged, strict=True)
    ]


def fit_parts(found: Fitted) -> list[Part]:
    """The answer, then the law that describes the runs, and laws side by side."""
    none = Digest("No answer", [f"{found.why_no_answer}."])
    parts: list[Part] = [none if found.answer is None else listing(found.answer)]
    parts += [_serving(one) for one in found.serving]
    if found.moved:
        parts.append(_moved(found.moved))
    for decided in found.decisions:
        if decided.runs:
            parts.append(_next(decided.target.label, decided.runs))
        if decided.batch is not None:
            parts.append(_batch(decided.batch))
    if found.analysis is not None:
        parts.append(Digest("", law_parts(found.analysis)))
    else:
        parts.append(Digest("No law", [f"{found.why_no_law}."]))
    if found.compared:
        parts += _comparison(found)
    said = () if found.answer is None else found.answer.warnings
    others = [(w.code, w.message) for w in found.warnings if w not in said]
    return [*parts, *as_remarks("Warnings about the law", others)]


def _serving(found: Serving) -> Digest:
    """The cheapest model for training and serving beside the best for training alone."""
    loss, served = loss_text(found.loss), f"{count(found.tokens)} tokens"
    best = (found.training, found.serving, found.total)
    alone = (found.C, found.alone - found.C, found.alone)
    rows = [
        ("cheapest", count(found.N), count(found.D), *map(flops, best)),
        ("training alone", count(found.alone_N), count(found.alone_D), *map(flops, alone)),
    ]
    title = f"Training to {loss} and serving {served}, at the least compute"
    heads = ("", "N", "D", "training", "serving", "together")
    near = interval(*found.near_N, count)
    text = f"It saves {percent(found.saved, 2)}. N in {near} costs at most 1% more."
    if found.at_edge:
        text += " Its D/N was not run: run some there before you rely on it."
    return Digest("", [Columns(title, heads, rows), text])


def _moved(found: Sequence[Moved]) -> Digest:
    """Each target with N as the table counts it, and counted in another way."""
    rows = []
    for one in found:
        for label, forecast in ((one.forecast.target.label, one.forecast), ("", one.other)):
            scales = forecast.scales
            sizes = [count(scales[name].centre) if name in scales else "" for name in ("N", "D")]
            by = percent(one.loss, 2) if forecast is one.other else ""
            rows.append((label, *loss_cells(forecast), *sizes, by))
    heads = ("", "loss", "interval", "N", "D", "loss moves by")
    table = Columns(f"If N is counted as {found[0].expression}", heads, rows)
    text = "The loss leaves its interval: say which N is meant wherever the answer is used."
    return Digest("", [table, *([text] if any(one.matters for one in found) else [])])


def _next(label: str, runs: Sequence[NextRun]) -> Digest:
    """Runs by how much they narrow the interval for a FLOP, best first."""
    rows = []
    for run in runs:
        scales = [flops(v) if name == "C" else count(v) for name, v in run.scales.items()]
        hp = [v if isinstance(v, str) else number(v, 3) for v in run.hp.values()]
        after = (f"±{percent(run.after, 2)}", percent(run.narrowed, 2))
        rows.append((flops(run.C, 2), *scales, *hp, *after))
    heads = ("cost", *runs[0].scales, *runs[0].hp, "interval after", "narrower by")
    table = Columns(f"What one more run would change at {label}", heads, rows)
    now = percent(runs[0].before, 2)
    text = f"The interval is ±{now} now. Runs that tell most for a FLOP come first."
    return Digest("", [table, text])


def _batch(found: CriticalBatch) -> Digest:
    """The critical batch, or that the runs do not tell it."""
    at = f"N = {count(found.N)}, D = {count(found.D)}"
    title = f"Critical {found.axis} at {at}"
    best = f"The best {found.axis} is {number(found.best, 3)}."
    most = f"costs at most {percent(OVERHEAD)} more tokens for the same loss"
    if not found.identified:
        text = f"Not identified: even {number(found.largest, 3)}, the largest that was run, {most}."
        return Digest(title, [f"{text} {best}"])
    ends = interval(found.low, found.high, lambda x: "beyond" if math.isinf(x) else number(x, 3))
    text = f"Up to {number(found.critical, 3)} {ends} it {most}."
    if math.isinf(found.high):
        text += " The runs have no larger one to bound it from above."
    return Digest(title, [f"{text} {best}"])


def _comparison(found: Fitted) -> list[Part]:
    """What each law says of each target beside the answer; AICc; the error on runs not seen."""
    fitted = [c for c in found.compared if c.fit is not None]
    said = _said(found)
    heads = ("", "loss", f"{percent(found.request.level)} interval")
    parts: list[Part] = []
    for label in dict.fromkeys(label for claims in said.values() for label in claims):
        rows = [(name, *claims[label]) for name, claims in said.items() if label in claims]
        parts.append(Columns(f"{label}, by the answer and by each law", heads, rows))
    parts += [_aicc(fitted)] if fitted else []
    reasons = _refusals(found.study.name, found.compared)
    refused = [(f"not fitted: {', '.join(laws)}", reason) for reason, laws in reasons.items()]
    return [*parts, _hold_outs(found, fitted), *as_remarks("", refused)]


def _said(found: Fitted) -> dict[str, dict[str, tuple[str, str]]]:
    """Who predicts → the target's label → the loss and its interval."""
    forecasts = found.answer.forecasts if found.answer is not None else ()
    said = {SURFACE: {forecast.target.label: loss_cells(forecast) for forecast in forecasts}}
    for c in found.compared:
        said[c.law.name] = {}
        for p in c.predictions:
            known = p.interval
            ends = "none" if known is None else interval(known.low, known.high, loss_text)
            said[c.law.name][p.target.label] = loss_text(p.loss), ends
    return said


def _aicc(fitted: Sequence[Comparison]) -> Digest:
    rows = []
    for c in fitted:
        # The least among laws of the same inputs, which have the same points.
        alike = (o.aicc for o in fitted if set(o.law.inputs) == set(c.law.inputs))
        best = min((value for value in alike if not math.isnan(value)), default=math.nan)
        cells = ["none" if math.isnan(v) else digits(v, ".1f") for v in (c.aicc, c.aicc - best)]
        points = c.fit.n_points if c.fit is not None else 0
        rows.append((c.law.name, str(c.law.n_params), str(points), *cells))
    title = "How well the laws describe the runs they were fitted to"
    table = Columns(title, ("law", "parameters", "points", "AICc", "above the best"), rows)
    return Digest("", [table, "AICc compares only laws that were fitted to the same points."])


def _hold_outs(found: Fitted, fitted: Sequence[Comparison]) -> Part:
    title = "Error on the best runs above a cut, fitted to the runs below"
    if not found.cuts:
        return Digest(title, ["No hold-outs: too few runs, or all of one compute."])
    counts = [len(cut.judged) for cut in found.cuts]
    rows = [
        ("best runs", *(str(n) for n in counts), str(sum(counts)), ""),
        (SURFACE, *_errors(found.surface_cuts)),
        *((c.law.name, *_errors(c.cuts)) for c in fitted),
    ]
    heads = ("", *(cut.name for cut in found.cuts), "all", f"inside {percent(found.request.level)}")
    return Columns(title, heads, rows)


def _errors(cuts: Sequence[HeldOutRuns | None]) -> list[str]:
    """Relative RMS error at each cut and over all, and how many lie in their intervals."""
    made = ["none" if runs is None else _error(runs.rms_error) for runs in cuts]
    judged = [runs for runs in cuts if runs is not None]
    n = sum(len(runs.rows) for runs in judged)
    if n == 0:
        return [*made, "none", "none"]
    squares = sum(len(runs.rows) * runs.rms_error**2 for runs in judged)
    inside = sum(int(runs.inside.sum()) for runs in judged)
    return [*made, _error(math.sqrt(squares / n)), f"{inside} of {n}"]


def _error(value: float) -> str:
    return f"{number(100.0 * value, 2)}%"


def _refusals(study: str, compared: Sequence[Comparison]) -> dict[str, list[str]]:
    """Why laws could not be fitted → which."""
    found: dict[str, list[str]] = {}
    for c in compared:
        if c.fit is None:
            reason = c.reason.removeprefix(f"{c.law.name} on {study}: ")
            found.setdefault(reason.removeprefix(f"{c.law.name}: "), []).append(c.law.name)
    return found
