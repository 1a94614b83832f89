"""What every chart is made of: layers, views, axes, ordered colours, tooltips.

Marks and channels are plain dictionaries of Vega-Lite: Altair's own objects copy a hundred unset
properties at every step, which made drawing four times slower. Altair validates them in the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from lawsmith.charts.draw import ticks

WIDE, NARROW = 760, 366  # of a whole chart in pixels: a page, a telephone
TWO_COLUMNS = 560  # from this width there is room beside a view
MARGIN = 24  # the theme's padding, both sides
LEFT = 52  # the labels and title of a vertical axis
LEGEND = 70  # a legend beside a view
MAX_SYMBOLS = 12  # of a legend; more values of a colour get round ones between
TITLES = {
    "C": "Training compute C (FLOPs)",
    "N": "Parameters N",
    "D": "Training tokens D",
    "D/N": "Tokens per parameter D/N",
}
RESERVED = ("title", "image")  # keys that Vega's tooltip turns into headings and pictures

Channel = dict[str, Any]


def view_size(width: int, *, legend: int = 0) -> tuple[int, int]:
    """(width, height) in pixels of one view in a chart that is ``width`` wide."""
    return width - MARGIN - LEFT - legend, 400 if width >= TWO_COLUMNS else 300


def mark(kind: str, style: str, **more: Any) -> Channel:
    """A mark in one of the theme's styles."""
    return {"type": kind, "style": style, **more}


def field(name: str, axis: Channel | None = None) -> Channel:
    """A channel that shows the column ``name`` along ``axis``."""
    return {"field": name, **(axis or {})}


def layer(
    frame: pd.DataFrame,
    what: Channel,
    *,
    tooltip: Mapping[str, str] | None = None,
    **channels: Any,
) -> alt.Chart:
    """Marks of the rows of ``frame``; ``tooltip`` names columns and what to call them."""
    more: dict[str, Any] = {"mark": what}
    if tooltip is not None:
        more["transform"], channels["tooltip"] = tooltip_parts(frame, tooltip)
    return alt.Chart(frame, encoding=alt.FacetedEncoding(**channels), **more)


def tooltip_parts(
    frame: pd.DataFrame, names: Mapping[str, str]
) -> tuple[list[Channel], list[Channel]]:
    """(transforms, tooltip): numbers written as people read them, text as it is."""
    transforms, shown = [], []
    for column, name in names.items():
        text = column
        if pd.api.types.is_numeric_dtype(frame[column]):
            text = f"{column}_text"
            label = ticks.label(column, f"datum['{column}']")
            transforms.append({"calculate": label, "as": text})
        title = f"{name} " if name in RESERVED else name
        shown.append({"field": text, "type": "nominal", "title": title})
    return transforms, shown


def view(layers: Sequence[alt.Chart], *, width: int, height: int, **more: Any) -> alt.LayerChart:
    """Layers that share their scales."""
    return alt.LayerChart(layer=list(layers), width=width, height=height, **more)


def log_axis(name: str, domain: tuple[float, float], *, pixels: int, gap: int = 44) -> Channel:
    """A log scale of ``domain``, ticks ``gap`` pixels apart or more."""
    values = ticks.log_ticks(*domain, pixels=pixels, gap=gap)
    return {
        "type": "quantitative",
        "title": TITLES.get(name, name),
        "scale": {"type": "log", "domain": list(domain), "nice": False},
        "axis": {"values": values, "labelExpr": ticks.label(name, "datum.value")},
    }


def loss_axis(domain: tuple[float, float], *, pixels: int) -> Channel:
    """The loss, in logs, ticked at round losses."""
    values = ticks.loss_ticks(*domain, pixels=pixels)
    return {
        "type": "quantitative",
        "title": "Loss",
        "scale": {"type": "log", "domain": list(domain), "nice": False},
        "axis": {"values": values, "labelExpr": "format(datum.value, '.3~r')"},
    }


def linear_axis(title: str, domain: tuple[float, float], *, n_ticks: int) -> Channel:
    """A linear scale of ``domain`` with at most ``n_ticks`` ticks."""
    values = ticks.linear_ticks(*domain, n_max=n_ticks)
    return {
        "type": "quantitative",
        "title": title,
        "scale": {"domain": list(domain), "nice": False},
        # Vega thins given ticks to its own count unless told otherwise.
        "axis": {
            "values": values,
            "tickCount": len(values) + 1,
            "labelExpr": "format(datum.value, '.6~r')",  # Vega's own rounds 0.25 to 0.3
        },
    }


def scale_color(name: str, values: pd.Series[float], *, beside: bool) -> Channel:
    """An ordered colour for N or a compute level, its legend beside the view or below it."""
    distinct = sorted(values.unique(), reverse=beside)
    legend: dict[str, Any] = {
        "title": "C (FLOPs)" if name == "level" else name,
        "orient": "right" if beside else "bottom",
        "columns": 1 if beside else 4,
        "labelExpr": ticks.label(name, "datum.value"),
        "symbolType": "circle",
        "symbolSize": 60,
    }
    if len(distinct) <= MAX_SYMBOLS:
        ordered = {"type": "ordinal", "scale": {"reverse": beside}, "sort": distinct}
        return {"field": name, "legend": legend, **ordered}
    legend["values"] = ticks.log_ticks(min(distinct), max(distinct), pixels=200, gap=35)
    scale = {"type": "log"}
    return {"field": name, "legend": legend, "type": "quantitative", "scale": scale}
