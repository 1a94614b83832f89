"""The narrowing chart: a prediction with its interval, and its half-width, against spend."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.charts.data.narrowing import Moment, NarrowingData, narrowing_data
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
from lawsmith.formats import digits

HEIGHT = 190
NAMES = {"spent": "spent (%)", "n_runs": "runs", "loss": "best loss", "low": "from", "high": "to"}


def narrowing(
    moments: Sequence[Moment], *, name: str = "", reference: float = np.nan, width: int = WIDE
) -> alt.VConcatChart:
    """The prediction at the target and how far it may be off, against compute spent."""
    data = narrowing_data(moments, reference=reference)
    return themed(draw_narrowing(data, name, width=width), LIGHT)


def draw_narrowing(data: NarrowingData, name: str, *, width: int) -> alt.VConcatChart:
    pixels, _ = view_size(width)
    axis = log_axis("spent", padded([*data.points["spent"]]), pixels=pixels)
    x = field("spent", {**axis, "title": "Compute spent (% of the dense grid)"})
    upper = _prediction_panel(data, {**x, "title": None}, pixels)
    heading = f"What is known of the loss at {data.label}"
    words = title(f"{heading}: {name}" if name else heading, [_subtitle(data)], pixels=pixels)
    return alt.VConcatChart(vconcat=[upper, _width_panel(data, x, pixels)], spacing=14, title=words)


def _prediction_panel(data: NarrowingData, x: Channel, pixels: int) -> alt.LayerChart:
    points = data.points
    known = [data.reference] if np.isfinite(data.reference) else []
    centre = [*points["loss"], *known]
    room = (max(centre) / min(centre)) ** 0.35 * 1.12
    low = max(points["low"].min(), min(centre) / room)
    high = min(points["high"].max(), max(centre) * room)
    y = loss_axis(padded([low, high, *centre]), pixels=HEIGHT)
    ends = {"y": field("low", y), "y2": field("high")}
    layers = [layer(points, mark("area", "band", clip=True), x=x, **ends)]
    entries = [Entry("line", "law", "best loss"), Entry("area", "band", "interval")]
    if known:
        frame = pd.DataFrame({"loss": known})
        layers.append(layer(frame, mark("rule", "threshold"), y=field("loss", y)))
        entries.append(Entry("line", "threshold", "from all runs of the pool"))
    where = {"x": x, "y": field("loss", y)}
    layers.append(layer(points, mark("line", "law", clip=True), **where))
    layers.append(layer(points, mark("point", "fitted-many"), tooltip=NAMES, **where))
    return view([*layers, *key(entries, pixels=pixels)], width=pixels, height=HEIGHT)


def _width_panel(data: NarrowingData, x: Channel, pixels: int) -> alt.LayerChart:
    axis = log_axis("half", padded([*data.points["half_width"]]), pixels=HEIGHT, gap=22)
    where = {"x": x, "y": field("half_width", {**axis, "title": "Half-width (% of loss)"})}
    names = {**NAMES, "half_width": "± %"}
    layers = [
        layer(data.points, mark("line", "series-0"), **where),
        layer(data.points, mark("point", "fitted-many"), tooltip=names, **where),
    ]
    return view(layers, width=pixels, height=HEIGHT)


def _subtitle(data: NarrowingData) -> str:
    first, last = data.points.iloc[0], data.points.iloc[-1]
    return (
        f"± {_percent(first['half_width'])} after {int(first['n_runs'])} runs, "
        f"± {_percent(last['half_width'])} after {int(last['n_runs'])}"
    )


def _percent(value: float) -> str:
    return f"{digits(value, '.2g' if value < 10 else '.0f')} %"
