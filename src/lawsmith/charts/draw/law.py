"""The law chart: every run, the fitted frontier, the law with its band, the targets."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.analysis import Analysis
from lawsmith.charts.data.law import LawData, law_data
from lawsmith.charts.data.runs import FITTED, HELD_OUT, RUN
from lawsmith.charts.draw import parts, titles
from lawsmith.charts.draw.parts import KeyEntry
from lawsmith.charts.draw.ticks import padded
from lawsmith.charts.theme import LIGHT, themed
from lawsmith.formats import number, percent

MANY = 60  # fitted points beyond which they are drawn smaller
NOUNS = {"C": "compute", "N": "parameters", "D": "tokens"}


def law(analysis: Analysis, *, width: int = parts.WIDE) -> alt.LayerChart:
    """Loss against the law's input (compute for laws of N and D), with runs, band and targets."""
    return themed(draw_law(law_data(analysis), analysis, width=width), LIGHT)


def draw_law(data: LawData, analysis: Analysis, *, width: int) -> alt.LayerChart:
    pixels, height = parts.view_size(width)
    x = parts.log_axis(data.x, _x_domain(data), pixels=pixels)
    y = parts.loss_axis(_y_domain(data), pixels=height)
    layers = [
        *_band_layers(data, x, y),
        *_threshold_layers(data, x, height),
        *_edge_layers(data, x),
        *_point_layers(data, RUN, x, y),
        *_point_layers(data, FITTED, x, y),
        *_line_layers(data, x, y),
        *_point_layers(data, HELD_OUT, x, y),
        *_target_layers(data, x, y),
        *parts.key(key_entries(data, analysis), pixels=pixels),
    ]
    what = f"Loss against {NOUNS.get(data.x, data.x)}"
    return parts.view(
        layers,
        width=pixels,
        height=height,
        title=parts.title(titles.heading(what, analysis), subtitle(data, analysis), pixels=pixels),
    )


def _x_domain(data: LawData) -> tuple[float, float]:
    return padded([data.line["x"].min(), data.line["x"].max()])


def _y_domain(data: LawData) -> tuple[float, float]:
    """Every point and line, and of the band what does not dwarf them."""
    drawn = [data.runs.frame["loss"], data.line["fitted"], data.line["centre"]]
    points = pd.concat([*drawn, data.targets["loss"]]).dropna()
    low, high = float(points.min()), float(points.max())
    ends = [*data.line["low"].dropna(), *data.targets["low"].dropna()]
    tops = [*data.line["high"].dropna(), *data.targets["high"].dropna()]
    room = (high / low) ** 0.35
    low = max(min([low, *ends]), low / room)
    high = min(max([high, *tops]), high * room)
    below = 0.07 if len(data.targets) else 0.03  # room for the targets' labels
    return padded([low, high], share=below)[0], padded([low, high])[1]


def _band_layers(data: LawData, x: Any, y: Any) -> list[alt.Chart]:
    if data.line["low"].isna().all():
        return []
    band = alt.Chart(data.line).mark_area(style="band", clip=True)
    return [band.encode(x=alt.X("x", **x), y=alt.Y("low", **y), y2=alt.Y2("high"))]


def _threshold_layers(data: LawData, x: Any, height: int) -> list[alt.Chart]:
    """The line from which runs are held out."""
    if not np.isfinite(data.threshold):
        return []
    here = alt.Chart(pd.DataFrame({"x": [data.threshold]})).encode(x=alt.X("x", **x))
    text = here.mark_text(style="note", text="held out", dx=5).encode(y=alt.value(height - 9))
    return [here.mark_rule(style="threshold"), text]


def _line_layers(data: LawData, x: Any, y: Any) -> list[alt.Chart]:
    lines = alt.Chart(data.line)
    fitted = lines.mark_line(style="law", clip=True)
    layers = [fitted.encode(x=alt.X("x", **x), y=alt.Y("fitted", **y))]
    if data.corrected:
        centre = lines.mark_line(style="corrected", clip=True)
        layers.append(centre.encode(x=alt.X("x", **x), y=alt.Y("centre", **y)))
    return layers


