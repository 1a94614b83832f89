"""The allocation chart: the law's N*, D* and D/N against compute, in three panels."""

from __future__ import annotations

import altair as alt
import pandas as pd

from lawsmith.analysis import Analysis
from lawsmith.charts.data.allocation import QUANTITIES, AllocationData, allocation_data
from lawsmith.charts.draw import titles
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


def allocation(analysis: Analysis, *, width: int = WIDE) -> alt.VConcatChart:
    """N*, D* and D/N against compute with bands, and observed isoFLOP minima; laws of N and D."""
    return themed(draw_allocation(allocation_data(analysis), analysis, width=width), LIGHT)


def draw_allocation(data: AllocationData, analysis: Analysis, *, width: int) -> alt.VConcatChart:
    n_columns = 3 if width >= TWO_COLUMNS else 1
    inner = width - MARGIN
    pixels = (inner - SPACING * (n_columns - 1)) // n_columns - LEFT
    panels = [_panel(data, name, pixels) for name in QUANTITIES]
    heading = titles.heading("How to divide compute", analysis)
    words = title(heading, [titles.basis(analysis)], pixels=inner - LEFT)
    above = key_view(_key(data, analysis), pixels=inner - LEFT)
    row = alt.concat(*panels, columns=n_columns, spacing=SPACING)
    return alt.VConcatChart(vconcat=[above, row], spacing=0, title=words)


def _panel(data: AllocationData, name: str, pixels: int) -> alt.LayerChart:
    lines = data.lines[data.lines["quantity"] == name].drop(columns="quantity")
    minima = data.minima[data.minima["quantity"] == name].drop(columns="quantity")
    x = field("C", log_axis("C", padded([*lines["C"]]), pixels=pixels))
    y = log_axis(name, _domain(lines, minima), pixels=HEIGHT, gap=26)
    layers = [layer(lines, mark("line", "law", clip=True), x=x, y=field("fitted", y))]
    if lines["low"].notna().any():
        ends = {"y": field("low", y), "y2": field("high")}
        layers.insert(0, layer(lines, mark("area", "band", clip=True), x=x, **ends))
    layers += _minima_layers(minima, name, x, y)
    return view(layers, width=pixels, height=HEIGHT)


def _domain(lines: pd.DataFrame, minima: pd.DataFrame) -> tuple[float, float]:
    """Lines and minima, and of the band what does not dwarf them."""
    drawn = pd.concat([lines["fitted"], minima["value"]])
    low, high = float(drawn.min()), float(drawn.max())
    room = max((high / low) ** 0.5, 4.0)
    ends, tops = lines["low"].dropna(), lines["high"].dropna()
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


def _key(data: AllocationData, analysis: Analysis) -> list[Entry]:
    level = percent(analysis.options.level)
    entries = {
        Entry("line", "law", "law"): True,
        Entry("area", "band", f"{level} interval"): data.lines["low"].notna().any(),
        Entry("point", "observed", "lowest of an isoFLOP curve"): data.minima["bracketed"].any(),
        Entry("point", "observed-open", "the same, at an end of it"): not data.minima[
            "bracketed"
        ].all(),
    }
    return [entry for entry, shown in entries.items() if shown]
