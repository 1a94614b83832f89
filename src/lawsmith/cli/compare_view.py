"""`lawsmith fit --compare` on the terminal: every law beside the answer, on the same hold-outs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console

from lawsmith.analysis import Comparison
from lawsmith.answer import HeldOutRuns
from lawsmith.answer.text import loss_text
from lawsmith.cli import console as out
from lawsmith.cli.fit_run import Fitted
from lawsmith.formats import digits, interval, number, percent
from lawsmith.laws.uncertainty import Interval

SURFACE = "the answer"


def show_comparison(console: Console, found: Fitted) -> None:
    """What each says of each target; AICc; the error on runs it has not seen."""
    if not found.compared:
        return
    fitted = [c for c in found.compared if c.fit is not None]
    for label in _labels(found):
        _show_target(console, found, fitted, label)
    if fitted:
        _show_aicc(console, fitted)
    _show_hold_outs(console, found, fitted)
    for reason, laws in _refusals(found.study.name, found.compared).items():
        out.item(console, f"not fitted: {', '.join(laws)}", reason)


def _labels(found: Fitted) -> list[str]:
    """Targets that someone predicts, each once and in order."""
    made = [p.target.label for c in found.compared for p in c.predictions]
    if found.answer is not None:
        made = [forecast.target.label for forecast in found.answer.forecasts] + made
    return list(dict.fromkeys(made))


def _show_target(console: Console, found: Fitted, fitted: Sequence[Comparison], label: str) -> None:
    out.heading(console, f"{label}, by the answer and by each law")
    table = out.table("", "loss", f"{percent(found.level)} interval")
    for forecast in found.answer.forecasts if found.answer is not None else ():
        if forecast.target.label == label:
            ends = interval(forecast.low, forecast.high, loss_text)
            table.add_row(SURFACE, loss_text(forecast.loss), ends)
    for c in fitted:
        for p in c.predictions:
            if p.target.label == label:
                table.add_row(c.law.name, loss_text(p.loss), _ends(p.interval))
    out.show(console, table)


def _ends(found: Interval | None) -> str:
    return "none" if found is None else interval(found.low, found.high, loss_text)


def _show_aicc(console: Console, fitted: Sequence[Comparison]) -> None:
    out.heading(console, "How well the laws describe the runs they were fitted to")
    table = out.table("law", "parameters", "points", "AICc", "above the best")
    for c in fitted:
        assert c.fit is not None
        above = c.aicc - best_aicc(fitted, c)
        cells = ["none" if math.isnan(v) else digits(v, ".1f") for v in (c.aicc, above)]
        table.add_row(c.law.name, str(c.law.n_params), str(c.fit.n_points), *cells)
    out.show(console, table)
    console.print()
    out.prose(console, "AICc compares only laws that were fitted to the same points.")


def best_aicc(fitted: Sequence[Comparison], c: Comparison) -> float:
    """The least AICc among laws of the same inputs, which have the same points."""
    alike = (o.aicc for o in fitted if set(o.law.inputs) == set(c.law.inputs))
    return min((value for value in alike if not math.isnan(value)), default=math.nan)


def _show_hold_outs(console: Console, found: Fitted, fitted: Sequence[Comparison]) -> None:
    out.heading(console, "Error on the best runs above a cut, fitted to the runs below")
    if not found.cuts:
        out.prose(console, "No hold-outs: too few runs, or all of one compute.")
        return
    inside = f"inside {percent(found.level)}"
    table = out.table("", *(cut.name for cut in found.cuts), "all", inside)
    counts = [len(cut.judged) for cut in found.cuts]
    table.add_row("best runs", *(str(n) for n in counts), str(sum(counts)), "")
    table.add_row(SURFACE, *_errors(found.surface_cuts))
    for c in fitted:
        table.add_row(c.law.name, *_errors(c.cuts))
    out.show(console, table)


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
