"""The law chart: every run, the fitted frontier, the law with its band, the targets."""

from __future__ import annotations

from typing import Protocol

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.analysis import Analysis
from lawsmith.charts.data.law import LawData, law_data
from lawsmith.charts.data.runs import FITTED, HELD_OUT, RUN
from lawsmith.charts.draw import titles
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
from lawsmith.formats import number, percent

MANY = 60  # fitted points beyond which they are drawn smaller
LABEL_SHARE = 0.07  # of the loss axis, kept below the targets for their labels
NOUNS = {"C": "compute", "N": "parameters", "D": "tokens"}


def law(analysis: Analysis, *, width: int = WIDE) -> alt.LayerChart:
    """Loss against the law's input (compute for laws of N and D), with runs, band and targets."""
    return themed(draw_law(law_data(analysis), analysis, width=width), LIGHT)


def draw_law(data: LawData, analysis: Analysis, *, width: int) -> alt.LayerChart:
    pixels, height = view_size(width)
    x = log_axis(data.x, _x_domain(data), pixels=pixels)
    domain = _y_domain(data)
    y = loss_axis(domain, pixels=height)
    layers = [
        *_band_layers(data, x, y),
        *_threshold_layers(data, x),
        *_edge_layers(data, x),
        *_point_layers(data, RUN, x, y),
        *_point_layers(data, FITTED, x, y),
        *_line_layers(data, x, y),
        *_point_layers(data, HELD_OUT, x, y),
        *target_layers(data.targets, field("x", x), y, domain),
        *key(key_entries(data, analysis), pixels=pixels),
    ]
    heading = titles.heading(f"Loss against {NOUNS.get(data.x, data.x)}", analysis)
    words = title(heading, subtitle(data, analysis), pixels=pixels)
    return view(layers, width=pixels, height=height, title=words)


def _x_domain(data: LawData) -> tuple[float, float]:
    return padded([data.line["x"].min(), data.line["x"].max()])


def _y_domain(data: LawData) -> tuple[float, float]:
    """Every point and line, and of the band what does not dwarf them."""
    drawn = [data.runs.frame["loss"], data.line["fitted"]]
    points = pd.concat([*drawn, data.targets["loss"]]).dropna()
    low, high = float(points.min()), float(points.max())
    ends = [*data.line["low"].dropna(), *data.targets["low"].dropna()]
    tops = [*data.line["high"].dropna(), *data.targets["high"].dropna()]
    room = (high / low) ** 0.35
    low = max(min([low, *ends]), low / room)
    high = min(max([high, *tops]), high * room)
    below = LABEL_SHARE if len(data.targets) else 0.03
    return padded([low, high], share=below)[0], padded([low, high])[1]


def _band_layers(data: LawData, x: Channel, y: Channel) -> list[alt.Chart]:
    if data.line["low"].isna().all():
        return []
    ends = {"y": field("low", y), "y2": field("high")}
    return [layer(data.line, mark("area", "band", clip=True), x=field("x", x), **ends)]


def _threshold_layers(data: LawData, x: Channel) -> list[alt.Chart]:
    """The line from which runs are held out."""
    if not np.isfinite(data.threshold):
        return []
    frame = pd.DataFrame({"x": [data.threshold]})
    note = mark("text", "note", text="held out", dx=5)
    return [
        layer(frame, mark("rule", "threshold"), x=field("x", x)),
        layer(frame, note, x=field("x", x), y={"value": 18}),
    ]


def _line_layers(data: LawData, x: Channel, y: Channel) -> list[alt.Chart]:
    line = mark("line", "law", clip=True)
    return [layer(data.line, line, x=field("x", x), y=field("fitted", y))]


def _point_layers(data: LawData, kind: str, x: Channel, y: Channel) -> list[alt.Chart]:
    frame = data.runs.of(kind).drop(columns="kind")
    if frame.empty:
        return []
    style = fitted_style(data) if kind == FITTED else kind
    names = {**data.runs.names, "loss": "loss"}
    where = {"x": field("x", x), "y": field("loss", y)}
    return [layer(frame, mark("point", style), tooltip=names, **where)]


