"""The allocation chart: the law's N*, D* and D/N against compute, in three panels."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from lawsmith.analysis import Analysis
from lawsmith.charts.data.allocation import QUANTITIES, AllocationData, allocation_data
from lawsmith.charts.draw import parts, titles
from lawsmith.charts.draw.parts import KeyEntry
from lawsmith.charts.draw.ticks import padded
from lawsmith.charts.theme import LIGHT, themed
from lawsmith.formats import percent


def allocation(analysis: Analysis, *, width: int = parts.WIDE) -> alt.VConcatChart:
    """N*, D* and D/N against compute with bands, and observed isoFLOP minima; laws of N and D."""
    data = allocation_data(analysis)
    return themed(draw_allocation(data, analysis, width=width), LIGHT)


def draw_allocation(data: AllocationData, analysis: Analysis, *, width: int) -> alt.VConcatChart:
    n_columns = 3 if width >= parts.TWO_COLUMNS else 1
    inner = width - parts.MARGIN
    pixels = (inner - 24 * (n_columns - 1)) // n_columns - 62
    panels = [_panel(data, name, pixels) for name in QUANTITIES]
    text = titles.heading("How to divide compute", analysis)
    return alt.vconcat(
        parts.key_view(_key(data, analysis), pixels=inner - 62),
        alt.concat(*panels, columns=n_columns, spacing=24),
        spacing=0,
    ).properties(title=parts.title(text, [titles.basis(analysis)], pixels=inner - 62))


def _panel(data: AllocationData, name: str, pixels: int) -> alt.LayerChart:
    lines = data.lines[data.lines["quantity"] == name].drop(columns="quantity")
    minima = data.minima[data.minima["quantity"] == name].drop(columns="quantity")
    height = 230
    x = alt.X("C", **parts.log_axis("C", padded([*lines["C"]]), pixels=pixels))
    y = parts.log_axis(name, _domain(lines, minima), pixels=height, gap=26)
    chart = alt.Chart(lines).encode(x=x)
    layers = []
    if lines["low"].notna().any():
        band = chart.mark_area(style="band", clip=True)
        layers.append(band.encode(y=alt.Y("low", **y), y2=alt.Y2("high")))
    layers.append(chart.mark_line(style="law", clip=True).encode(y=alt.Y("fitted", **y)))
    layers += _minima_layers(minima, name, x, y)
    return parts.view(layers, width=pixels, height=height)


def _domain(lines: pd.DataFrame, minima: pd.DataFrame) -> tuple[float, float]:
    """Lines and minima, and of the band what does not dwarf them."""
    drawn = pd.concat([lines["fitted"], minima["value"]])
    low, high = float(drawn.min()), float(drawn.max())
    room = max((high / low) ** 0.5, 4.0)
    ends, tops = lines["low"].dropna(), lines["high"].dropna()
    return padded([max(min([low, *ends]), low / room), min(max([high, *tops]), high * room)])


def _minima_layers(minima: pd.DataFrame, name: str, x: alt.X, y: Any) -> list[alt.Chart]:
    layers = []
    for bracketed, style in ((True, "observed"), (False, "observed-open")):
        frame = minima[minima["bracketed"] == bracketed].drop(columns="bracketed")
        if not frame.empty:
            field = name.replace("/", "_per_")
            renamed = frame.rename(columns={"value": field})
            points = alt.Chart(renamed).mark_point(style=style, clip=True)
            points = points.encode(x=x, y=alt.Y(field, **y))
            layers.append(parts.tooltip(points, {"C": "C", field: name}))
    return layers


def _key(data: AllocationData, analysis: Analysis) -> list[KeyEntry]:
    entries = [KeyEntry("line", "law", "law")]
    if data.lines["low"].notna().any():
        entries.append(KeyEntry("area", "band", f"{percent(analysis.options.level)} interval"))
    if data.minima["bracketed"].any():
        entries.append(KeyEntry("point", "observed", "lowest run of an isoFLOP curve"))
    if not data.minima["bracketed"].all():
        entries.append(KeyEntry("point", "observed-open", "the same, at the curve's end"))
    return entries
