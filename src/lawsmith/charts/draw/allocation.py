"""The allocation chart: the best N, D and D/N against compute, in three panels."""

from __future__ import annotations

import altair as alt
import pandas as pd

from lawsmith.answer.text import rests_on
from lawsmith.charts.data.allocation import QUANTITIES, AllocationData, allocation_data
from lawsmith.charts.data.answer import Answered
from lawsmith.charts.draw.key import Entry, key_view
from lawsmith.charts.draw.parts import (
    MARGIN,
    TWO_COLUMNS,
    WIDE,
    Channel,
    field,
    layer,
    log_axis,
    mark,
    view,
)
from lawsmith.charts.draw.text import title
from lawsmith.charts.draw.ticks import padded
from lawsmith.charts.theme import LIGHT, themed
from lawsmith.formats import percent

HEIGHT, SPACING = 230, 24
LEFT = 62  # labels such as 300M take more room than losses


def allocation(answered: Answered, *, width: int = WIDE) -> alt.VConcatChart:
    """The best N, D and D/N against compute with what is as good, and observed isoFLOP minima."""
    return themed(draw_allocation(allocation_data(answered), answered, width=width), LIGHT)


def draw_allocation(data: AllocationData, answered: Answered, *, width: int) -> alt.VConcatChart:
    n_columns = 3 if width >= TWO_COLUMNS else 1
    inner = width - MARGIN
    pixels = (inner - SPACING * (n_columns - 1)) // n_columns - LEFT
    panels = [_panel(data, name, pixels) for name in QUANTITIES]
    heading = f"How to divide compute: {answered.name}"
    words = title(heading, [f"from {rests_on(answered.answer)}"], pixels=inner - LEFT)
    above = key_view(_key(data, answered), pixels=inner - LEFT)
    row = alt.concat(*panels, columns=n_columns, spacing=SPACING)
    return alt.VConcatChart(vconcat=[above, row], spacing=0, title=words)


def _panel(data: AllocationData, name: str, pixels: int) -> alt.LayerChart:
    lines = data.lines[data.lines["quantity"] == name].drop(columns="quantity")
    minima = data.minima[data.minima["quantity"] == name].drop(columns="quantity")
    x = field("C", log_axis("C", padded([*lines["C"]]), pixels=pixels))
    y = log_axis(name, _domain(lines, minima), pixels=HEIGHT, gap=26)
    ends = {"y": field("low", y), "y2": field("high")}
    layers = [layer(lines, mark("area", "band", clip=True), x=x, **ends)]
    dashed = mark("line", "series-1-dashed", clip=True)
    layers += [layer(lines, dashed, x=x, y=field(end, y)) for end in ("near_low", "near_high")]
    layers.append(layer(lines, mark("line", "law", clip=True), x=x, y=field("value", y)))
    layers += _minima_layers(minima, name, x, y)
    return view(layers, width=pixels, height=HEIGHT)


def _domain(lines: pd.DataFrame, minima: pd.DataFrame) -> tuple[float, float]:
    """Lines and minima, and of the band what does not dwarf them."""
    drawn = pd.concat([lines["value"], minima["value"]]) if len(minima) else lines["value"]
    low, high = float(drawn.min()), float(drawn.max())
    room = max((high / low) ** 0.5, 4.0)
    ends, tops = lines[["low", "near_low"]].min(axis=1), lines[["high", "near_high"]].max(axis=1)
    return padded([max(min([low, *ends]), low / room), min(max([high, *tops]), high * room)])


def _minima_layers(minima: pd.DataFrame, name: str, x: Channel, y: Channel) -> list[alt.Chart]:
    column = name.replace("/", "_per_")
    named = minima.rename(columns={"value": column})
    layers = []
    for bracketed, style in ((True, "observed"), (False, "observed-open")):
        frame = named[named["bracketed"] == bracketed].drop(columns="bracketed")
        if not frame.empty:
            point = mark("point", style)
            names = {"C": "C", column: name}
            layers.append(layer(frame, point, tooltip=names, x=x, y=field(column, y)))
    return layers


def _key(data: AllocationData, answered: Answered) -> list[Entry]:
    level = percent(answered.answer.level)
    entries = {
        Entry("line", "law", "best"): True,
        Entry("area", "band", f"{level} interval"): True,
        Entry("line", "series-1-dashed", "within 0.5% of the best loss"): True,
        Entry("point", "observed", "lowest of an isoFLOP curve"): data.minima["bracketed"].any(),
        Entry("point", "observed-open", "lowest, at an end of its curve"): not data.minima[
            "bracketed"
        ].all(),
    }
    return [entry for entry, shown in entries.items() if shown]
