"""The way to the answer: how it narrowed with spend, and the runs in the order they were made."""

from __future__ import annotations

from functools import partial
from math import isfinite

from lawsmith import charts
from lawsmith.report.parts import Absent, Card, Part, figure
from lawsmith.report.source import Source

NO_ORDER = "a table does not tell in which order its runs were made"
REPLAY = "lawsmith replay shows what fewer of them would have told"


def spend(source: Source) -> Card:
    """What each further run bought: the interval against spend."""
    lead = "How the answer came closer as compute was spent."
    if source.kind == "table":
        parts: list[Part] = [Absent("narrowing", f"{NO_ORDER}; {REPLAY}")]
        return Card("spend", "What the compute bought", lead, tuple(parts))
    whole = None if source.answered is None else source.answered.whole
    reference = float("nan")
    if whole is not None and whole.forecasts:
        reference = whole.forecasts[0].loss
    caption = (
        "Above: the best loss to expect at the target with its interval, as runs were added. "
        "Below: how wide the interval is to either side."
    )
    draw = partial(charts.narrowing, source.moments, name=source.name, reference=reference)
    return Card("spend", "What the compute bought", lead, (figure("narrowing", caption, draw),))


def timeline(source: Source) -> Card:
    """Which runs were made when, and the window they were chosen from."""
    title, lead = (
        "Runs over time",
        "Which runs were made when, and how far up in compute they went.",
    )
    if source.kind == "table":
        return Card("timeline", title, lead, (Absent("timeline", NO_ORDER),))
    parts: list[Part] = []
    if source.live is not None:
        clock = partial(charts.clock, source.live.bars, until=source.live.until, name=source.name)
        caption = (
            "Above: each run from its beginning to its end, with its FLOPs where there is room; "
            "runs that went on at once lie below each other. Below: the compute of all runs begun."
        )
        if source.live.by_hand:
            caption += " A run launched by hand counts from being asked for to being told."
        parts.append(figure("clock", caption, clock))
    caption = "The compute of each run in the order they were chosen, and below it added up."
    if len({event.window for event in source.events if isfinite(event.window)}) > 1:
        caption += " The window is the largest compute that a run could be chosen from."
    draw = partial(charts.timeline, source.events, name=source.name)
    parts.append(figure("timeline", caption, draw))
    if source.trace is not None:
        caption = "Which of the pool's runs were chosen, by when; grey ones were never run."
        parts.append(figure("choices", caption, partial(charts.choices, source.trace)))
    return Card("timeline", title, lead, tuple(parts))