def _point_layers(data: LawData, kind: str, x: Any, y: Any) -> list[alt.Chart]:
    frame = data.runs.of(kind)
    if frame.empty:
        return []
    style = fitted_style(data) if kind == FITTED else kind
    points = alt.Chart(frame.drop(columns="kind")).mark_point(style=style)
    points = points.encode(x=alt.X("x", **x), y=alt.Y("loss", **y))
    return [parts.tooltip(points, {**data.runs.names, "loss": "loss"})]


def _edge_layers(data: LawData, x: Any) -> list[alt.Chart]:
    """Runs without a place on the loss axis, as ticks along its upper edge."""
    if data.off_scale.empty:
        return []
    edge = alt.Chart(data.off_scale).mark_tick(style="off-scale", orient="vertical", size=9)
    edge = edge.encode(x=alt.X("x", **x), y=alt.value(4))
    return [parts.tooltip(edge, {**data.runs.names, "loss": "loss", "state": "state"})]


def fitted_style(data: LawData) -> str:
    return "fitted-many" if len(data.runs.of(FITTED)) > MANY else "fitted"


def _target_layers(data: LawData, x: Any, y: Any) -> list[alt.Chart]:
    if data.targets.empty:
        return []
    targets = alt.Chart(data.targets)
    at = alt.X("x", **x)
    bar = targets.mark_rule(style="target-bar", clip=True)
    point = targets.mark_point(style="target").encode(x=at, y=alt.Y("loss", **y))
    layers = [
        bar.encode(x=at, y=alt.Y("low", **y), y2=alt.Y2("high")),
        parts.tooltip(point, {"label": "target", "loss": "law", "low": "from", "high": "to"}),
    ]
    labels = data.targets.assign(
        text=[target_text(*row) for row in data.targets[["loss", "low", "high"]].to_numpy()],
        place=data.targets[["loss", "low"]].min(axis=1),
    )
    # Below and to the left: a falling law leaves that corner free.
    text = alt.Chart(labels).mark_text(style="note-ink", align="right", dy=13)
    layers.append(text.encode(x=at, y=alt.Y("place", **y), text=alt.Text("text")))
    return layers


def target_text(loss: float, low: float, high: float) -> str:
    """'1.696 [1.714, 1.759]': the law as fitted and its interval."""
    if not np.isfinite(low):
        return f"{loss:#.4g}"
    return f"{loss:#.4g} [{low:#.4g}, {high:#.4g}]"


def key_entries(data: LawData, analysis: Analysis) -> list[KeyEntry]:
    """What the chart's marks mean, only those that it has."""
    n, point = data.runs.frame["kind"].value_counts(), titles.point_name(analysis)
    entries = []
    if n.get(RUN, 0):
        entries.append(KeyEntry("point", "run", "run"))
    entries.append(KeyEntry("point", fitted_style(data), f"fitted: {point}"))
    if n.get(HELD_OUT, 0):
        entries.append(KeyEntry("point", "held-out", f"held out: {point}"))
    entries.append(KeyEntry("line", "law", _law_text(analysis)))
    if data.corrected:
        entries.append(KeyEntry("line", "corrected", "centre of the interval"))
    if data.line["low"].notna().any():
        level = percent(analysis.options.level)
        entries.append(KeyEntry("area", "band", f"{level} interval"))
    if len(data.targets):
        entries.append(KeyEntry("point", "target", "target"))
    if len(data.off_scale):
        entries.append(KeyEntry("tick", "off-scale", off_scale_text(data)))
    return entries


def _law_text(analysis: Analysis) -> str:
    return "law, as fitted" if len(analysis.law.inputs) == 1 else "law at its best N and D"


def off_scale_text(data: LawData) -> str:
    """'106 diverged, 3 above 4.5'."""
    told = [f"{data.n_diverged} diverged"] if data.n_diverged else []
    told += [f"{data.n_above} above {number(data.top, 3)}"] if data.n_above else []
    return ", ".join(told)


def subtitle(data: LawData, analysis: Analysis) -> list[str]:
    lines = [titles.basis(analysis)]
    if data.runs.thinned:
        shown = len(data.runs.frame)
        lines.append(f"{shown} of {data.runs.n_known} runs drawn, evenly thinned; Π is whole")
    return lines
