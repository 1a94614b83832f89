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
KEY_ROW = 18
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


def axis_title(name: str) -> str:
    return TITLES.get(name, name)


def log_axis(
    name: str, domain: tuple[float, float], *, pixels: int, title: str | None = None
) -> dict[str, Any]:
    """Arguments of an alt.X or alt.Y: a log scale over ``domain`` ticked for ``pixels``."""
    per_tick = 56 if name == "C" else 48
    values = ticks.log_ticks(*domain, n_max=max(pixels // per_tick, 3))
    return {
        "type": "quantitative",
        "title": axis_title(name) if title is None else title,
        "scale": alt.Scale(type="log", domain=list(domain), nice=False),
        "axis": alt.Axis(values=values, labelExpr=ticks.label(name, "datum.value")),
    }


def loss_axis(domain: tuple[float, float], *, pixels: int, title: str = "Loss") -> dict[str, Any]:
    """Arguments of an alt.Y: the loss, in logs, ticked at round losses."""
    values = ticks.linear_ticks(*domain, n_max=max(pixels // 45, 4))
    return {
        "type": "quantitative",
        "title": title,
        "scale": alt.Scale(type="log", domain=list(domain), nice=False),
        "axis": alt.Axis(values=values, labelExpr="format(datum.value, '.3~r')"),
    }


def tooltip(chart: alt.Chart, names: Mapping[str, str]) -> alt.Chart:
    """The chart with a tooltip of those columns (column → what to call it), as people read them."""
    shown, entries = chart, []
    for field, name in names.items():
        plain = field not in chart.data or chart.data[field].dtype == object
        if not plain:
            written = {f"{field}_text": ticks.label(field, f"datum['{field}']")}
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
        layers += [_symbol(entry, x, y), _at(x + 24, y).mark_text(style="note", text=entry.text)]
    return layers


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
    middle = _at(x + 9, y)
    match entry.mark:
        case "point":
            return middle.mark_point(style=entry.style)
        case "tick":
            return middle.mark_tick(style=entry.style, orient="vertical", size=9)
        case "line":
            return _at(x, y).mark_rule(style=entry.style).encode(x2=alt.value(x + 18))
        case "area":
            box = _at(x, y - 5).mark_rect(style=entry.style)
            return box.encode(x2=alt.value(x + 18), y2=alt.value(y + 5))


def _at(x: int, y: int) -> alt.Chart:
    """A chart of one nameless row at a place in pixels."""
    return alt.Chart(alt.InlineData(values=[{}])).encode(x=alt.value(x), y=alt.value(y))


def title(text: str, subtitle: Sequence[str], *, pixels: int) -> alt.TitleParams:
    """A title and its lines below, broken so that none is wider than ``pixels``."""
    lines = [line for part in subtitle for line in wrap(part, 12, pixels)]
    return alt.TitleParams(text=wrap(text, 15.5, pixels), subtitle=lines)


def wrap(text: str, size: float, pixels: int) -> list[str]:
    return textwrap.wrap(text, max(int(pixels / (0.53 * size)), 12)) or [""]


def text_width(text: str, size: float) -> int:
    """Roughly how wide a text is, in pixels; Arial's letters are about half as wide as high."""
    return round(0.53 * size * len(text))


def rule(frame: pd.DataFrame, style: str) -> alt.Chart:
    return alt.Chart(frame).mark_rule(style=style)