def _edge_layers(data: LawData, x: Channel) -> list[alt.Chart]:
    """Runs without a place on the loss axis, as ticks along its upper edge."""
    if data.off_scale.empty:
        return []
    tick = mark("tick", "off-scale", orient="vertical", size=9)
    names = {**data.runs.names, "loss": "loss", "state": "state"}
    return [layer(data.off_scale, tick, tooltip=names, x=field("x", x), y={"value": 4})]


def fitted_style(data: LawData) -> str:
    return "fitted-many" if len(data.runs.of(FITTED)) > MANY else "fitted"


def target_layers(
    targets: pd.DataFrame, x: Channel, y: Channel, domain: tuple[float, float]
) -> list[alt.Chart]:
    """Each target's interval, its loss and their numbers; ``domain`` is that of the loss axis."""
    if targets.empty:
        return []
    names = {"label": "target", "loss": "loss", "low": "from", "high": "to"}
    labels = target_labels(targets, domain)
    bar = mark("rule", "target-bar", clip=True)
    # Below and to the left: a falling law leaves that corner free.
    note = mark("text", "note-ink", align="right", dx=-4, dy=13)
    return [
        layer(targets, bar, x=x, y=field("low", y), y2=field("high")),
        layer(targets, mark("point", "target"), tooltip=names, x=x, y=field("loss", y)),
        layer(labels, note, x=x, y=field("place", y), text={"field": "text", "type": "nominal"}),
    ]


def target_labels(targets: pd.DataFrame, domain: tuple[float, float]) -> pd.DataFrame:
    """Targets with their text and its place below the interval, but inside the loss axis."""
    bottom, top = domain
    place = targets[["loss", "low"]].min(axis=1)
    return targets.assign(
        text=[target_text(*row) for row in targets[["loss", "low", "high"]].to_numpy()],
        place=place.clip(lower=bottom * (top / bottom) ** LABEL_SHARE),
    )


def target_text(loss: float, low: float, high: float) -> str:
    """'1.696 [1.714, 1.759]': the law as fitted and its interval."""
    if not np.isfinite(low):
        return f"{loss:#.4g}"
    return f"{loss:#.4g} [{low:#.4g}, {high:#.4g}]"


def key_entries(data: LawData, analysis: Analysis) -> list[Entry]:
    """What the chart's marks mean, only those that it has."""
    kinds, point = set(data.runs.frame["kind"]), titles.point_name(analysis)
    one = len(analysis.law.inputs) == 1
    level = percent(analysis.options.level)
    entries = {
        Entry("point", "run", "run"): RUN in kinds,
        Entry("point", fitted_style(data), f"fitted: {point}"): True,
        Entry("point", "held-out", f"held out: {point}"): HELD_OUT in kinds,
        Entry("line", "law", "law, as fitted" if one else "law at its best N and D"): True,
        Entry("area", "band", f"{level} interval"): data.line["low"].notna().any(),
        Entry("point", "target", "target"): len(data.targets) > 0,
        Entry("tick", "off-scale", off_scale_text(data)): len(data.off_scale) > 0,
    }
    return [entry for entry, shown in entries.items() if shown]


class OffScale(Protocol):
    """Runs without a place on a loss axis, counted."""

    @property
    def n_diverged(self) -> int: ...

    @property
    def n_above(self) -> int: ...

    @property
    def top(self) -> float: ...


def off_scale_text(data: OffScale) -> str:
    """'106 diverged, 3 above 4.5'."""
    told = [f"{data.n_diverged} diverged"] if data.n_diverged else []
    told += [f"{data.n_above} above {number(data.top, 3)}"] if data.n_above else []
    return ", ".join(told)


def subtitle(data: LawData, analysis: Analysis) -> list[str]:
    lines = [titles.basis(analysis)]
    if data.runs.thinned:
        shown = f"{len(data.runs.frame)} of {data.runs.n_known} configurations drawn"
        lines.append(f"{shown}, thinned evenly, fitted ones first")
    return lines
