"""The subsets chart, the paper's first figure: a law depends on which points it is fitted to."""

from __future__ import annotations

import altair as alt
import pandas as pd

from lawsmith.charts.draw import (
    MARGIN,
    TWO_COLUMNS,
    WIDE,
    Channel,
    KeyEntry,
    field,
    key_view,
    layer,
    log_axis,
    loss_axis,
    mark,
    view,
)
from lawsmith.charts.text import title
from lawsmith.charts.theme import LIGHT, themed
from lawsmith.charts.ticks import padded
from lawsmith.replay import Task
from lawsmith_paper import titles
from lawsmith_paper.charts.data.subsets import Subset, SubsetsData, subsets_data

HEIGHT, SPACING = 220, 22
LEFT = 38  # the labels of the loss axis, which has no title of its own
HEADING = "The law of a frontier, and of four of its points"


def subsets(task: Task, *, width: int = WIDE) -> alt.VConcatChart:
    """The whole frontier of a replay task and its law; four points that miss it; four that do not.

    Three panels of loss against compute, the laws drawn on to 1e25 FLOPs.
    """
    return draw_subsets(subsets_data(task), task, width=width)


def draw_subsets(data: SubsetsData, task: Task, *, width: int = WIDE) -> alt.VConcatChart:
    """The chart of numbers at hand: to find them takes seconds."""
    n_columns = 3 if width >= TWO_COLUMNS else 1
    inner = width - MARGIN
    pixels = (inner - SPACING * (n_columns - 1)) // n_columns - LEFT
    every = pd.concat([part.line for part in (data.whole, data.bad, data.good)])
    x = log_axis("C", padded([*every["C"]]), pixels=pixels)
    losses = [*every["loss"], *data.whole.points["loss"]]
    y = {**loss_axis(padded(losses), pixels=HEIGHT), "title": None}
    drawn = {
        f"All {data.whole.n_used} points": data.whole,
        f"{data.bad.n_used} points, badly chosen": data.bad,
        f"{data.good.n_used} points, well chosen": data.good,
    }
    panels = [
        _panel(head, subset, data, {"x": _titled(x, i, n_columns), "y": y}, pixels)
        for i, (head, subset) in enumerate(drawn.items())
    ]
    words = title(titles.task_heading(HEADING, task), _subtitle(data), pixels=inner - LEFT)
    above = key_view(KEY, pixels=inner - LEFT)
    rows = alt.concat(*panels, columns=n_columns, spacing=SPACING)
    chart = alt.VConcatChart(vconcat=[above, rows], spacing=4, title=words)
    return themed(chart, LIGHT)


KEY = (
    KeyEntry("point", "fitted", "fitted"),
    KeyEntry("point", "unfitted", "not fitted"),
    KeyEntry("line", "law", "law of the points fitted"),
    KeyEntry("line", "law-behind", "law of all points"),
)


def _titled(x: Channel, i: int, n_columns: int) -> Channel:
    """The title of compute stands below the last row of panels only."""
    return x if i // n_columns == 2 // n_columns else {**x, "title": None}


def _panel(
    head: str, subset: Subset, data: SubsetsData, axes: dict[str, Channel], pixels: int
) -> alt.LayerChart:
    where = {"x": field("C", axes["x"]), "y": field("loss", axes["y"])}
    whole = subset is data.whole
    names = {"C": "C", "loss": "loss"}
    layers = [] if whole else [layer(data.whole.line, mark("line", "law-behind"), **where)]
    layers.append(layer(subset.line, mark("line", "law", clip=True), **where))
    for used, style in ((False, "unfitted"), (True, "fitted")):
        points = subset.points[subset.points["used"] == used].drop(columns="used")
        if not points.empty:
            layers.append(layer(points, mark("point", style), tooltip=names, **where))
    note = f"{data.loss:#.4g} at {data.target} FLOPs"
    if not whole:
        note = f"{difference_text(subset.difference)} at {data.target} FLOPs"
    # Texts and not titles: Vega lifts titles clear of tick labels, each panel's by its own.
    for text, style, place in ((head, "panel", -27), (note, "note", -12)):
        words = mark("text", style, text=text)
        layers.append(layer(pd.DataFrame({"x": [0]}), words, x={"value": 0}, y={"value": place}))
    return view(layers, width=pixels, height=HEIGHT)


def difference_text(percent: float) -> str:
    """'+21.9 %', '−0.002 %'."""
    digits = 1 if abs(percent) >= 1 else 3
    return f"{percent:+.{digits}f} %".replace("-", "−")


def _subtitle(data: SubsetsData) -> list[str]:
    size, n = data.good.n_used, data.whole.n_used
    asked = f"{data.n_fitted:,} of the {data.n_subsets:,}" if data.n_fitted < data.n_subsets else ""
    subsets = f"{asked or f'{data.n_subsets:,}'} subsets of {size}"
    rule = (
        f"of those {data.n_ranked:,} whose fit converges, well chosen is the least difference "
        f"from the law of all points at {data.target} FLOPs, badly its 90th percentile"
    )
    shown = "loss against compute, both in logs"
    return [f"{shown} · frontier of the pool: {n} points · {subsets}", rule]
