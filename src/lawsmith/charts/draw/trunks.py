"""The trunks chart: losses along runs with their branches, and predicted ends with bands."""

from __future__ import annotations

import altair as alt
import pandas as pd

from lawsmith.charts.data.trunks import Curved, TrunksData, trunks_data
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
from lawsmith.formats import percent, plural


def trunks(curved: Curved, *, width: int = WIDE) -> alt.LayerChart:
    """Loss along runs against tokens, the branches of trunks, and where curves will end."""
    return themed(draw_trunks(trunks_data(curved), curved, width=width), LIGHT)


def draw_trunks(data: TrunksData, curved: Curved, *, width: int) -> alt.LayerChart:
    beside = width >= TWO_COLUMNS
    legend = LEGEND if beside else 0
    pixels, height = view_size(width, legend=legend)
    ends = data.ends
    D = [*data.lines["D"], *data.branches["D"], *ends["D"]]
    losses = [*data.lines["loss"], *data.branches["loss"], *ends["low"], *ends["high"]]
    channels = {
        "x": field("D", log_axis("D", padded(D), pixels=pixels)),
        "color": scale_color("N", data.lines["N"], beside=beside),
    }
    y = loss_axis(padded(losses), pixels=height)
    layers = [*_curves(data, channels, y), *_ends(ends, channels, y)]
    layers += key(_key(data), pixels=pixels)
    words = title(
        f"Losses along runs: {curved.name}", _subtitle(data, curved), pixels=pixels + legend
    )
    return view(layers, width=pixels, height=height, title=words)


def _curves(data: TrunksData, channels: dict[str, Channel], y: Channel) -> list[alt.Chart]:
    where = {**channels, "y": field("loss", y)}
    each = {"field": "run", "type": "nominal"}
    layers = [layer(data.lines, mark("line", "curve"), detail=each, **where)]
    if not data.branches.empty:
        branch = {"field": "branch", "type": "nominal"}
        layers.append(layer(data.branches, mark("line", "curve-dashed"), detail=branch, **where))
        last = data.branches.iloc[1::2].drop(columns="branch")
        names = {"run": "trunk", "N": "N", "D": "D", "loss": "loss"}
        layers.append(layer(last, mark("point", "cell"), tooltip=names, **where))
    return layers


def _ends(ends: pd.DataFrame, channels: dict[str, Channel], y: Channel) -> list[alt.Chart]:
    if ends.empty:
        return []
    names = {"run": "run", "N": "N", "D": "D", "loss": "predicted", "low": "from", "high": "to"}
    span = {**channels, "y": field("low", y), "y2": field("high")}
    return [
        layer(ends, mark("rule", "target-bar", clip=True), **span),
        layer(ends, mark("point", "cell-star"), tooltip=names, **channels, y=field("loss", y)),
    ]


def _key(data: TrunksData) -> list[Entry]:
    entries = [Entry("line", "key-curve", "along a run")]
    if not data.branches.empty:
        entries.append(Entry("point", "key-cell", "after a decay"))
    if not data.ends.empty:
        entries.append(Entry("point", "key-cell-star", "predicted end, interval of a run"))
    return entries


def _subtitle(data: TrunksData, curved: Curved) -> list[str]:
    found = curved.answer.curves
    lines = []
    if found is not None and found.n_branches:
        by = f"{plural(found.n_branches, 'run')} of {plural(found.n_trunks, 'trunk')}"
        lines.append(f"a decay takes {percent(found.gain, 2)} off the loss of a trunk, by {by}")
    if data.n_left:
        lines.append(f"{plural(data.n_left, 'curve')} not shown")
    return lines
