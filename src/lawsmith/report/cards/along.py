"""Losses along runs: trunks, their branches, and where curves will end."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from lawsmith import charts
from lawsmith.answer.text import curves_text, loss_text
from lawsmith.formats import count, flops, interval, percent, plural
from lawsmith.journal import Trial
from lawsmith.report.parts import Card, Listing, Part, figure
from lawsmith.report.source import Source

MOST_ROWS = 40


def along(source: Source) -> Card | None:
    """What was learnt from losses along runs; None where there are none."""
    if source.found.curved is None or source.found.curved.answer.curves is None:
        return None
    found = source.found.curved.answer.curves
    caption = (
        "Lines: losses along runs. Dots: runs after a decay, joined to where they left their "
        "trunk. Stars: predicted ends, of trunks if they were decayed now and of unfinished runs "
        "at their horizon, with the interval of a further run."
    )
    parts: list[Part] = [figure("trunks", caption, partial(charts.trunks, source.found.curved))]
    rows = tuple(
        (
            end.run,
            end.kind,
            count(end.N),
            count(end.D),
            loss_text(end.loss),
            interval(end.run_low, end.run_high, loss_text),
        )
        for end in found.ends[:MOST_ROWS]
    )
    columns = ("run", "kind", "N", "D at the end", "loss", f"{percent(source.level)} interval")
    if rows:
        parts.append(Listing("ends", columns, rows, n_words=2))
    text = curves_text(found)
    words = f"{text[:1].upper()}{text[1:]}."
    if source.live is not None and source.live.stopped:
        stopped = source.live.stopped
        words += f" {_saved_text(stopped, source.spend.budget)}"
        parts.append(_stopped(stopped))
    return Card("along", "Losses along runs", words, tuple(parts))


def _saved_text(stopped: Sequence[Trial], budget: float | None) -> str:
    saved = sum(trial.cost - trial.spend for trial in stopped)
    share = f", {percent(saved / budget)} of the budget" if budget else ""
    what = plural(len(stopped), "trunk")
    return f"{what} stopped before the end: {flops(saved)} FLOPs saved{share}."


def _stopped(stopped: Sequence[Trial]) -> Listing:
    """What each trunk that was stopped had trained, and what its rest would have cost."""
    rows = tuple(
        (
            trial.name,
            count(float(trial.config["N"])),
            count(trial.D),
            "n/a" if trial.report is None else count(trial.report[0]),
            "n/a" if trial.report is None else loss_text(trial.report[1]),
            flops(trial.cost - trial.spend),
        )
        for trial in stopped[:MOST_ROWS]
    )
    columns = ("stopped", "N", "D planned", "last seen at", "loss there", "FLOPs saved")
    return Listing("stopped", columns, rows, n_words=1)
