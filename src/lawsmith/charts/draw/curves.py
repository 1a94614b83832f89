"""The size curves: loss against tokens for each N, held-out sizes dashed."""

from __future__ import annotations

from typing import Any

import altair as alt

from lawsmith.analysis import Analysis
from lawsmith.charts.data.curves import CurvesData, curves_data
from lawsmith.charts.draw import parts, titles
from lawsmith.charts.draw.parts import KeyEntry
from lawsmith.charts.draw.ticks import padded
from lawsmith.charts.theme import LIGHT, themed


def curves(analysis: Analysis, *, width: int = parts.WIDE) -> alt.LayerChart:
    """Loss against tokens, one curve per model size; laws of N and D only."""
    return themed(draw_curves(curves_data(analysis), analysis, width=width), LIGHT)


def draw_curves(data: CurvesData, analysis: Analysis, *, width: int) -> alt.LayerChart:
    side = width >= parts.TWO_COLUMNS
    legend = 70 if side else 0
    pixels, height = parts.view_size(width, legend=legend)
    loss = [*data.points["loss"], *data.lines["loss"]]
    x = parts.log_axis("D", padded([*data.points["D"]]), pixels=pixels)
    y = parts.loss_axis(padded(loss), pixels=height)
    color = parts.scale_color("N", data.points["N"], beside=side)
    layers = [*_lines(data, x, y, color), *_points(data, x, y, color)]
    heading = titles.heading("Loss against tokens, by size", analysis)
    return parts.view(
        [*layers, *parts.key(_key(data), pixels=pixels)],
        width=pixels,
        height=height,
        title=parts.title(heading, _subtitle(data, analysis), pixels=pixels + legend),
    )


def _lines(data: CurvesData, x: Any, y: Any, color: Any) -> list[alt.Chart]:
    layers = []
    for held, style in ((False, "curve"), (True, "curve-dashed")):
        frame = data.lines[data.lines["held_out"] == held].drop(columns="held_out")
        if not frame.empty:
            line = alt.Chart(frame).mark_line(style=style)
            layers.append(
                line.encode(
                    x=alt.X("D", **x), y=alt.Y("loss", **y), detail=alt.Detail("N:O"), color=color
                )
            )
    return layers


def _points(data: CurvesData, x: Any, y: Any, color: Any) -> list[alt.Chart]:
    names = {"N": "N", "D": "D", "C": "C", "loss": "loss", "predicted": "law"}
    layers = []
    for held, style in ((False, "cell"), (True, "cell-star")):
        frame = data.points[data.points["held_out"] == held].drop(columns="held_out")
        if not frame.empty:
            points = alt.Chart(frame).mark_point(style=style)
            points = points.encode(x=alt.X("D", **x), y=alt.Y("loss", **y), color=color)
            layers.append(parts.tooltip(points, names))
    return layers


def _key(data: CurvesData) -> list[KeyEntry]:
    entries = [
        KeyEntry("point", "key-cell", "best run of each (N, D), fitted"),
        KeyEntry("line", "key-curve", "law"),
    ]
    if data.points["held_out"].any():
        entries.append(KeyEntry("point", "key-cell-star", "held out"))
    if data.lines["held_out"].any():
        entries.append(KeyEntry("line", "key-dashed", "law at a held-out size"))
    return entries


def _subtitle(data: CurvesData, analysis: Analysis) -> list[str]:
    n_sizes = data.points["N"].nunique()
    if len(data.sizes) == n_sizes:
        return [titles.basis(analysis)]
    return [titles.basis(analysis), f"lines at {len(data.sizes)} of {n_sizes} sizes"]
