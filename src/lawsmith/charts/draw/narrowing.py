"""The narrowing chart: a prediction with its intervals, and their half-widths, against spend."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.charts.data.narrowing import Known, NarrowingData, narrowing_data
from lawsmith.charts.draw.key import Entry, key
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
from lawsmith.charts.draw.text import title
from lawsmith.charts.draw.ticks import padded
from lawsmith.charts.theme import LIGHT, themed
from lawsmith.formats import flops

HEIGHT = 190
FOOT = 1e-3  # per cent: an interval that has closed is drawn here
LINES = {"truth": ("series-0", "true loss"), "pool": ("series-1-dashed", "law of all candidates")}


def narrowing(
    known: Sequence[Known], *, name: str = "", reference: float = np.nan, width: int = WIDE
) -> alt.VConcatChart:
    """The prediction at the target and how far it may be off, against compute spent."""
    data = narrowing_data(known, reference=reference)
    return themed(draw_narrowing(data, name, width=width), LIGHT)


def draw_narrowing(data: NarrowingData, name: str, *, width: int) -> alt.VConcatChart:
    pixels, _ = view_size(width)
    axis = log_axis("spent", padded([*data.points["spent"]]), pixels=pixels)
    x = field("spent", {**axis, "title": "Compute spent (% of the dense grid)"})
    upper = _prediction_panel(data, {**x, "title": None}, pixels)
    heading = f"What is known of the loss at {flops(data.compute)} FLOPs"
    words = title(f"{heading}: {name}" if name else heading, [_subtitle(data)], pixels=pixels)
    return alt.VConcatChart(vconcat=[upper, _width_panel(data, x, pixels)], spacing=14, title=words)


def _prediction_panel(data: NarrowingData, x: Channel, pixels: int) -> alt.LayerChart:
    points = data.points
    known = [data.reference] if np.isfinite(data.reference) else []
    centre = [*points["loss"], *known]
    room = (max(centre) / min(centre)) ** 0.35 * 1.12
    low = max(points["truth_low"].min(), min(centre) / room)
    high = min(points["truth_high"].max(), max(centre) * room)
    y = loss_axis(padded([low, high, *centre]), pixels=HEIGHT)
    names = {"spent": "spent (%)", "n_runs": "runs", "loss": "predicted"}
    names |= {"truth_low": "from", "truth_high": "to"}
    ends = {"y": field("truth_low", y), "y2": field("truth_high")}
    layers = [layer(points, mark("area", "band", clip=True), x=x, **ends)]
    for end in ("pool_low", "pool_high"):
        line = mark("line", "series-1-dashed", clip=True)
        layers.append(layer(points, line, x=x, y=field(end, y)))
    entries = [
        Entry("line", "law", "predicted"),
        Entry("area", "band", "interval of the true loss"),
        Entry("line", "series-1-dashed", "of the law of all candidates"),
    ]
    if known:
        frame = pd.DataFrame({"loss": known})
        layers.append(layer(frame, mark("rule", "threshold"), y=field("loss", y)))
        entries.append(Entry("line", "threshold", "law of the whole pool"))
    where = {"x": x, "y": field("loss", y)}
    layers.append(layer(points, mark("line", "law", clip=True), **where))
    layers.append(layer(points, mark("point", "fitted-many"), tooltip=names, **where))
    return view([*layers, *key(entries, pixels=pixels)], width=pixels, height=HEIGHT)


def _width_panel(data: NarrowingData, x: Channel, pixels: int) -> alt.LayerChart:
    frame = data.points.assign(**{name: data.points[name].clip(lower=FOOT) for name in LINES})
    axis = log_axis("half", padded([*frame["truth"], *frame["pool"]]), pixels=HEIGHT, gap=22)
    y = {**axis, "title": "Half-width (% of loss)"}
    names = {"spent": "spent (%)", "n_runs": "runs", "truth": "true loss ± %", "pool": "pool ± %"}
    layers = []
    for column, (style, _) in LINES.items():
        where = {"x": x, "y": field(column, y)}
        layers.append(layer(frame, mark("line", style), **where))
    point = mark("point", "fitted-many")
    layers.append(layer(frame, point, tooltip=names, x=x, y=field("truth", y)))
    entries = [Entry("line", style, f"half-width, {text}") for style, text in LINES.values()]
    return view([*layers, *key(entries, pixels=pixels)], width=pixels, height=HEIGHT)


def _subtitle(data: NarrowingData) -> str:
    first, last = data.points.iloc[0], data.points.iloc[-1]
    return (
        f"± {_percent(first['truth'])} after {int(first['n_runs'])} runs, "
        f"± {_percent(last['truth'])} after {int(last['n_runs'])}; "
        f"the outlook at {len(data.points)} spends along the way"
    )


def _percent(value: float) -> str:
    return f"{value:.2g} %" if value < 10 else f"{value:.0f} %"
