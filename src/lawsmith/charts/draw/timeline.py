"""The timeline: what each run cost in the order they were made, the window, and the spend."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from lawsmith.charts.data.timeline import STATES, Event, TimelineData, timeline_data
from lawsmith.charts.draw.key import Entry, key
from lawsmith.charts.draw.parts import (
    WIDE,
    Channel,
    field,
    layer,
    linear_axis,
    log_axis,
    mark,
    view,
    view_size,
)
from lawsmith.charts.draw.text import title
from lawsmith.charts.draw.ticks import padded
from lawsmith.charts.theme import LIGHT, themed
from lawsmith.formats import flops, plural

HEIGHT, LOW = 250, 90
STYLES = {
    "initial": ("state-initial", "initial design"),
    "done": ("state-done", "finished"),
    "diverged": ("state-diverged", "diverged"),
    "failed": ("state-failed", "failed"),
    "pending": ("state-pending", "under way"),
}


def timeline(events: Sequence[Event], *, name: str = "", width: int = WIDE) -> alt.VConcatChart:
    """Compute of every run in order, the largest so far and the window; below it the spend."""
    return themed(draw_timeline(timeline_data(events), name, width=width), LIGHT)


def draw_timeline(data: TimelineData, name: str, *, width: int) -> alt.VConcatChart:
    pixels, _ = view_size(width)
    ends = (0.0, data.n_runs + 1.0)
    x = field("order", linear_axis("Runs in order", ends, n_ticks=max(pixels // 70, 3)))
    heading = f"Runs in the order they were made: {name}" if name else "Runs in order"
    total = float(data.total["spent"].iloc[-1])
    words = title(heading, [f"{plural(data.n_runs, 'run')}, {flops(total)} FLOPs"], pixels=pixels)
    panels = [_runs_panel(data, {**x, "title": None}, pixels), _spend_panel(data, x, pixels)]
    return alt.VConcatChart(vconcat=panels, spacing=14, title=words)


def _runs_panel(data: TimelineData, x: Channel, pixels: int) -> alt.LayerChart:
    heights = [*data.runs["C"], *data.window["C"]]
    y = field("C", log_axis("C", padded(heights, share=0.05), pixels=HEIGHT, gap=24))
    layers, entries = [], []
    if not data.window.empty:
        line = mark("line", "threshold", interpolate="step-after")
        layers.append(layer(data.window, line, x=x, y=y))
        entries.append(Entry("line", "threshold", "window: largest to choose from"))
    reached = mark("line", "curve-reached", interpolate="step-after")
    layers.append(layer(data.reached, reached, x=x, y=y))
    names = {**data.names, "loss": "loss", "state": "state"}
    for state in STATES:
        frame = data.runs[data.runs["state"] == state]
        if not frame.empty:
            style, text = STYLES[state]
            layers.append(layer(frame, mark("point", style), tooltip=names, x=x, y=y))
            entries.append(Entry("point", style, text))
    entries.append(Entry("line", "curve-reached", "largest so far"))
    return view([*layers, *key(entries, pixels=pixels)], width=pixels, height=HEIGHT)


def _spend_panel(data: TimelineData, x: Channel, pixels: int) -> alt.LayerChart:
    axis = log_axis("C", padded([*data.total["spent"]], share=0.06), pixels=LOW, gap=24)
    y = field("spent", {**axis, "title": "Spent (FLOPs)"})
    line = mark("line", "law", interpolate="step-after")
    return view([layer(data.total, line, x=x, y=y)], width=pixels, height=LOW)
