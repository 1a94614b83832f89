"""The isoFLOP chart: best loss against N at each compute level, minima marked."""

from __future__ import annotations

import altair as alt
import pandas as pd

from lawsmith.analysis import Analysis
from lawsmith.charts.data.isoflop import MIN_SIZES, IsoflopData, isoflop_data
from lawsmith.charts.draw import parts, titles
from lawsmith.charts.draw.parts import KeyEntry
from lawsmith.charts.draw.ticks import padded
from lawsmith.charts.theme import LIGHT, themed


def isoflop(analysis: Analysis, *, width: int = parts.WIDE) -> alt.LayerChart:
    """IsoFLOP curves: a hollow minimum lies at an end of its curve, the true one may be beyond."""
    data = isoflop_data(analysis)
    return themed(draw_isoflop(data, analysis, width=width), LIGHT)


def draw_isoflop(data: IsoflopData, analysis: Analysis, *, width: int) -> alt.LayerChart:
    side = width >= parts.TWO_COLUMNS
    legend = 70 if side else 0
    pixels, height = parts.view_size(width, legend=legend)
    x = alt.X("N", **parts.log_axis("N", padded([*data.cells["N"]]), pixels=pixels))
    y = alt.Y("loss", **parts.loss_axis(padded([*data.cells["loss"]]), pixels=height))
    color = parts.scale_color("level", data.cells["level"], beside=side)
    lines = alt.Chart(data.cells).mark_line(style="curve-thin")
    layers = [lines.encode(x=x, y=y, color=color, detail=alt.Detail("level:O"))]
    names = {"level": "level", "N": "N", "D": "D", "C": "C", "loss": "loss"}
    for style, frame in _points(data).items():
        if not frame.empty:
            points = alt.Chart(frame).mark_point(style=style).encode(x=x, y=y, color=color)
            layers.append(parts.tooltip(points, names))
    heading = f"Loss at equal compute: {titles.study_name(analysis.study)}"
    return parts.view(
        [*layers, *parts.key(_key(data), pixels=pixels)],
        width=pixels,
        height=height,
        title=parts.title(heading, [_subtitle(data)], pixels=pixels + legend),
    )


def _points(data: IsoflopData) -> dict[str, pd.DataFrame]:
    """Cells by the style they are drawn in; a minimum is drawn once, as that."""
    bracketed = data.minima["bracketed"]
    return {
        "cell": data.cells.drop(index=data.minima.index),
        "minimum": data.minima[bracketed].drop(columns="bracketed"),
        "minimum-open": data.minima[~bracketed].drop(columns="bracketed"),
    }


def _key(data: IsoflopData) -> list[KeyEntry]:
    entries = [KeyEntry("point", "key-cell", "best run of each (N, D)")]
    if data.minima["bracketed"].any():
        entries.append(KeyEntry("point", "key-minimum", "lowest of its level"))
    if not data.minima["bracketed"].all():
        text = "lowest, at an end: the optimum may lie beyond"
        entries.append(KeyEntry("point", "key-minimum-open", text))
    return entries


def _subtitle(data: IsoflopData) -> str:
    n = len(data.minima)
    text = f"{n} compute level{'s' if n != 1 else ''}, {len(data.cells)} (N, D) cells"
    if data.n_thin:
        text += f" · {data.n_thin} levels with fewer than {MIN_SIZES} sizes not drawn"
    return text
