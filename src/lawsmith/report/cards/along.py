"""Losses along runs: trunks, their branches, and where curves will end."""

from __future__ import annotations

from functools import partial

from lawsmith import charts
from lawsmith.answer.text import curves_text, loss_text
from lawsmith.formats import count, interval, percent
from lawsmith.report.parts import Card, Listing, Part, figure
from lawsmith.report.source import Source

MOST_ROWS = 40


def along(source: Source) -> Card | None:
    """What was learnt from losses along runs; None where there are none."""
    if source.curved is None or source.curved.answer.curves is None:
        return None
    found = source.curved.answer.curves
    caption = (
        "Lines: losses along runs. Dots: runs after a decay, joined to where they left their "
        "trunk. Stars: predicted ends, of trunks if they were decayed now and of unfinished runs "
        "at their horizon, with the interval of a further run."
    )
    parts: list[Part] = [figure("trunks", caption, partial(charts.trunks, source.curved))]
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
    return Card("along", "Losses along runs", f"{text[:1].upper()}{text[1:]}.", tuple(parts))
