"""What `lawsmith fit` shows, 80 columns wide, and its JSON; every number is in both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from lawsmith import __version__
from lawsmith.analysis import Comparison, Cut, Moved
from lawsmith.analysis.text import law_payload, prediction_payload, score_payload
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
from lawsmith.cli.fit import SURFACE, Decision, FitResult, answer_losses, answer_tasks, fit_runs
from lawsmith.datasets import Study
from lawsmith.digest import Columns, Digest, Part, as_notes, as_remarks, as_warnings
from lawsmith.formats import count, flops, formatted, interval, number, percent
from lawsmith.grid import HeldOut
from lawsmith.laws.uncertainty import Interval
from lawsmith.tasks.text import listing as task_listing

Json = dict[str, Any]


def run_fit(request: FitRequest) -> None:
    """Run `lawsmith fit`: answer the request and show the result."""
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
        parts = views.tasks_parts(answers) if several else [task_listing(answers[0])]
    elif request.metrics:
        study, losses = answer_losses(request)
        several = {name: answer.to_dict() for name, answer in losses.items()}
        payload = _several(study, next(iter(several.values())), several)
        parts = views.losses_parts(losses)
    else:
        result = fit_runs(request)
        study, drawn = result.study, views.draw_fit(folder, result) if folder else drawn
        payload, parts = {**fit_payload(result), **drawn.payload}, fit_parts(result)
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


def fit_payload(result: FitResult) -> Json:
    """The answer, then the law that describes the runs; null where there is none."""
    study, described, cuts = result.study, result.analysis, result.cuts
    law = {"law": None, "predictions": []} if described is None else law_payload(described)
    surface = {"hold_outs": _hold_outs_payload(cuts, result.surface_cuts)}
    return {
        "version": __version__,
        "study": _study_payload(study, result.request.hold_out),
        **(NO_ANSWER if result.answer is None else result.answer.to_dict()),
        "why_no_answer": result.why_no_answer or None,
        "serving": [_serving_payload(one) for one in result.serving],
        "decisions": [_decision_payload(one) for one in result.decisions],
        "other_n": [
            {
                "expression": one.expression,
                "loss_moves_by": one.loss,
                "outside_interval": one.matters,
                "answer": forecast_payload(one.other, result.request.level),
            }
            for one in result.moved
        ],
        **law,
        "why_no_law": result.why_no_law or None,
        "warnings": [warning_payload(w) for w in (*study.warnings, *result.warnings)],
        "comparison": [_comparison_payload(one, cuts) for one in result.compared],
        "comparison_surface": surface if result.compared else None,
        "notes": list(study.notes),
    }


def _decision_payload(decision: Decision) -> Json:
    batch = decision.batch
    return {
        "target": decision.target.plain,
        "next_runs": [{**asdict(run), "narrowed": run.narrowed} for run in decision.runs],
        "critical_batch": batch and {**asdict(batch), "identified": batch.identified},
    }


def _serving_payload(serving: Serving) -> Json:
    same = ("loss", "tokens", "N", "D", "near_N", "training", "serving", "total", "saved")
    return {
        "compute": serving.C,
        **{name: getattr(serving, name) for name in same},
        "training_alone": {"N": serving.alone_N, "D": serving.alone_D, "total": serving.alone},
        "ratio_not_run": serving.at_edge,
    }


def _study_payload(study: Study, hold_out: HeldOut | None) -> Json:
    """The runs, how many there are of each kind, and how the table was read.

    Rows of the table are counted from 1 below its header.
    """
    log, n = study.log, len(study.grid)
    n_held_out = 0 if hold_out is None else len(study.grid.split(hold_out)[1])
    return {
        "name": study.name,
        "title": study.title,
        "synthetic": study.synthetic,
        "rows": log.n_rows,
        "configurations": n,
        "counts": {
            **study.runs.counts(),
            "filtered": log.n_filtered,
            "not_finished": dict(log.unfinished),
            "bad": log.n_bad,
            "dropped": len(log.dropped),
            "replicated": len(log.replicates),
            "pool": n - n_held_out,
            "held_out": n_held_out,
        },
        "diverged_rows": log.diverged,
        "bad_rows": sorted({fault.row for fault in log.bad}),
        "dropped_rows": log.dropped,
        "replicate_rows": log.replicates,
        "compute": read.compute_rule(study),
        "columns": dict(study.columns),
        "units": dict(study.units),
        "axes": [axis.name for axis in study.grid.axes],
        "measured": list(study.measured),
    }


def _comparison_payload(one: Comparison, cuts: Sequence[Cut]) -> Json:
    if one.fit is None:
        return {"law": one.law.name, "reason": one.reason}
    return {
        "law": one.law.name,
        "params": one.fit.params,
        "fitted_points": one.fit.n_points,
        "aicc": one.aicc,
        "predictions": [prediction_payload(p) for p in one.predictions],
        "hold_outs": _hold_outs_payload(cuts, one.on_cuts),
        **(score_payload(one.score) if one.score is not None else {}),
        "reason": None,
    }


def _hold_outs_payload(cuts: Sequence[Cut], judged: Sequence[HeldOutRuns | None]) -> list[Json]:
    """The best runs above each cut beside their predictions; nulls where there are none."""
    none: Json = {"n": None, "n_inside": None, "median_error": None, "rms_error": None, "runs": []}
    return [
        {"cut": cut.name, **(none if runs is None else held_out_payload(runs))}
        for cut, runs in zip(cuts, judged, strict=True)
    ]


def fit_parts(result: FitResult) -> list[Part]:
    """The answer, then the law that describes the runs, and laws side by side."""
    answer, described = result.answer, result.analysis
    no_answer = Digest("No answer", [f"{result.why_no_answer}."])
    parts: list[Part] = [no_answer if answer is None else listing(answer)]
    parts += [_serving(one) for one in result.serving]
    parts += [_moved(result.moved)] if result.moved else []
    for decision in result.decisions:
        if decision.runs:
            parts.append(_next_runs(decision.target.label, decision.runs))
        if decision.batch is not None:
            parts.append(_critical_batch(decision.batch))
    no_law = Digest("No law", [f"{result.why_no_law}."])
    parts.append(no_law if described is None else Digest("", law_parts(described)))
    parts += _comparison(result) if result.compared else []
    shown = () if answer is None else answer.warnings
    others = [warning for warning in result.warnings if warning not in shown]
    return [*parts, *as_warnings("Warnings about the law", others)]


def _serving(serving: Serving) -> Digest:
    """The cheapest model for training and serving beside the best for training alone."""
    best = (serving.training, serving.serving, serving.total)
    alone = (serving.C, serving.alone - serving.C, serving.alone)
    rows = [
        ("cheapest", count(serving.N), count(serving.D), *map(flops, best)),
        ("training alone", count(serving.alone_N), count(serving.alone_D), *map(flops, alone)),
    ]
    served = f"serving {count(serving.tokens)} tokens"
    title = f"Training to {loss_text(serving.loss)} and {served}, at the least compute"
    heads = ("", "N", "D", "training", "serving", "together")
    near = interval(*serving.near_N, count)
    text = f"It saves {percent(serving.saved, 2)}. N in {near} costs at most 1% more."
    if serving.at_edge:
        text += " Its D/N was not run: run some there before you rely on it."
    return Digest("", [Columns(title, heads, rows), text])


def _moved(moved: Sequence[Moved]) -> Digest:
    """Each target with N as the table counts it, and counted in another way."""
    rows = []
    for one in moved:
        for label, forecast in ((one.forecast.target.label, one.forecast), ("", one.other)):
            scales = forecast.scales
            sizes = [count(scales[name].centre) if name in scales else "" for name in ("N", "D")]
            change = percent(one.loss, 2) if forecast is one.other else ""
            rows.append((label, *loss_cells(forecast), *sizes, change))
    heads = ("", "loss", "interval", "N", "D", "loss moves by")
    table = Columns(f"If N is counted as {moved[0].expression}", heads, rows)
    text = "The loss leaves its interval: say which N is meant wherever the answer is used."
    return Digest("", [table, *([text] if any(one.matters for one in moved) else [])])


def _next_runs(label: str, runs: Sequence[NextRun]) -> Digest:
    """Runs by how much they narrow the interval per FLOP, best first."""
    rows = []
    for run in runs:
        scales = [flops(v) if name == "C" else count(v) for name, v in run.scales.items()]
        hp = [v if isinstance(v, str) else number(v, 3) for v in run.hp.values()]
        after = (f"±{percent(run.after, 2)}", percent(run.narrowed, 2))
        rows.append((flops(run.C, 2), *scales, *hp, *after))
    heads = ("cost", *runs[0].scales, *runs[0].hp, "interval after", "narrower by")
    table = Columns(f"What one more run would change at {label}", heads, rows)
    now = percent(runs[0].before, 2)
    text = f"The interval is ±{now} now. Runs that narrow it most per FLOP come first."
    return Digest("", [table, text])


def _critical_batch(batch: CriticalBatch) -> Digest:
    """The critical batch, or that the runs do not identify it."""
    title = f"Critical {batch.axis} at N = {count(batch.N)}, D = {count(batch.D)}"
    best = f"The best {batch.axis} is {number(batch.best, 3)}."
    most = f"costs at most {percent(OVERHEAD)} more tokens for the same loss"
    if not batch.identified:
        text = f"Not identified: even {number(batch.largest, 3)}, the largest that was run, {most}."
        return Digest(title, [f"{text} {best}"])
    ends = interval(batch.low, batch.high, lambda x: "beyond" if math.isinf(x) else number(x, 3))
    text = f"Up to {number(batch.critical, 3)} {ends} it {most}."
    if math.isinf(batch.high):
        text += " The runs have no larger one to bound it from above."
    return Digest(title, [f"{text} {best}"])


def _comparison(result: FitResult) -> list[Part]:
    """The loss at each target by the answer and by each law; AICc; the error on held-out runs."""
    fitted = [one for one in result.compared if one.fit is not None]
    heads = ("", "loss", f"{percent(result.request.level)} interval")
    parts: list[Part] = []
    for label, claims in result.claims().items():
        rows = [(name, loss_text(loss.centre), _ends(loss)) for name, loss in claims.items()]
        parts.append(Columns(f"{label}, by the answer and by each law", heads, rows))
    parts += [_aicc(fitted)] if fitted else []
    reasons = _refusals(result.study.name, result.compared)
    refused = [(f"not fitted: {', '.join(laws)}", reason) for reason, laws in reasons.items()]
    return [*parts, _hold_outs(result, fitted), *as_remarks("", refused)]


def _ends(loss: Interval) -> str:
    return "none" if math.isnan(loss.low) else interval(loss.low, loss.high, loss_text)


def _aicc(fitted: Sequence[Comparison]) -> Digest:
    rows = []
    for one in fitted:
        # The least among laws of the same inputs, which have the same points.
        rivals = (other.aicc for other in fitted if set(other.law.inputs) == set(one.law.inputs))
        best = min((value for value in rivals if not math.isnan(value)), default=math.nan)
        cells = [
            "none" if math.isnan(v) else formatted(v, ".1f") for v in (one.aicc, one.aicc - best)
        ]
        points = one.fit.n_points if one.fit is not None else 0
        rows.append((one.law.name, str(one.law.n_params), str(points), *cells))
    title = "How well the laws describe the runs they were fitted to"
    table = Columns(title, ("law", "parameters", "points", "AICc", "above the best"), rows)
    return Digest("", [table, "AICc compares only laws that were fitted to the same points."])


def _hold_outs(result: FitResult, fitted: Sequence[Comparison]) -> Part:
    title = "Error on the best runs above a cut, fitted to the runs below"
    cuts, level = result.cuts, percent(result.request.level)
    if not cuts:
        return Digest(title, ["No hold-outs: too few runs, or all of one compute."])
    counts = [len(cut.best) for cut in cuts]
    rows = [
        ("best runs", *map(str, counts), str(sum(counts)), ""),
        (SURFACE, *_errors(result.surface_cuts)),
        *((one.law.name, *_errors(one.on_cuts)) for one in fitted),
    ]
    return Columns(title, ("", *(cut.name for cut in cuts), "all", f"inside {level}"), rows)


def _errors(cuts: Sequence[HeldOutRuns | None]) -> list[str]:
    """Relative RMS error at each cut and over all, and how many lie in their intervals."""
    cells = ["none" if runs is None else percent(runs.rms_error, 2) for runs in cuts]
    judged = [runs for runs in cuts if runs is not None]
    n = sum(len(runs.rows) for runs in judged)
    if n == 0:
        return [*cells, "none", "none"]
    squares = sum(len(runs.rows) * runs.rms_error**2 for runs in judged)
    inside = sum(int(runs.inside.sum()) for runs in judged)
    return [*cells, percent(math.sqrt(squares / n), 2), f"{inside} of {n}"]


def _refusals(study: str, compared: Sequence[Comparison]) -> dict[str, list[str]]:
    """Why laws could not be fitted → which."""
    refused: dict[str, list[str]] = {}
    for one in compared:
        if one.fit is None:
            reason = one.reason.removeprefix(f"{one.law.name} on {study}: ")
            refused.setdefault(reason.removeprefix(f"{one.law.name}: "), []).append(one.law.name)
    return refused
