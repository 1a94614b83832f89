"""The way to the answer: how it narrowed with spend, and the runs in the order they were made."""

from __future__ import annotations

from functools import partial

from lawsmith import charts
from lawsmith.report.parts import Absent, Card, Part, figure
from lawsmith.report.source import Source

NO_ORDER = "a table does not tell in which order its runs were made"


def spend(source: Source) -> Card:
    """What each further run bought: the interval against spend, and how fast the law was found."""
    lead = "How the answer came closer as compute was spent."
    if source.kind == "table":
        parts: list[Part] = [Absent("narrowing", f"{NO_ORDER}: replay it to see what fewer tell")]
        return Card("spend", "What the compute bought", lead, tuple(parts))
    reference = float("nan")
    if source.trace is not None and source.known:
        losses = source.trace.task.reference.losses
        label = next(iter(source.trace.task.targets), "")
        reference = losses.get(label, reference)
    caption = "The prediction at the target with both intervals, and below it their half-widths."
    draw = partial(charts.narrowing, source.known, name=source.name, reference=reference)
    parts = [figure("narrowing", caption, draw)]
    if source.trace is not None:
        caption = (
            "How far the law found is from that of the whole pool, parameter by parameter. Only a "
            "replay can know this: the pool's runs were all made before."
        )
        parts.append(figure("recovery", caption, partial(charts.recovery, source.trace)))
    return Card("spend", "What the compute bought", lead, tuple(parts))


def timeline(source: Source) -> Card:
    """Which runs were made when, and the window they were chosen from."""
    title, lead = "Runs over time", "Which runs were made in which order, cheap ones first."
    if source.kind == "table":
        return Card("timeline", title, lead, (Absent("timeline", NO_ORDER),))
    caption = "Each run's compute in order. The window is the largest compute to choose from."
    draw = partial(charts.timeline, source.events, name=source.name)
    parts: list[Part] = [figure("timeline", caption, draw)]
    if source.trace is not None:
        caption = "Which of the pool's runs were chosen, by when; grey ones were never run."
        parts.append(figure("choices", caption, partial(charts.choices, source.trace)))
    return Card("timeline", title, lead, tuple(parts))
