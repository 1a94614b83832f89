"""The hyperparameter chart: the best λ of each (N, D) against tokens, with its power law."""

from __future__ import annotations

import altair as alt
import pandas as pd

from lawsmith.analysis import Analysis
from lawsmith.charts.data.hyperparameters import AxisData, hyperparameters_data
from lawsmith.charts.draw.parts import (
    LEGEND,
    MARGIN,
    TWO_COLUMNS,
    WIDE,
    Channel,
    field,
    layer,
    log_axis,
    mark,
    scale_color,
    view,
)
from lawsmith.charts.draw.text import title
from lawsmith.charts.draw.ticks import padded
from lawsmith.charts.theme import LIGHT, themed
from lawsmith.datasets.records import study_name

HEIGHT, SPACING = 260, 24
LEFT = 60


def hyperparameters(analysis: Analysis, *, width: int = WIDE) -> alt.ConcatChart:
    """The best value of every tuned hyperparameter in each (N, D), and λ*(N, D)."""
    axes = hyperparameters_data(analysis)
    return themed(draw_hyperparameters(axes, analysis, width=width), LIGHT)


def draw_hyperparameters(
    axes: tuple[AxisData, ...], analysis: Analysis, *, width: int
) -> alt.ConcatChart:
    beside = width >= TWO_COLUMNS
    n_columns = min(len(axes), 2 if beside else 1)
    inner = width - MARGIN - (LEGEND if beside else 0)
    pixels = (inner - SPACING * (n_columns - 1)) // n_columns - LEFT
    panels = [_panel(axis, pixels, beside=beside) for axis in axes]
    heading = f"Best hyperparameters: {study_name(analysis.study)}, λ* = c·N^a·D^b"
    n = len(axes[0].points)
    text = f"best run of each of {n} (N, D) cells; points at one D are set apart by size"
    words = title(heading, [text], pixels=inner - LEFT)
    return alt.ConcatChart(concat=panels, columns=n_columns, spacing=SPACING, title=words)


def _panel(axis: AxisData, pixels: int, *, beside: bool) -> alt.LayerChart:
    x = log_axis("D", padded([*axis.points["at"]]), pixels=pixels)
    domain = padded([*axis.points["value"], *axis.lines["value"]], share=0.06)
    y = log_axis(axis.name, domain, pixels=HEIGHT, gap=22)
    color = scale_color("N", axis.points["N"], beside=beside)
    names = {"N": "N", "D": "D", "value": axis.name, "predicted": "law", "loss": "loss"}
    where = {"x": field("at", x), "y": field("value", y), "color": color}
    points = layer(axis.points, mark("point", "cell"), tooltip=names, **where)
    head = {"text": f"{axis.name}* = {axis.formula}", "fontSize": 12, "fontWeight": "normal"}
    layers = [_lines(axis.lines, color, x, y), points]
    return view(layers, width=pixels, height=HEIGHT, title={**head, "offset": 8})


def _lines(lines: pd.DataFrame, color: Channel, x: Channel, y: Channel) -> alt.Chart:
    """A line per size in its colour; the one line of a design with one D a size has none."""
    where = {"x": field("D", x), "y": field("value", y)}
    if lines["N"].isna().all():
        return layer(lines, mark("line", "law"), **where)
    each = {"field": "N", "type": "ordinal"}
    return layer(lines, mark("line", "curve"), color=color, detail=each, **where)
