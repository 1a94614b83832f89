"""All of `lawsmith fit` on the terminal, 80 columns wide: every number is in the JSON as well."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from lawsmith.analysis import Analysis, Comparison, HyperparameterLaw
from lawsmith.cli import console as out
from lawsmith.cli.draw import Drawn
from lawsmith.cli.law_view import show_law, show_predictions
from lawsmith.cli.study_view import show_study
from lawsmith.formats import interval, number, percent, plural


def show_fit(
    console: Console, analysis: Analysis, compared: Sequence[Comparison], drawn: Drawn
) -> None:
    """The study, its law, predictions, error, warnings, notes and charts."""
    show_study(console, analysis)
    show_law(console, analysis)
    show_predictions(console, analysis)
    show_held_out(console, analysis)
    show_comparison(console, analysis, compared)
    show_hyperparameters(console, analysis)
    show_warnings(console, analysis)
    show_notes(console, analysis.study.notes)
    show_charts(console, drawn)


def show_held_out(console: Console, a: Analysis) -> None:
    """The law's error on runs it has not seen."""
    if a.score is None:
        return
    score = a.score
    error = f"RMSE {number(score.rmse, 3)} ({percent(score.relative_rmse, 3)} of loss)"
    out.heading(console, "On the held-out frontier")
    points = plural(len(score.rows), "point")
    out.prose(console, f"{error}, MSE {number(score.mse, 3)}, over {points}.")


def show_comparison(console: Console, a: Analysis, compared: Sequence[Comparison]) -> None:
    """Every law on the same held-out frontier, best first; then those that cannot be fitted."""
    if not compared:
        return
    rule = str(a.options.hold_out or "0.5, the default")
    out.heading(console, f"Laws compared on the held-out compute frontier (hold-out {rule})")
    table = out.table("law", "RMSE", "of loss", "parameters", "fitted to", "judged on")
    for c in compared:
        if c.fit is not None and c.score is not None:
            table.add_row(
                c.law.name,
                number(c.score.rmse, 3),
                percent(c.score.relative_rmse, 3),
                str(c.law.n_params),
                plural(c.fit.n_points, "point"),
                plural(len(c.score.rows), "point"),
            )
    if table.row_count:
        out.show(console, table)
    for reason, laws in _refusals(a.study.name, compared).items():
        out.item(console, f"not fitted: {', '.join(laws)}", reason)


def _refusals(study: str, compared: Sequence[Comparison]) -> dict[str, list[str]]:
    """Why laws could not be fitted → which."""
    found: dict[str, list[str]] = {}
    for c in compared:
        if c.fit is None:
            reason = c.reason.removeprefix(f"{c.law.name} on {study}: ")
            found.setdefault(reason.removeprefix(f"{c.law.name}: "), []).append(c.law.name)
    return found


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
    value = f"{h.fit.params[name]:.3f}"
    if name in h.fit.fixed:
        return f"{value}, fixed: D follows N"
    if h.uncertainty is None:
        return value
    found = h.uncertainty.params(level)[name]
    return f"{value} {interval(found.low, found.high, lambda x: f'{x:.3f}')}"


def show_warnings(console: Console, a: Analysis) -> None:
    """Each warning by its code."""
    if not a.warnings:
        return
    out.heading(console, "Warnings")
    for warning in a.warnings:
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
