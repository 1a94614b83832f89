"""The key of a chart: each mark in its own style with what it means, above the view.

Vega's legends cannot mix points, lines and areas, so the key is drawn with the chart's marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt

from lawsmith.charts.draw.parts import mark, view
from lawsmith.charts.draw.text import text_width

ROW, SYMBOL, GAP = 18, 24, 18  # pixels: height of a row, room for a symbol, between entries


@dataclass(frozen=True)
class Entry:
    """One entry of a key: a mark in its style, and what it means."""

    mark: Literal["point", "line", "area", "tick"]
    style: str
    text: str


def key(entries: Sequence[Entry], *, pixels: int) -> list[alt.Chart]:
    """Layers that write a key above a view, in as many rows as it takes."""
    layers: list[alt.Chart] = []
    places = key_places([text_width(entry.text, 11) for entry in entries], pixels=pixels)
    n_rows = 1 + max(row for row, _ in places)
    for entry, (row, x) in zip(entries, places, strict=True):
        y = -12 - ROW * (n_rows - 1 - row)
        text = _still(mark("text", "note", text=entry.text), x=x + SYMBOL, y=y)
        layers += [_symbol(entry, x, y), text]
    return layers


def key_view(entries: Sequence[Entry], *, pixels: int) -> alt.LayerChart:
    """A key as a view of its own, for charts of several panels."""
    return view(key(entries, pixels=pixels), width=pixels, height=1)


def key_places(widths: Sequence[int], *, pixels: int) -> list[tuple[int, int]]:
    """(row, x) of each entry whose text is that wide, wrapped at ``pixels``."""
    places, row, x = [], 0, 0
    for width in widths:
        if x > 0 and x + SYMBOL + width > pixels:
            row, x = row + 1, 0
        places.append((row, x))
        x += SYMBOL + width + GAP
    return places


def _symbol(entry: Entry, x: int, y: int) -> alt.Chart:
    match entry.mark:
        case "point":
            return _still(mark("point", entry.style), x=x + 9, y=y)
        case "tick":
            tick = mark("tick", entry.style, orient="vertical", size=9)
            return _still(tick, x=x + 9, y=y)
        case "line":
            return _still(mark("rule", entry.style), x=x, x2=x + 18, y=y)
        case "area":
            return _still(mark("rect", entry.style), x=x, x2=x + 18, y=y - 5, y2=y + 5)


def _still(what: Any, **places: int) -> alt.Chart:
    """One mark at a place in pixels, whatever the scales."""
    values: Any = {channel: {"value": pixel} for channel, pixel in places.items()}
    data = alt.InlineData(values=[{}])
    return alt.Chart(data, mark=what, encoding=alt.FacetedEncoding(**values))
