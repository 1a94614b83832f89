"""The size curves: loss against tokens for each N, held-out sizes dashed."""

from __future__ import annotations

import altair as alt

from lawsmith.analysis import Analysis
from lawsmith.charts.data.curves import CurvesData, curves_data
from lawsmith.charts.draw import titles
from lawsmith.charts.draw.key import Entry, key
from lawsmith.charts.draw.parts import (
    LEGEND,
    TWO_COLUMNS,
    WIDE,
    Channel,
    field,
    layer,
    log_axis,
    loss_axis,
    mark,
    scale_color,
    view,
    view_size,
)
from lawsmith.charts.draw.text import title
from lawsmith.charts.draw.ticks import padded
from lawsmith.charts.theme import LIGHT, themed


def curves(analysis: Analysis, *, width: int = WIDE) -> alt.LayerChart:
    """Loss against tokens, one curve per model size; laws of N and D only."""
    return themed(draw_curves(curves_data(analysis), analysis, width=width), LIGHT)


def draw_curves(data: CurvesData, analysis: Analysis, *, width: int) -> alt.LayerChart:
    beside = width >= TWO_COLUMNS
    legend = LEGEND if beside else 0
    pixels, height = view_size(width, legend=legend)
    losses = [*data.points["loss"], *data.lines["loss"]]
    channels = {
        "x": field("D", log_axis("D", padded([*data.points["D"]]), pixels=pixels)),
        "y": field("loss", loss_axis(padded(losses), pixels=height)),
        "color": scale_color("N", data.points["N"], beside=beside),
    }
    layers = [*_lines(data, channels), *_points(data, channels), *key(_key(data), pixels=pixels)]
    heading = titles.heading("Loss against tokens, by size", analysis)
    words = title(heading, _subtitle(data, analysis), pixels=pixels + legend)
    return view(layers, width=pixels, height=height, title=words)


def _lines(data: CurvesData, channels: dict[str, Channel]) -> list[alt.Chart]:
    layers = []
    for held, style in ((False, "curve"), (True, "curve-dashed")):
        frame = data.lines[data.lines["held_out"] == held].drop(columns="held_out")
        if not frame.empty:
            each = {"field": "N", "type": "ordinal"}
            layers.append(layer(frame, mark("line", style), detail=each, **channels))
    return layers


def _points(data: CurvesData, channels: dict[str, Channel]) -> list[alt.Chart]:
    names = {"N": "N", "D": "D", "C": "C", "loss": "loss", "predicted": "law"}
    names = ({"run": "run"} if "run" in data.points else {}) | names
    layers = []
    for held, style in ((False, "cell"), (True, "cell-star")):
        frame = data.points[data.points["held_out"] == held].drop(columns="held_out")
        if not frame.empty:
            layers.append(layer(frame, mark("point", style), tooltip=names, **channels))
    return layers


def _key(data: CurvesData) -> list[Entry]:
    entries = [
        Entry("point", "key-cell", "best run of each (N, D), fitted"),
        Entry("line", "key-curve", "law"),
    ]
    if data.points["held_out"].any():
        entries.append(Entry("point", "key-cell-star", "held out"))
    if data.lines["held_out"].any():
        entries.append(Entry("line", "key-curve-dashed", "law at a held-out size"))
    return entries


def _subtitle(data: CurvesData, analysis: Analysis) -> list[str]:
    n_sizes = data.points["N"].nunique()
    if len(data.sizes) == n_sizes:
        return [titles.basis(analysis)]
    return [titles.basis(analysis), f"lines at {len(data.sizes)} of {n_sizes} sizes"]
