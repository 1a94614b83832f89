"""Cards with charts: the law, the best settings by compute, losses along runs, tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import isnan

from lawsmith import charts
from lawsmith.analysis import Analysis
from lawsmith.answer.text import curves_text, loss_text
from lawsmith.charts.titles import EVERY, objective_text, point_name
from lawsmith.digest import sentence
from lawsmith.formats import count, interval, number, percent, plural, symbol
from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.laws.uncertainty import Interval
from lawsmith.report.parts import (
    Absent,
    Card,
    Facts,
    Figure,
    Listing,
    Notes,
    Part,
    figure,
    stopped_listing,
)
from lawsmith.report.source import Source
from lawsmith.study.answer import saved_text
from lawsmith.tasks import TaskAnswer
from lawsmith.tasks.text import accuracy_text, beyond, remarks

Draw = Callable[..., charts.Chart]
LETTERS = {
    "C": "the training compute in FLOPs",
    "N": "the number of parameters",
    "D": "the number of training tokens",
}
# The card of each warning about the law; all others are on the card of the law.
PLACES = {
    "isoflop_unbracketed": "isoflop",
    "influential_point": "residuals",
    "lack_of_fit": "residuals",
}

MAX_ROWS = 20  # of the table of predicted ends
MAX_TASKS = 4  # with charts
TASK_CAPTIONS = {
    "compute": "Dots: runs. The line is the accuracy to expect at the best N and D of a compute; "
    "the band is the interval of one run.",
    "loss": "The same against the loss from which accuracy is predicted.",
}


def place_of(warning: Diagnostic) -> str:
    """The card that shows a warning about the law."""
    return PLACES.get(warning.code, "law")


def of_answer(source: Source, name: str, caption: str, draw: Draw) -> Figure | Absent:
    """A chart of the answer, or why there is none."""
    if source.findings.answered is None:
        return Absent(name, source.findings.why_no_answer)
    return figure(name, caption, partial(draw, source.findings.answered))


def of_law(source: Source, name: str, caption: str, draw: Draw) -> Figure | Absent:
    """A chart of the law with its warnings, or why there is none."""
    law = source.findings.analysis
    if law is None:
        return Absent(name, source.findings.why_no_law)
    warnings = tuple(w for w in law.warnings if place_of(w) == name)
    return figure(name, caption, partial(draw, law), cautions=warnings)


def allocation(source: Source) -> Card:
    """How to divide compute between parameters and tokens."""
    lead = "How to divide compute between parameters and tokens, by the same surface as the answer."
    caption = (
        "The best N, D and D/N for each compute with their intervals, and between the dashed lines "
        "what costs at most 0.5% more loss. Dots are the best runs so far."
    )
    part = of_answer(source, "allocation", caption, charts.allocation)
    return Card("allocation", "Dividing compute", lead, (part,))


def tuning(source: Source) -> Card:
    """The best hyperparameters, and how they change with scale."""
    lead = "Which hyperparameters to use, and how the best ones drift as compute grows."
    by_compute = (
        "The best value for each compute with its interval, and between the dashed lines what "
        "costs at most 0.5% more loss, all at the best N and D. Dots are the best runs so far."
    )
    region = (
        "At the first target: the star is best, and the stronger the colour, the closer the loss "
        "is to the best. Choose what suits you within the strongest colour."
    )
    parts = (
        of_answer(source, "hyperparameters", by_compute, charts.hyperparameters),
        of_answer(source, "region", region, charts.region),
    )
    return Card("tuning", "Hyperparameters", lead, parts)


def residuals(source: Source) -> Card:
    """The residuals of the law, and the influence of its points."""
    lead = "How far the points are from the law, and how much its prediction depends on each."
    caption = (
        "Above: how far each point lies from the law. Below: how the prediction moves when the "
        "point is left out, beside one standard error."
    )
    part = of_law(source, "residuals", caption, charts.residuals)
    return Card("residuals", "Residuals and influence", lead, (part,))


def isoflop(source: Source) -> Card:
    """The best loss against size at equal compute, and against tokens at equal size."""
    lead = (
        "Which size is best at equal compute, and what more tokens bring at equal size, in the "
        "runs that were made."
    )
    caption = (
        "Each curve joins runs of about the same compute, each the best of its size and tokens. "
        "Its lowest point, a diamond, is the best size for that compute. A hollow diamond is at an "
        "end of its curve: a size beyond it may be better."
    )
    parts: list[Part] = [of_law(source, "isoflop", caption, charts.isoflop)]
    if source.findings.analysis is not None and source.findings.sizes is not None:
        draw = partial(charts.curves, source.findings.sizes)
        parts.append(figure("curves", _curves_caption(source, source.findings.sizes), draw))
    return Card("isoflop", "At equal compute", lead, tuple(parts))


def _curves_caption(source: Source, sizes: Analysis) -> str:
    points = "each point the best run at that many tokens"
    if point_name(sizes) == EVERY:
        points = "each point a run"
    text = f"Each colour is one model size, {points}. Lines are {sizes.law.formula}, fitted to them"
    if sizes.score is not None:
        text += "; stars were held out of the fit"
    if sizes is not source.findings.analysis:
        text += f". It is another law than {source.law.formula}, which has no sizes"
    return f"{text}."


def law(source: Source) -> Card:
    """A law that describes the runs, with its own band: not the answer."""
    form = source.law
    known = [f"{name} {LETTERS[name]}" for name in form.inputs if name in LETTERS]
    letters = f", where L is the best loss, {', '.join(known)}" if known else ""
    floor = " E is the irreducible loss." if "E" in form.names else ""
    caption = (
        "Grey: every run. Blue: those that the law is fitted to. The band is the law's own "
        "interval, which assumes that its form is right; the answer above does not. Hover over a "
        "point to see the run."
    )
    parts: list[Part] = [of_law(source, "law", caption, charts.law)]
    if source.findings.analysis is not None:
        parts += _fit(source.findings.analysis)
    lead = f"{form.formula}{letters}.{floor}"
    return Card("law", "A law that describes the runs", lead, tuple(parts))


def _fit(analysis: Analysis) -> list[Part]:
    """The parameters of the law, and how they were fitted."""
    level, fit = analysis.options.level, analysis.fit
    known = {} if analysis.uncertainty is None else analysis.uncertainty.params(level)
    rows = tuple(
        (symbol(name), number(value, 5), _interval(known.get(name)))
        for name, value in fit.params.items()
    )
    columns = ("parameter", "fitted", f"{percent(level)} interval")
    facts = [("objective", objective_text(fit.objective)), ("points", f"{fit.n_points}")]
    fixed = [f"{symbol(k)} = {number(v)}" for k, v in fit.fixed.items()]
    facts += [("fixed", ", ".join(fixed))] if fixed else []
    return [Listing("parameters", columns, rows), Facts(tuple(facts))]


def _interval(known: Interval | None) -> str:
    if known is None:
        return "–"
    return "not identified" if isnan(known.low) else interval(known.low, known.high, number)


def along(source: Source) -> Card | None:
    """Losses along runs and the predicted ends; None if there are no curves."""
    if source.findings.curved is None or source.findings.curved.answer.curves is None:
        return None
    finding = source.findings.curved.answer.curves
    caption = (
        "Lines: losses along runs. Dots: runs after a decay, joined to where they left their "
        "trunk. Stars: predicted ends, of trunks if they were decayed now and of unfinished runs "
        "at their horizon, with the interval of a further run."
    )
    parts: list[Part] = [figure("trunks", caption, partial(charts.trunks, source.findings.curved))]
    rows = tuple(
        (
            end.run,
            end.kind,
            count(end.N),
            count(end.D),
            loss_text(end.loss),
            interval(end.run_low, end.run_high, loss_text),
        )
        for end in finding.ends[:MAX_ROWS]
    )
    columns = ("run", "kind", "N", "D at the end", "loss", f"{percent(source.level)} interval")
    if rows:
        parts.append(Listing("ends", columns, rows, n_words=2))
    if len(finding.ends) > MAX_ROWS:
        parts.append(Notes((f"{len(finding.ends) - MAX_ROWS} more are not listed.",)))
    words = sentence(curves_text(finding))
    stopped = () if source.live is None else source.live.stopped
    if stopped and stopped[0].kind == "trunk":
        words += f" {saved_text(stopped, source.spend.budget)}."
        parts.append(stopped_listing(stopped))
    return Card("along", "Losses along runs", words, tuple(parts))


def tasks(source: Source) -> Card | None:
    """The answers for tasks; None if there are none."""
    if not source.findings.tasks:
        return None
    first = source.findings.tasks[0]
    parts: list[Part] = [_accuracies(source, i) for i in range(len(first.forecasts))]
    for answer in source.findings.tasks[:MAX_TASKS]:
        parts += _task_figures(answer, source.name)
    lead = f"{plural(len(source.findings.tasks), 'task')}, from {plural(first.n_runs, 'run')}."
    cautions = tuple(
        replace(w, message=f"{answer.task.name}: {w.message}")
        for answer in source.findings.tasks
        for w in answer.warnings
    )
    return Card("tasks", "Tasks", lead, tuple(parts), cautions)


def _accuracies(source: Source, i: int) -> Listing:
    """The accuracies of all tasks at target ``i``."""
    first = source.findings.tasks[0]
    forecast = first.forecasts[i]
    head = f"{forecast.target.label}, {beyond(forecast)}"
    columns = (head, "accuracy", f"{percent(first.level)} interval of a run")
    rows = []
    for answer in source.findings.tasks:
        one = answer.forecasts[i]
        ends = interval(one.low, one.high, accuracy_text)
        rows.append((answer.task.name, accuracy_text(one.value), ends))
    return Listing(f"tasks-{i + 1}", columns, tuple(rows))


def _task_figures(answer: TaskAnswer, study: str) -> list[Part]:
    drawn = {"compute": charts.accuracy_by_compute}
    if answer.via:
        drawn["loss"] = charts.accuracy_by_loss
    figures: list[Part] = [
        figure(
            f"{answer.task.name} by {kind}", TASK_CAPTIONS[kind], partial(draw, answer, study=study)
        )
        for kind, draw in drawn.items()
    ]
    return [*figures, Notes(tuple(f"{remark}." for remark in remarks(answer)))]
