"""All of `lawsmith fit` on the terminal, 80 columns wide: every number is in the JSON as well."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from rich.console import Console

from lawsmith.analysis import Analysis, Comparison, HyperparameterLaw, Moved, Prediction
from lawsmith.answer import HeldOutRuns
from lawsmith.answer.batch import OVERHEAD, CriticalBatch
from lawsmith.answer.next_runs import NextRun
from lawsmith.answer.serving import Serving
from lawsmith.answer.text import loss_text
from lawsmith.cli import console as out
from lawsmith.cli import options as read
from lawsmith.cli import views
from lawsmith.cli.console import figure
from lawsmith.cli.fit import FitRequest
from lawsmith.cli.fit_payload import fit_payload, losses_payload, tasks_payload
from lawsmith.cli.fit_run import Fitted, answer_losses, answer_tasks, work_out
from lawsmith.cli.views import Drawn, draw_fit, draw_tasks, show_answer, show_charts, show_study
from lawsmith.datasets import Study
from lawsmith.formats import count, digits, flops, interval, number, percent, plural
from lawsmith.grid import HeldOut
from lawsmith.laws.allocation import further_inputs
from lawsmith.laws.fit import LawFit
from lawsmith.laws.objective import Objective
from lawsmith.laws.uncertainty import Interval
from lawsmith.tasks import TaskAnswer

SURFACE = "the answer"


def run_fit(asked: FitRequest) -> None:
    """All that `lawsmith fit` does."""
    tasks = read.tasks(asked)
    read.targets(asked.targets)  # bad text is reported before a table is read
    read.curve_options(asked)
    folder = read.folder(asked.charts, "--charts") if asked.charts else None
    console = out.stdout()
    if tasks:
        study, answers = answer_tasks(asked, tasks)
        drawn = draw_tasks(folder, study, answers) if folder else Drawn()
        if asked.as_json:
            out.print_json(tasks_payload(study, answers, drawn))
        else:
            show_tasks(console, study, asked.hold_out, answers, drawn)
    elif asked.metrics:
        study, losses = answer_losses(asked)
        if asked.as_json:
            out.print_json(losses_payload(study, losses))
        else:
            views.show_reading(console, study)
            views.show_losses(console, losses)
    else:
        found = work_out(asked)
        drawn = draw_fit(folder, found) if folder else Drawn()
        if asked.as_json:
            out.print_json(fit_payload(found, drawn))
        else:
            show_fit(console, found, drawn)


def show_tasks(
    console: Console,
    study: Study,
    rule: HeldOut | None,
    found: Sequence[TaskAnswer],
    drawn: Drawn,
) -> None:
    """The study, then one task in full or several side by side."""
    views.show_study(console, study, rule, 0 if rule is None else len(study.grid.split(rule)[1]))
    if len(found) == 1:
        views.show_task(console, found[0])
    else:
        views.show_tasks(console, found)
    out.notes(console, study.notes)
    views.show_charts(console, drawn)


def show_fit(console: Console, found: Fitted, drawn: Drawn) -> None:
    """The study, the answer, then the law that describes the runs, notes and charts."""
    show_study(console, found.study, found.hold_out, len(found.held_out))
    if found.answer is not None:
        show_answer(console, found.answer)
    else:
        out.heading(console, "No answer")
        out.prose(console, f"{found.why_no_answer}.")
    for one in found.serving:
        show_serving(console, one)
    if found.moved:
        show_moved(console, found.moved)
    for decided in found.decisions:
        if decided.runs:
            show_next(console, decided.target.label, decided.runs)
        if decided.batch is not None:
            show_batch(console, decided.batch)
    if found.analysis is not None:
        show_law(console, found.analysis)
    else:
        out.heading(console, "No law")
        out.prose(console, f"{found.why_no_law}.")
    if found.compared:
        show_comparison(console, found)
    said = () if found.answer is None else found.answer.warnings
    others = [warning for warning in found.warnings if warning not in said]
    out.warnings(console, "Warnings about the law", others)
    out.notes(console, found.study.notes)
    show_charts(console, drawn)


def show_serving(console: Console, found: Serving) -> None:
    """The cheapest model for training and serving beside the best for training alone."""
    loss, served = loss_text(found.loss), f"{count(found.tokens)} tokens"
    best = (found.training, found.serving, found.total)
    alone = (found.C, found.alone - found.C, found.alone)
    out.table(
        console,
        f"Training to {loss} and serving {served}, at the least compute",
        ("", "N", "D", "training", "serving", "together"),
        [
            ("cheapest", count(found.N), count(found.D), *map(flops, best)),
            ("training alone", count(found.alone_N), count(found.alone_D), *map(flops, alone)),
        ],
    )
    near = interval(*found.near_N, count)
    text = f"It saves {percent(found.saved, 2)}. N in {near} costs at most 1% more."
    if found.at_edge:
        text += " Its D/N was not run: run some there before you rely on it."
    out.prose(console, text)


def show_moved(console: Console, found: Sequence[Moved]) -> None:
    """Each target with N as the table counts it, and counted in another way."""
    rows = []
    for one in found:
        for label, forecast in ((one.forecast.target.label, one.forecast), ("", one.other)):
            ends, scales = interval(forecast.low, forecast.high, loss_text), forecast.scales
            sizes = [count(scales[name].centre) if name in scales else "" for name in ("N", "D")]
            by = percent(one.loss, 2) if forecast is one.other else ""
            rows.append((label, loss_text(forecast.loss), ends, *sizes, by))
    heads = ("", "loss", "interval", "N", "D", "loss moves by")
    out.table(console, f"If N is counted as {found[0].expression}", heads, rows)
    if any(one.matters for one in found):
        text = "The loss leaves its interval: say which N is meant wherever the answer is used."
        out.prose(console, text)


def show_next(console: Console, label: str, runs: Sequence[NextRun]) -> None:
    """Runs by how much they narrow the interval for a FLOP, best first."""
    rows = []
    for run in runs:
        scales = [flops(v) if name == "C" else count(v) for name, v in run.scales.items()]
        hp = [v if isinstance(v, str) else number(v, 3) for v in run.hp.values()]
        after = (f"±{percent(run.after, 2)}", percent(run.narrowed, 2))
        rows.append((flops(run.C, 2), *scales, *hp, *after))
    heads = ("cost", *runs[0].scales, *runs[0].hp, "interval after", "narrower by")
    out.table(console, f"What one more run would change at {label}", heads, rows)
    now = percent(runs[0].before, 2)
    out.prose(console, f"The interval is ±{now} now. Runs that tell most for a FLOP come first.")


def show_batch(console: Console, found: CriticalBatch) -> None:
    """The critical batch, or that the runs do not tell it."""
    at = f"N = {count(found.N)}, D = {count(found.D)}"
    out.heading(console, f"Critical {found.axis} at {at}")
    best = f"The best {found.axis} is {number(found.best, 3)}."
    most = f"costs at most {percent(OVERHEAD)} more tokens for the same loss"
    if not found.identified:
        text = f"Not identified: even {number(found.largest, 3)}, the largest that was run, {most}."
        out.prose(console, f"{text} {best}")
        return
    ends = interval(found.low, found.high, lambda x: "beyond" if math.isinf(x) else number(x, 3))
    text = f"Up to {number(found.critical, 3)} {ends} it {most}."
    if math.isinf(found.high):
        text += " The runs have no larger one to bound it from above."
    out.prose(console, f"{text} {best}")


def show_law(console: Console, a: Analysis) -> None:
    """The formula, the parameters with intervals, how they were found, what the law predicts."""
    level = percent(a.options.level)
    known = a.uncertainty.params(a.options.level) if a.uncertainty else {}
    logs = a.fit.log_params
    rows = [
        (name, figure(x), figure(logs[name]) if name in logs else "", _known(a.fit, name, known))
        for name, x in a.fit.params.items()
    ]
    title = f"Law: {a.law.formula}, fitted to {_points(a)}"
    out.table(console, title, ("", "fitted", "ln", f"{level} interval"), rows)
    console.print()
    out.prose(console, _optimiser(a.fit))
    out.prose(console, _about_intervals(a))
    if a.predictions:
        show_predictions(console, a)
    if a.score is not None:
        out.heading(console, f"The law {a.law.name} on the held-out frontier")
        rmse = f"RMSE {number(a.score.rmse, 3)} ({percent(a.score.rms_error, 3)} of loss)"
        points = plural(len(a.score.rows), "point")
        out.prose(console, f"{rmse}, MSE {number(a.score.mse, 3)}, over {points}.")
    if a.hyperparameters:
        show_hyperparameters(console, a)


def _points(a: Analysis) -> str:
    n_runs = int(np.isfinite(a.loss[a.pool]).sum())
    points = plural(a.fit.n_points, "point")
    return f"all {points}" if n_runs == a.fit.n_points else f"the {points} of the frontier"


def _known(fit: LawFit, name: str, known: dict[str, Interval]) -> str:
    """The interval of a parameter."""
    if name in fit.fixed:
        return "fixed"
    if name not in known:
        return "none"
    low, high = known[name].low, known[name].high
    return "not identified" if np.isnan(low) else interval(low, high, figure)


def _optimiser(fit: LawFit) -> str:
    parts = [
        f"{_objective(fit.objective)} {number(fit.value, 5)}",
        f"{fit.status} (gradient {number(fit.gradient, 2)})",
        "1 basin" if fit.n_basins == 1 else f"{fit.n_basins} basins, the lowest taken",
        f"condition number {number(fit.condition, 3)}",
    ]
    if fit.priors:
        parts.append(f"pulled by priors on {', '.join(fit.priors)}")
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
    """What the intervals are of, and how they were made."""
    u = a.uncertainty
    if u is None:
        return "Intervals: none, as there are no more points than free parameters."
    dof = "1 degree" if u.dof == 1 else f"{u.dof} degrees"
    said = f"Intervals: of {u.estimand}, by {u.method} with {dof} of freedom"
    return f"{said}; stretched to the fitted value where it lies outside."


def show_predictions(console: Console, a: Analysis) -> None:
    """The loss at each target, and how to spend its compute."""
    level = percent(a.options.level)
    rows = [
        (
            p.target.label,
            _loss(p.loss),
            _ends(p.interval),
            _ends(p.run_interval),
            "inside" if p.decades <= 0 else digits(p.decades, ".1f"),
        )
        for p in a.predictions
    ]
    title = f"What the law {a.law.name} predicts, {level} intervals if it holds"
    heads = ("target", "loss", "interval", "of a further run", "decades beyond")
    out.table(console, title, heads, rows)
    if any(p.allocation for p in a.predictions):
        title = f"Best N and D by {a.law.name} (C = 6ND), with {level} intervals"
        further = further_inputs(a.law)
        shares = [_allocated(p, further) for p in a.predictions]
        out.table(console, title, ("C", *further, "N*", "D*", "D/N"), shares)


def _loss(x: float) -> str:
    return digits(x, ".4f") if x >= 0.1 else number(x)


def _ends(found: Interval | None) -> str:
    return "none" if found is None else interval(found.low, found.high, _loss)


def _allocated(p: Prediction, further: Sequence[str]) -> tuple[str, ...]:
    """Where a law spends the compute of a target best."""
    cells = [flops(p.target.C), *(count(p.inputs[name]) for name in further)]
    for name, found in (p.allocation or {}).items():
        form = _short if name == "D/N" else count
        ends = "" if np.isnan(found.low) else f" {interval(found.low, found.high, form)}"
        cells.append(f"{form(found.centre)}{ends}")
    return tuple(cells)


def _short(x: float) -> str:
    return number(x, 3)


def show_hyperparameters(console: Console, a: Analysis) -> None:
    """The best value of each tuned axis as a power of N and D."""
    first, level = a.hyperparameters[0].fit, a.options.level
    cells = plural(first.n_points, "cell")
    rows = [
        (h.axis, _short(h.fit.params["c"]), *(_power(h, name, level) for name in ("a", "b")))
        for h in a.hyperparameters
    ]
    over = f"{first.law.formula} over {cells} (N, D), {percent(level)}"
    out.table(console, f"Best hyperparameters, {over}", ("axis", "c", "a", "b"), rows)


def _power(h: HyperparameterLaw, name: str, level: float) -> str:
    value = digits(h.fit.params[name], ".3f")
    if name in h.fit.fixed:
        return f"{value}, fixed: D follows N"
    if h.uncertainty is None:
        return value
    found = h.uncertainty.params(level)[name]
    if math.isnan(found.low):
        return f"{value}, not identified"
    return f"{value} {interval(found.low, found.high, lambda x: digits(x, '.3f'))}"


def show_comparison(console: Console, found: Fitted) -> None:
    """What each law says of each target beside the answer; AICc; the error on runs not seen."""
    fitted = [c for c in found.compared if c.fit is not None]
    said = _said(found)
    for label in dict.fromkeys(label for claims in said.values() for label in claims):
        rows = [(name, *claims[label]) for name, claims in said.items() if label in claims]
        heads = ("", "loss", f"{percent(found.level)} interval")
        out.table(console, f"{label}, by the answer and by each law", heads, rows)
    if fitted:
        _show_aicc(console, fitted)
    _show_hold_outs(console, found, fitted)
    for reason, laws in _refusals(found.study.name, found.compared).items():
        out.item(console, f"not fitted: {', '.join(laws)}", reason)


def _said(found: Fitted) -> dict[str, dict[str, tuple[str, str]]]:
    """Who predicts → the target's label → the loss and its interval."""
    said: dict[str, dict[str, tuple[str, str]]] = {SURFACE: {}}
    for forecast in found.answer.forecasts if found.answer is not None else ():
        ends = interval(forecast.low, forecast.high, loss_text)
        said[SURFACE][forecast.target.label] = loss_text(forecast.loss), ends
    for c in found.compared:
        said[c.law.name] = {}
        for p in c.predictions:
            known = p.interval
            ends = "none" if known is None else interval(known.low, known.high, loss_text)
            said[c.law.name][p.target.label] = loss_text(p.loss), ends
    return said


