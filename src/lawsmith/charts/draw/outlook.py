"""The outlook chart: runs made, observed and fantasized points of the envelope, law and band."""

from __future__ import annotations

import altair as alt
import pandas as pd

from lawsmith.charts.data.outlook import OutlookData, Seen, outlook_data
from lawsmith.charts.draw import titles
from lawsmith.charts.draw.key import Entry, key
from lawsmith.charts.draw.law import LABEL_SHARE, NOUNS, off_scale_text, target_layers
from lawsmith.charts.draw.parts import (
    WIDE,
    Channel,
    field,
    layer,
    log_axis,
    loss_axis,
    mark,
    view,
    view_size,
)
from lawsmith.charts.draw.text import title, unbroken
from lawsmith.charts.draw.ticks import padded
from lawsmith.charts.theme import LIGHT, themed
from lawsmith.formats import percent

POINTS = {True: ("fitted", "envelope, run"), False: ("fantasized", "envelope, fantasized")}


def outlook(seen: Seen, *, width: int = WIDE) -> alt.LayerChart:
    """Loss against the law's input: what was run, what was only expected, the law of both."""
    return themed(draw_outlook(outlook_data(seen), seen, width=width), LIGHT)


def draw_outlook(data: OutlookData, seen: Seen, *, width: int) -> alt.LayerChart:
    pixels, height = view_size(width)
    x = field("x", log_axis(data.x, padded([*data.line["x"]]), pixels=pixels))
    domain = _y_domain(data)
    y = loss_axis(domain, pixels=height)
    where = {"x": x, "y": field("loss", y)}
    ends = {"y": field("low", y), "y2": field("high")}
    layers = [
        layer(data.line, mark("area", "band", clip=True), x=x, **ends),
        *_some(data.reference, mark("line", "law-behind", clip=True), where),
        *_edge_layers(data, x),
        *_some(data.runs, mark("point", "run"), where, {**data.names, "loss": "loss"}),
        layer(data.line, mark("line", "law", clip=True), x=x, y=field("fitted", y)),
        *_envelope_layers(data, where),
        *_some(data.held_out, mark("point", "held-out"), where, {"x": data.x, "loss": "loss"}),
        *target_layers(data.targets, x, y, domain),
        *key(key_entries(data, seen), pixels=pixels),
    ]
    what = f"Loss against {NOUNS.get(data.x, data.x)}"
    heading = f"{what}: {seen.name}, {unbroken(seen.outlook.law.formula)}"
    words = title(heading, titles.seen_lines(seen), pixels=pixels)
    return view(layers, width=pixels, height=height, title=words)


def _y_domain(data: OutlookData) -> tuple[float, float]:
    """Every point and line, and of the band what does not dwarf them."""
    frames = [data.runs, data.envelope, data.held_out, data.targets, data.reference]
    drawn = pd.concat([*(frame["loss"] for frame in frames), data.line["fitted"]])
    low, high = float(drawn.min()), float(drawn.max())
    room = (high / low) ** 0.35
    bottom = max(min(low, data.line["low"].min(), *data.targets["low"]), low / room)
    top = min(max(high, data.line["high"].max()), high * room)
    below = LABEL_SHARE if len(data.targets) else 0.03
    return padded([bottom, top], share=below)[0], padded([bottom, top])[1]


def _some(
    frame: pd.DataFrame,
    what: Channel,
    where: dict[str, Channel],
    names: dict[str, str] | None = None,
) -> list[alt.Chart]:
    """A layer of rows there may be none of."""
    return [] if frame.empty else [layer(frame, what, tooltip=names, **where)]


def _envelope_layers(data: OutlookData, where: dict[str, Channel]) -> list[alt.Chart]:
    layers = []
    for observed, (style, _) in POINTS.items():
        frame = data.envelope[data.envelope["observed"] == observed].drop(columns="observed")
        names = {**data.names, "loss": "loss" if observed else "expected loss"}
        layers += _some(frame, mark("point", style), where, names)
    return layers


def _edge_layers(data: OutlookData, x: Channel) -> list[alt.Chart]:
    """Runs without a place on the loss axis, as ticks along its upper edge."""
    if data.off_scale.empty:
        return []
    tick = mark("tick", "off-scale", orient="vertical", size=9)
    names = {**data.names, "loss": "loss", "state": "state"}
    return [layer(data.off_scale, tick, tooltip=names, x=x, y={"value": 4})]


def key_entries(data: OutlookData, seen: Seen) -> list[Entry]:
    """What the chart's marks mean, only those that it has."""
    level = percent(seen.outlook.level)
    at_best = "" if len(seen.outlook.law.inputs) == 1 else " at its best N and D"
    kinds = {
        Entry("point", *POINTS[kind]): (data.envelope["observed"] == kind).any() for kind in POINTS
    }
    entries = {
        Entry("point", "run", "run"): len(data.runs) > 0,
        **kinds,
        Entry("point", "held-out", "held-out frontier"): len(data.held_out) > 0,
        Entry("line", "law", f"law of both{at_best}"): True,
        Entry("line", "law-behind", "law of the whole pool"): len(data.reference) > 0,
        Entry("area", "band", f"{level} interval of the true loss"): True,
        Entry("point", "target", "target"): len(data.targets) > 0,
        Entry("tick", "off-scale", off_scale_text(data)): len(data.off_scale) > 0,
    }
    return [entry for entry, shown in entries.items() if shown]
