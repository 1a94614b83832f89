"""The isoFLOP chart: best loss against N at each compute level, minima marked."""

from __future__ import annotations

import altair as alt
import pandas as pd

from lawsmith.analysis import Analysis
from lawsmith.charts.data.isoflop import MIN_SIZES, IsoflopData, isoflop_data
from lawsmith.charts.draw.key import Entry, key
from lawsmith.charts.draw.parts import (
    LEGEND,
    TWO_COLUMNS,
    WIDE,
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
from lawsmith.datasets.records import study_name


def isoflop(analysis: Analysis, *, width: int = WIDE) -> alt.LayerChart:
    """IsoFLOP curves: a hollow minimum lies at an end of its curve, the true one may be beyond."""
    return themed(draw_isoflop(isoflop_data(analysis), analysis, width=width), LIGHT)


def draw_isoflop(data: IsoflopData, analysis: Analysis, *, width: int) -> alt.LayerChart:
    beside = width >= TWO_COLUMNS
    legend = LEGEND if beside else 0
    pixels, height = view_size(width, legend=legend)
    channels = {
        "x": field("N", log_axis("N", padded([*data.cells["N"]]), pixels=pixels)),
        "y": field("loss", loss_axis(padded([*data.cells["loss"]]), pixels=height)),
        "color": scale_color("level", data.cells["level"], beside=beside),
    }
    each = {"field": "level", "type": "ordinal"}
    names = {name: name for name in ("run", "level", "N", "D", "C", "loss") if name in data.cells}
    layers = [layer(data.cells, mark("line", "curve-thin"), detail=each, **channels)]
    layers += [
        layer(frame, mark("point", style), tooltip=names, **channels)
        for style, frame in _points(data).items()
        if not frame.empty
    ]
    layers += key(_key(data), pixels=pixels)
    heading = f"Loss at equal compute: {study_name(analysis.study)}"
    words = title(heading, [_subtitle(data)], pixels=pixels + legend)
    return view(layers, width=pixels, height=height, title=words)


def _points(data: IsoflopData) -> dict[str, pd.DataFrame]:
    """Cells by the style they are drawn in; a minimum is drawn once, as that."""
    bracketed = data.minima["bracketed"]
    return {
        "cell": data.cells.drop(index=data.minima.index),
        "minimum": data.minima[bracketed].drop(columns="bracketed"),
        "minimum-open": data.minima[~bracketed].drop(columns="bracketed"),
    }


def _key(data: IsoflopData) -> list[Entry]:
    entries = [Entry("point", "key-cell", "best run of each (N, D)")]
    if data.minima["bracketed"].any():
        entries.append(Entry("point", "key-minimum", "lowest of its level"))
    if not data.minima["bracketed"].all():
        text = "lowest, at an end: the optimum may lie beyond"
        entries.append(Entry("point", "key-minimum-open", text))
    return entries


def _subtitle(data: IsoflopData) -> str:
    n = len(data.minima)
    text = f"{n} compute level{'s' if n != 1 else ''}, {len(data.cells)} (N, D) cells"
    if data.n_thin:
        text += f" · {data.n_thin} levels with fewer than {MIN_SIZES} sizes not drawn"
    return text