def _show_aicc(console: Console, fitted: Sequence[Comparison]) -> None:
    rows = []
    for c in fitted:
        # The least among laws of the same inputs, which have the same points.
        alike = (o.aicc for o in fitted if set(o.law.inputs) == set(c.law.inputs))
        best = min((value for value in alike if not math.isnan(value)), default=math.nan)
        cells = ["none" if math.isnan(v) else digits(v, ".1f") for v in (c.aicc, c.aicc - best)]
        points = c.fit.n_points if c.fit is not None else 0
        rows.append((c.law.name, str(c.law.n_params), str(points), *cells))
    title = "How well the laws describe the runs they were fitted to"
    out.table(console, title, ("law", "parameters", "points", "AICc", "above the best"), rows)
    console.print()
    out.prose(console, "AICc compares only laws that were fitted to the same points.")


def _show_hold_outs(console: Console, found: Fitted, fitted: Sequence[Comparison]) -> None:
    title = "Error on the best runs above a cut, fitted to the runs below"
    if not found.cuts:
        out.heading(console, title)
        out.prose(console, "No hold-outs: too few runs, or all of one compute.")
        return
    counts = [len(cut.judged) for cut in found.cuts]
    rows = [
        ("best runs", *(str(n) for n in counts), str(sum(counts)), ""),
        (SURFACE, *_errors(found.surface_cuts)),
        *((c.law.name, *_errors(c.cuts)) for c in fitted),
    ]
    heads = ("", *(cut.name for cut in found.cuts), "all", f"inside {percent(found.level)}")
    out.table(console, title, heads, rows)


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
