"""What every chart is made of: axes, the key, titles that fit the width, tooltips."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import pandas as pd

from lawsmith.charts.draw import ticks

WIDE, NARROW = 760, 366  # of a whole chart in pixels: a page, a telephone
MARGIN = 24  # the theme's padding, both sides
TWO_COLUMNS = 560  # from this width there is room beside a view
KEY_ROW = 18
MAX_SYMBOLS = 12  # more values of a colour get a gradient
TITLES = {
    "C": "Training compute C (FLOPs)",
    "N": "Parameters N",
    "D": "Training tokens D",
    "D/N": "Tokens per parameter D/N",
}
RESERVED = ("title", "image")  # keys that Vega's tooltip turns into headings and pictures


def view_size(width: int, *, legend: int = 0) -> tuple[int, int]:
    """(width, height) in pixels of one view in a chart that is ``width`` wide."""
    return width - MARGIN - 52 - legend, 400 if width >= 600 else 300


def log_axis(
    name: str, domain: tuple[float, float], *, pixels: int, gap: int = 44
) -> dict[str, Any]:
    """Arguments of an alt.X or alt.Y: a log scale of ``domain``, ticks ``gap`` pixels apart."""
    values = ticks.log_ticks(*domain, pixels=pixels, gap=gap)
    return {
        "type": "quantitative",
        "title": TITLES.get(name, name),
        "scale": {"type": "log", "domain": list(domain), "nice": False},
        "axis": {"values": values, "labelExpr": ticks.label(name, "datum.value")},
    }


def loss_axis(domain: tuple[float, float], *, pixels: int, title: str = "Loss") -> dict[str, Any]:
    """Arguments of an alt.Y: the loss, in logs, ticked at round losses."""
    values = ticks.linear_ticks(*domain, n_max=max(pixels // 45, 4))
    return {
        "type": "quantitative",
        "title": title,
        "scale": {"type": "log", "domain": list(domain), "nice": False},
        "axis": {"values": values, "labelExpr": "format(datum.value, '.3~r')"},
    }


def view(layers: Sequence[alt.Chart], *, width: int, height: int, **more: Any) -> alt.LayerChart:
    """Layers that share their scales."""
    return alt.LayerChart(layer=list(layers), width=width, height=height, **more)


def scale_color(name: str, values: pd.Series[float], *, beside: bool) -> alt.Color:
    """An ordered colour for N or a compute level, its legend beside the view or below it."""
    field = "C" if name == "level" else name
    distinct = sorted(values.unique(), reverse=beside)
    legend: dict[str, Any] = {
        "title": "C (FLOPs)" if field == "C" else field,
        "orient": "right" if beside else "bottom",
        "columns": 1 if beside else 4,
        "labelExpr": ticks.label(field, "datum.value"),
        "symbolType": "circle",
        "symbolSize": 60,
    }
    if len(distinct) <= MAX_SYMBOLS:
        return alt.Color(f"{name}:O", legend=legend, scale={"reverse": beside}, sort=distinct)
    legend["values"] = ticks.log_ticks(min(distinct), max(distinct), pixels=200, gap=35)
    return alt.Color(f"{name}:Q", legend=legend, scale={"type": "log"})


def tooltip(chart: alt.Chart, names: Mapping[str, str]) -> alt.Chart:
    """The chart with a tooltip of those columns (column → what to call it), as people read them."""
    shown, entries = chart, []
    for field, name in names.items():
        plain = field not in chart.data or chart.data[field].dtype == object
        if not plain:
            kind = "C" if field == "level" else field
            written = {f"{field}_text": ticks.label(kind, f"datum['{field}']")}
            shown = shown.transform_calculate(**written)
        title = f"{name} " if name in RESERVED else name
        entry = field if plain else f"{field}_text"
        entries.append(alt.Tooltip(field=entry, type="nominal", title=title))
    return shown.encode(tooltip=entries)


@dataclass(frozen=True)
class KeyEntry:
    """One entry of a key: a mark in its style, and what it means."""

    mark: Literal["point", "line", "area", "tick"]
    style: str
    text: str


def key(entries: Sequence[KeyEntry], *, pixels: int) -> list[alt.Chart]:
    """Layers that write a key above a view, in as many lines as it takes."""
    layers: list[alt.Chart] = []
    places = key_places([text_width(e.text, 11) for e in entries], pixels=pixels)
    n_rows = 1 + max(row for row, _ in places)
    for entry, (row, x) in zip(entries, places, strict=True):
        y = -12 - KEY_ROW * (n_rows - 1 - row)
        text = {"type": "text", "style": "note", "text": entry.text}
        layers += [_symbol(entry, x, y), _still(text, x=x + 24, y=y)]
    return layers


def key_view(entries: Sequence[KeyEntry], *, pixels: int) -> alt.LayerChart:
    """A key as a view of its own, for charts of several panels."""
    return view(key(entries, pixels=pixels), width=pixels, height=1)


def key_places(widths: Sequence[int], *, pixels: int) -> list[tuple[int, int]]:
    """(row, x) of each entry of a key, wrapped at ``pixels``."""
    places, row, x = [], 0, 0
    for width in widths:
        whole = 24 + width
        if x > 0 and x + whole > pixels:
            row, x = row + 1, 0
        places.append((row, x))
        x += whole + 18
    return places


def _symbol(entry: KeyEntry, x: int, y: int) -> alt.Chart:
    match entry.mark:
        case "point":
            return _still({"type": "point", "style": entry.style}, x=x + 9, y=y)
        case "tick":
            mark = {"type": "tick", "style": entry.style, "orient": "vertical", "size": 9}
            return _still(mark, x=x + 9, y=y)
        case "line":
            return _still({"type": "rule", "style": entry.style}, x=x, x2=x + 18, y=y)
        case "area":
            mark = {"type": "rect", "style": entry.style}
            return _still(mark, x=x, x2=x + 18, y=y - 5, y2=y + 5)


def _still(mark: Any, **places: int) -> alt.Chart:
    """One mark at a place in pixels, whatever the scales."""
    # Plain dictionaries: Altair's objects copy a hundred unset properties at every step.
    values: Any = {channel: {"value": pixel} for channel, pixel in places.items()}
    return alt.Chart(alt.InlineData(values=[{}]), mark=mark, encoding=alt.FacetedEncoding(**values))


def title(text: str, subtitle: Sequence[str], *, pixels: int) -> alt.TitleParams:
    """A title and its lines below, broken so that none is wider than ``pixels``."""
    lines = [line for part in subtitle for line in wrap(part, 12, pixels)]
    return alt.TitleParams(text=wrap(text, 15.5, pixels), subtitle=lines)


def wrap(text: str, size: float, pixels: int) -> list[str]:
    """The text in lines of at most ``pixels``."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size) <= pixels:
            lines[-1] = longer
        else:
            lines += textwrap.wrap(word, max(int(pixels / size), 8))  # a word wider than a line
    return lines or [""]


def text_width(text: str, size: float) -> int:
    """Roughly how wide a text is, in pixels, in Arial."""
    return round(size * sum(_width(letter) for letter in text))


def _width(letter: str) -> float:
    if letter in " .,:;'|!()[]/ijlftI·":
        return 0.3
    return 0.72 if letter.isupper() or letter in "mw%" else 0.55
