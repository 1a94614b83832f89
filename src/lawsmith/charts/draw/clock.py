"""The clock chart: runs as bars over time, by state, and the compute they add up to."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from lawsmith.charts.data.clock import Bar, ClockData, clock_data
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
from lawsmith.charts.draw.text import text_width, title
from lawsmith.charts.draw.ticks import flops_label, padded
from lawsmith.charts.theme import LIGHT, themed
from lawsmith.formats import flops, plural

LANE, HIGH, LOW = 22, 250, 90  # pixels: of a lane at most, of all, of the spend
STYLES = {
    "initial": "initial design",
    "done": "finished",
    "diverged": "diverged",
    "failed": "failed",
    "retried": "tried again",
    "pending": "under way",
}
MARKED = ("diverged", "failed")  # at whose ends a sign stands, for greyscale
DARK = ("done",)  # bars that light letters can be read on


def clock(
    bars: Sequence[Bar], *, until: float, name: str = "", width: int = WIDE
) -> alt.VConcatChart:
    """Runs as bars over time; ``until`` ends those under way, in seconds since 1970."""
    return themed(draw_clock(clock_data(bars, until=until), name, width=width), LIGHT)


def draw_clock(data: ClockData, name: str, *, width: int) -> alt.VConcatChart:
    pixels, _ = view_size(width)
    axis = linear_axis(
        f"{data.unit.capitalize()} since {data.start}",
        (0.0, 1.01 * data.end),
        n_ticks=max(pixels // 70, 3),
    )
    heading = f"Runs by the clock: {name}" if name else "Runs by the clock"
    most = f"at most {data.n_lanes} at once" if data.n_lanes > 1 else "one at a time"
    told = f"{plural(data.n_runs, 'run')} begun, {flops(data.total)} FLOPs, {most}"
    words = title(heading, [told], pixels=pixels)
    panels = [_bars(data, {**axis, "title": None}, pixels), _spent(data, axis, pixels)]
    return alt.VConcatChart(vconcat=panels, spacing=14, title=words)


def _bars(data: ClockData, axis: Channel, pixels: int) -> alt.LayerChart:
    height = min(HIGH, max(LANE * data.n_lanes, 2 * LANE))
    # Lanes have no order to be read off: an axis with a title and nothing else.
    still = {"labels": False, "grid": False, "domain": False, "ticks": False}
    scale = {"domain": [data.n_lanes, 0], "nice": False}
    y = {"type": "quantitative", "title": "At once", "scale": scale, "axis": still}
    ends = {"x": field("begun", axis), "x2": field("ended"), "y": field("low", y)}
    ends |= {"y2": field("high")}
    layers, entries = [], []
    for state, text in STYLES.items():
        frame = data.bars[data.bars["state"] == state]
        if not frame.empty:
            layers.append(layer(frame, mark("rect", f"bar-{state}"), tooltip=data.names, **ends))
            entries.append(Entry("area", f"bar-{state}", text))
    layers += _signs(data, axis, y) + _costs(data, axis, y, pixels, height)
    return view([*layers, *key(entries, pixels=pixels)], width=pixels, height=height)


def _signs(data: ClockData, axis: Channel, y: Channel) -> list[alt.Chart]:
    """A sign at the end of each run that came to none."""
    layers = []
    for state in MARKED:
        frame = _middle(data.bars[data.bars["state"] == state])
        if not frame.empty:
            sign = mark("point", f"state-{state}")
            where = {"x": field("ended", axis), "y": field("lane", y)}
            layers.append(layer(frame, sign, tooltip=data.names, **where))
    return layers


def _costs(data: ClockData, axis: Channel, y: Channel, pixels: int, height: int) -> list[alt.Chart]:
    """The compute of a run, written into its bar where there is room."""
    if height / data.n_lanes < 14:
        return []
    per_unit = pixels / (1.01 * data.end)
    wide = (data.bars["ended"] - data.bars["begun"]) * per_unit
    room = wide > data.bars["flops"].map(lambda text: text_width(text, 11) + 10)
    layers = []
    dark = data.bars["state"].isin(DARK)
    for which, style in ((dark, "bar-note"), (~dark, "note-ink")):
        frame = _middle(data.bars[room & which])
        if not frame.empty:
            said = mark("text", style, dx=5)
            text = {"field": "label", "type": "nominal"}
            where = {"x": field("begun", axis), "y": field("lane", y), "text": text}
            made = layer(frame, said, **where)
            made["transform"] = [{"calculate": flops_label("datum.C"), "as": "label"}]
            layers.append(made)
    return layers


def _middle(bars: pd.DataFrame) -> pd.DataFrame:
    return bars.assign(lane=(bars["low"] + bars["high"]) / 2)


def _spent(data: ClockData, axis: Channel, pixels: int) -> alt.LayerChart:
    scale = log_axis("C", padded([*data.spent["spent"]], share=0.06), pixels=LOW, gap=24)
    y = field("spent", {**scale, "title": "Begun (FLOPs)"})
    line = mark("line", "law", interpolate="step-after")
    return view([layer(data.spent, line, x=field("time", axis), y=y)], width=pixels, height=LOW)
