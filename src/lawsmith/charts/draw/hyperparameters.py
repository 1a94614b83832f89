"""The hyperparameter chart: the best λ of each (N, D) against tokens, with its power law."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from lawsmith.analysis import Analysis
from lawsmith.charts.data.hyperparameters import AxisData, hyperparameters_data
from lawsmith.charts.draw import parts, titles
from lawsmith.charts.draw.ticks import padded
from lawsmith.charts.theme import LIGHT, themed


def hyperparameters(analysis: Analysis, *, width: int = parts.WIDE) -> alt.ConcatChart:
    """The best value of every tuned hyperparameter in each (N, D), and λ*(N, D)."""
    axes = hyperparameters_data(analysis)
    return themed(draw_hyperparameters(axes, analysis, width=width), LIGHT)


def draw_hyperparameters(
    axes: tuple[AxisData, ...], analysis: Analysis, *, width: int
) -> alt.ConcatChart:
    beside = width >= parts.TWO_COLUMNS
    n_columns = min(len(axes), 2 if beside else 1)
    inner = width - parts.MARGIN - (70 if beside else 0)
    pixels = (inner - 24 * (n_columns - 1)) // n_columns - 60
    panels = [_panel(axis, pixels, beside=beside) for axis in axes]
    heading = f"Best hyperparameters: {titles.study_name(analysis.study)}, λ* = c·N^a·D^b"
    n = len(axes[0].points)
    text = f"best run of each of {n} (N, D) cells; points at one D are set apart by size"
    return alt.concat(*panels, columns=n_columns, spacing=24).properties(
        title=parts.title(heading, [text], pixels=inner - 60)
    )


def _panel(axis: AxisData, pixels: int, *, beside: bool) -> alt.LayerChart:
    height = 260
    x = parts.log_axis("D", padded([*axis.points["at"]]), pixels=pixels)
    domain = padded([*axis.points["value"], *axis.lines["value"]], share=0.06)
    y = parts.log_axis(axis.name, domain, pixels=height, gap=22)
    color = parts.scale_color("N", axis.points["N"], beside=beside)
    points = alt.Chart(axis.points).mark_point(style="cell")
    points = points.encode(x=alt.X("at", **x), y=alt.Y("value", **y), color=color)
    names = {"N": "N", "D": "D", "value": axis.name, "predicted": "law", "loss": "loss"}
    layers = [_lines(axis.lines, color, x, y), parts.tooltip(points, names)]
    title = alt.TitleParams(
        text=f"{axis.name}* = {axis.formula}", fontSize=12, fontWeight="normal", offset=8
    )
    return parts.view(layers, width=pixels, height=height, title=title)


def _lines(lines: pd.DataFrame, color: alt.Color, x: Any, y: Any) -> alt.Chart:
    """A line per size in its colour; the one line of a design with one D a size has none."""
    one = bool(lines["N"].isna().all())
    style = "law" if one else "curve"
    more: Any = {} if one else {"color": color, "detail": alt.Detail("N:O")}
    line: alt.Chart = alt.Chart(lines).mark_line(style=style)
    return line.encode(x=alt.X("D", **x), y=alt.Y("value", **y), **more)
