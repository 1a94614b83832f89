"""All of `lawsmith fit` on the terminal, 80 columns wide: every number is in the JSON as well."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from lawsmith.analysis import Analysis, HyperparameterLaw
from lawsmith.answer.serving import Serving
from lawsmith.answer.text import loss_text
from lawsmith.cli import console as out
from lawsmith.cli.answer_view import show_answer
from lawsmith.cli.compare_view import show_comparison
from lawsmith.cli.decisions_view import show_decisions, show_moved
from lawsmith.cli.draw import Drawn
from lawsmith.cli.fit_run import Fitted
from lawsmith.cli.law_view import show_law, show_predictions
from lawsmith.cli.study_view import show_study
from lawsmith.formats import count, digits, flops, interval, number, percent, plural
from lawsmith.laws.diagnostics import Diagnostic


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
    show_moved(console, found.moved)
    for decided in found.decisions:
        show_decisions(console, decided)
    analysis = found.analysis
    if analysis is not None:
        show_law(console, analysis)
        show_predictions(console, analysis)
        show_held_out(console, analysis)
        show_hyperparameters(console, analysis)
    else:
        out.heading(console, "No law")
        out.prose(console, f"{found.why_no_law}.")
    show_comparison(console, found)
    said = () if found.answer is None else found.answer.warnings
    show_warnings(console, [warning for warning in found.warnings if warning not in said])
    show_notes(console, found.study.notes)
    show_charts(console, drawn)


def show_serving(console: Console, found: Serving) -> None:
    """The cheapest model for training and serving beside the best for training alone."""
    loss = loss_text(found.loss)
    served = f"{count(found.tokens)} tokens"
    out.heading(console, f"Training to {loss} and serving {served}, at the least compute")
    table = out.table("", "N", "D", "training", "serving", "together")
    sizes = [count(found.N), count(found.D)]
    table.add_row("cheapest", *sizes, *map(flops, (found.training, found.serving, found.total)))
    rest = found.alone - found.C, found.alone
    alone = [count(found.alone_N), count(found.alone_D), flops(found.C), *map(flops, rest)]
    table.add_row("training alone", *alone)
    out.show(console, table)
    near = interval(*found.near_N, count)
    text = f"It saves {percent(found.saved, 2)}. N in {near} costs at most 1% more."
    if found.at_edge:
        text += " Its D/N was not run: run some there before you rely on it."
    out.prose(console, text)


def show_held_out(console: Console, a: Analysis) -> None:
    """The law's error on runs it has not seen."""
    if a.score is None:
        return
    score = a.score
    error = f"RMSE {number(score.rmse, 3)} ({percent(score.rms_error, 3)} of loss)"
    out.heading(console, f"The law {a.law.name} on the held-out frontier")
    points = plural(len(score.rows), "point")
    out.prose(console, f"{error}, MSE {number(score.mse, 3)}, over {points}.")


def show_hyperparameters(console: Console, a: Analysis) -> None:
    """The best value of each tuned axis as a power of N and D."""
    if not a.hyperparameters:
        return
    first = a.hyperparameters[0].fit
    cells = plural(first.n_points, "cell")
    level = percent(a.options.level)
    out.heading(console, f"Best hyperparameters, {first.law.formula} over {cells} (N, D), {level}")
    table = out.table("axis", "c", "a", "b")
    for h in a.hyperparameters:
        powers = [_power(h, name, a.options.level) for name in ("a", "b")]
        table.add_row(h.axis, number(h.fit.params["c"], 3), *powers)
    out.show(console, table)


def _power(h: HyperparameterLaw, name: str, level: float) -> str:
    value = digits(h.fit.params[name], ".3f")
    if name in h.fit.fixed:
        return f"{value}, fixed: D follows N"
    if h.uncertainty is None:
        return value
    found = h.uncertainty.params(level)[name]
    if found.low != found.low:
        return f"{value}, not identified"
    return f"{value} {interval(found.low, found.high, lambda x: digits(x, '.3f'))}"


def show_warnings(console: Console, warnings: Sequence[Diagnostic]) -> None:
    """Each warning by its code."""
    if not warnings:
        return
    out.heading(console, "Warnings about the law")
    for warning in warnings:
        out.item(console, warning.code, warning.message)


def show_notes(console: Console, notes: Sequence[str]) -> None:
    """What a reader must know of the study."""
    if not notes:
        return
    out.heading(console, "Notes on this study")
    for note in notes:
        out.prose(console, f"{note[:1].upper()}{note[1:]}.")


def show_charts(console: Console, drawn: Drawn) -> None:
    """Where the charts are, and why some are not."""
    if drawn == Drawn():
        return
    out.heading(console, "Charts")
    out.paths(console, drawn.paths)
    for name, reason in drawn.missing.items():
        out.item(console, f"no {name}", reason)
