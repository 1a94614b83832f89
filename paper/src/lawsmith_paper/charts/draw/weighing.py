"""The two values of a run over (N, D), side by side: where each of them would go next.

Marks show named data, as in `lawsmith_paper.charts.draw.discovery`.
"""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.charts.draw import (
    LEFT,
    MARGIN,
    TWO_COLUMNS,
    WIDE,
    Channel,
    field,
    log_axis,
    mark,
    view,
)
from lawsmith.charts.runs import ChartUnavailable
from lawsmith.charts.ticks import padded
from lawsmith.policies.frontier import ValueName
from lawsmith_paper.charts.data.discovery import DiscoveryData
from lawsmith_paper.charts.data.frames import VALUES, Frame
from lawsmith_paper.charts.draw.discovery import named

HEIGHT, SPACING, LEGEND = 190, 18, 74
LEAST_SHARE = 1e-4  # what is less is drawn as that
TITLES: dict[ValueName, str] = {
    "envelope": "Lowers the envelope, per FLOP",
    "answer": "Tells of the answer, per FLOP",
}


def values(data: DiscoveryData, *, width: int = WIDE) -> alt.HConcatChart | alt.VConcatChart:
    """Both values over (N, D) as shares of the best, the next run, and what was run so far."""
    if not data.has_cells:
        raise ChartUnavailable("candidates do not vary in both N and D")
    beside = width >= TWO_COLUMNS
    inner = width - MARGIN
    pixels = (inner - LEGEND - SPACING) // 2 - LEFT if beside else inner - LEFT
    like = data.frames[-1]
    x = log_axis("D", padded([*like.cells["D"]], share=0.08), pixels=pixels)
    y = log_axis("N", padded([*like.cells["N"]], share=0.08), pixels=HEIGHT, gap=24)
    side = _side(like.cells, pixels)
    panels = []
    for i, value in enumerate(VALUES):
        axes = (x, y if not i or not beside else {**y, "title": None})
        panels.append(_panel(value, like, axes, (pixels, side), _legend(beside=beside)))
    if beside:
        return alt.HConcatChart(hconcat=panels, spacing=SPACING)
    return alt.VConcatChart(vconcat=panels, spacing=30)


def _side(cells: pd.DataFrame, pixels: int) -> float:
    """Of a square in pixels: as large as the nearest two leave room for, within reason."""
    gaps = []
    for name, size in (("D", pixels), ("N", HEIGHT)):
        place = np.log(np.unique(cells[name]))
        if len(place) > 1:
            gaps.append(float(np.diff(place).min() / np.ptp(place)) * size / 1.2)
    return float(np.clip(min(gaps, default=20.0) - 1.0, 6.0, 22.0))


def _panel(
    value: ValueName,
    like: Frame,
    axes: tuple[Channel, Channel],
    sizes: tuple[int, float],
    legend: Channel,
) -> alt.LayerChart:
    pixels, side = sizes
    x, y = axes
    where = {"x": field("D", x), "y": field("N", y)}
    color = {
        "field": "share",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [LEAST_SHARE, 1], "clamp": True},
        "legend": legend,
    }
    names = {"N": "N", "D": "D", "share": "share of the best", "asked": "runs made"}
    cells = pd.DataFrame({"N": [1.0], "D": [1.0], "share": [1.0], "asked": [1.0]})
    square = mark("point", "cell-square", size=side**2)
    heads = pd.DataFrame({"text": ["a"]})
    above = {"x": {"value": 0}, "y": {"value": -11}}
    text = {"text": {"field": "text", "type": "nominal"}}
    layers = [
        named(value, cells, square, tooltip=names, color=color, **where),
        named("asked", cells, mark("point", "map-run"), **where),
        named("chosen", like.chosen, mark("point", "map-best"), **where),
        named(f"head-{value}", heads, mark("text", "panel"), **above, **text),
    ]
    return view(layers, width=pixels, height=HEIGHT)


def _legend(*, beside: bool) -> Channel:
    return {
        "title": ["share of", "the best"] if beside else "share of the best",
        "orient": "right" if beside else "bottom",
        "direction": "vertical" if beside else "horizontal",
        "values": [1, 0.1, 0.01, 0.001, LEAST_SHARE],
        "labelExpr": f"datum.value <= {1.01 * LEAST_SHARE:g} ? '≤ 0.01 %' : "
        "format(100 * datum.value, '~r') + ' %'",
    }


def value_datasets(frame: Frame) -> dict[str, pd.DataFrame]:
    """What a frame has, by the names under which `values` looks for it."""
    cells = frame.cells
    found = {"asked": cells[cells["asked"] > 0][["N", "D"]], "chosen": frame.chosen}
    for value in VALUES:
        part = cells[cells[value].notna()]
        found[value] = part[["N", "D", "asked"]].assign(share=part[value])
        found[f"head-{value}"] = pd.DataFrame({"text": [_head(value, frame, empty=part.empty)]})
    return found


def _head(value: ValueName, frame: Frame, *, empty: bool) -> str:
    if empty:
        return f"{TITLES[value]}: nothing to choose by"
    chooses = frame.reason is not None and frame.reason.chooser == value
    return f"{TITLES[value]}{': chooses' if chooses else ''}"
