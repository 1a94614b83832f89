"""Parts of all charts: views, layers, axes, ordered colours, keys.

Marks and channels are plain dictionaries of Vega-Lite: Altair's objects copy a hundred unset
properties at every step, which makes drawing four times slower. Altair validates them in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import pandas as pd

from lawsmith.charts import ticks
from lawsmith.charts.text import text_width, title
from lawsmith.charts.theme import LIGHT, themed

# Pixels
WIDE, NARROW = 760, 366  # of a whole chart: on a page, on a phone
TWO_COLUMNS = 560  # width from which there is room beside a view
MARGIN = 24  # the theme's padding, both sides together
LEFT = 52  # labels and title of a vertical axis
WIDE_LEFT = 62  # the same for panels side by side: 300M is wider than a loss
SPACING = 24  # between panels side by side
LEGEND = 70  # a legend beside a view
ROW, SYMBOL, GAP = 18, 24, 18  # of a key: height of a row, a symbol, between entries

MAX_SYMBOLS = 12  # of a legend; with more values of a colour, it shows round values
MANY = 60  # more points than this are drawn smaller
TITLES = {
    "C": "Training compute C (FLOPs)",
    "N": "Parameters N",
    "D": "Training tokens D",
    "D/N": "Tokens per parameter D/N",
}
RESERVED = ("title", "image")  # keys that Vega's tooltip shows as headings and pictures

Channel = dict[str, Any]
Panel = alt.LayerChart | alt.ConcatChart
Symbol = Literal["point", "line", "area", "tick"]


# Whole charts


@dataclass(frozen=True)
class View:
    """The pixels of a chart with one view, or several above each other or side by side.

    width   of one view
    legend  beside the view; 0 if it is below or there is none
    text    width of the heading, and of a key that several views share
    """

    width: int
    height: int
    legend: int
    text: int
    n_columns: int = 1

    def log_x(self, name: str, values: Iterable[float], *, column: str = "") -> Channel:
        """A horizontal log axis that holds ``values``; ``column`` defaults to the name."""
        axis = log_axis(name, ticks.padded([*values]), pixels=self.width)
        return field(column or name, axis)

    def loss_y(self, values: Iterable[float]) -> Channel:
        """A vertical log axis of the loss that holds ``values``."""
        return field("loss", loss_axis(ticks.padded([*values]), pixels=self.height))

    def chart(
        self, layers: Sequence[alt.Chart], heading: str, lines: Sequence[str]
    ) -> alt.LayerChart:
        """The chart of one view below its key, the lines and the heading."""
        words = title(heading, lines, pixels=self.text)
        return themed(self.panel(layers, self.height, title=words), LIGHT)

    def panel(self, layers: Sequence[alt.Chart], height: int, **more: Any) -> alt.LayerChart:
        """One of the views of `stack`, with a key of its own if its layers have texts for one."""
        above = key(entries_of(layers), pixels=self.width)
        return view([*layers, *above], width=self.width, height=height, **more)

    def stack(
        self, panels: Sequence[Panel], heading: str, lines: Sequence[str], spacing: int = 14
    ) -> alt.VConcatChart:
        """The chart of panels above each other."""
        words = title(heading, lines, pixels=self.text)
        return themed(alt.VConcatChart(vconcat=[*panels], spacing=spacing, title=words), LIGHT)

    def side_by_side(
        self, panels: Sequence[Sequence[alt.Chart]], heading: str, lines: Sequence[str]
    ) -> alt.VConcatChart:
        """The chart of panels side by side, given by their layers, with one key above them."""
        entries = entries_of(one for layers in panels for one in layers)
        above: list[Panel] = [key_view(entries, pixels=self.text)] if entries else []
        views = [view(layers, width=self.width, height=self.height) for layers in panels]
        rows = alt.concat(*views, columns=self.n_columns, spacing=SPACING)
        return self.stack([*above, rows], heading, lines, spacing=4)


def view_of(width: int, *, legend: bool = False) -> View:
    """The view of a chart that is ``width`` wide; its legend is beside it if there is room."""
    wide = width >= TWO_COLUMNS
    beside = LEGEND if legend and wide else 0
    pixels = width - MARGIN - LEFT
    return View(pixels - beside, 400 if wide else 300, beside, pixels)


def panels_of(width: int, n_panels: int, *, height: int) -> View:
    """Panels of a chart that is ``width`` wide: up to three side by side if there is room."""
    n_columns = min(3, n_panels) if width >= TWO_COLUMNS else 1
    inner = width - MARGIN
    pixels = (inner - SPACING * (n_columns - 1)) // n_columns - WIDE_LEFT
    return View(pixels, height, 0, inner - WIDE_LEFT, n_columns)


def with_study(what: str, name: str) -> str:
    """A heading, with the name of the study if it has one."""
    return f"{what}: {name}" if name else what


# Layers


def mark(kind: str, style: str, **more: Any) -> Channel:
    """A mark in one of the theme's styles."""
    return {"type": kind, "style": style, **more}


BAND, LINE = mark("area", "band", clip=True), mark("line", "law", clip=True)


def field(name: str, axis: Channel | None = None) -> Channel:
    """A channel that shows the column ``name`` along ``axis``."""
    return {"field": name, **(axis or {})}


def span(y: Channel) -> dict[str, Channel]:
    """The channels of an interval: from the column low to the column high."""
    return {"y": field("low", y), "y2": field("high")}


def layer(
    frame: pd.DataFrame,
    what: Channel,
    label: str = "",
    /,
    *,
    tooltip: Mapping[str, str] | None = None,
    **channels: Any,
) -> alt.Chart:
    """A mark for each row of ``frame``; a view leaves out layers without rows.

    label     text of the marks in the key; '' if they are not in it
    tooltip   column → name
    """
    more: dict[str, Any] = {"mark": what}
    if label:
        more["description"] = label
    if tooltip is not None:
        more["transform"], channels["tooltip"] = tooltip_parts(frame, tooltip)
    return alt.Chart(frame, encoding=alt.FacetedEncoding(**channels), **more)


def layers_by(
    frame: pd.DataFrame, column: str, marks: Mapping[Any, tuple[Channel, str]], **channels: Any
) -> list[alt.Chart]:
    """A layer for each value of a column, from its mark and its text in the key.

    The column itself is not in the data, unless the tooltip shows it.
    """
    unused = [] if column in (channels.get("tooltip") or ()) else [column]
    return [
        layer(frame[frame[column] == value].drop(columns=unused), what, label, **channels)
        for value, (what, label) in marks.items()
    ]


def target_layers(
    targets: pd.DataFrame, x: Channel, y: Channel, value: str = "loss"
) -> list[alt.Chart]:
    """Each target's interval, from low to high, and its value."""
    names = {"label": "target", value: value, "low": "from", "high": "to"}
    point = mark("point", "target")
    return [
        layer(targets, mark("rule", "target-bar", clip=True), x=x, **span(y)),
        layer(targets, point, "target", tooltip=names, x=x, y=field(value, y)),
    ]


def tooltip_parts(
    frame: pd.DataFrame, names: Mapping[str, str]
) -> tuple[list[Channel], list[Channel]]:
    """(transforms, tooltip): numbers formatted for people, text unchanged.

    Columns that the frame does not have are skipped.
    """
    transforms, shown = [], []
    for column, name in names.items():
        if column not in frame:
            continue
        text = column
        if pd.api.types.is_numeric_dtype(frame[column]):
            text = f"{column}_text"
            value = f"datum['{column}']"
            label = f"isValid({value}) ? {ticks.label(column, value)} : '–'"
            transforms.append({"calculate": label, "as": text})
        title = f"{name} " if name in RESERVED else name
        shown.append({"field": text, "type": "nominal", "title": title})
    return transforms, shown


def view(layers: Sequence[alt.Chart], *, width: int, height: int, **more: Any) -> alt.LayerChart:
    """Layers with common scales; those without rows are left out."""
    return alt.LayerChart(layer=with_rows(layers), width=width, height=height, **more)


def with_rows(layers: Iterable[alt.Chart]) -> list[alt.Chart]:
    """The layers that have rows."""
    return [one for one in layers if not (isinstance(one.data, pd.DataFrame) and one.data.empty)]


# Axes and colours


def log_axis(name: str, domain: tuple[float, float], *, pixels: int, gap: int = 44) -> Channel:
    """A log scale of ``domain`` with ticks at least ``gap`` pixels apart."""
    values = ticks.log_ticks(*domain, pixels=pixels, gap=gap)
    return _log_axis(TITLES.get(name, name), domain, values, ticks.label(name, "datum.value"))


def loss_axis(domain: tuple[float, float], *, pixels: int) -> Channel:
    """A log scale of losses with ticks at round losses."""
    values = ticks.loss_ticks(*domain, pixels=pixels)
    return _log_axis("Loss", domain, values, "format(datum.value, '.3~r')")


def _log_axis(
    title: str, domain: tuple[float, float], values: Sequence[float], label: str
) -> Channel:
    return {
        "type": "quantitative",
        "title": title,
        "scale": {"type": "log", "domain": list(domain), "nice": False},
        "axis": {"values": values, "labelExpr": label},
    }


def linear_axis(title: str, domain: tuple[float, float], *, n_ticks: int) -> Channel:
    """A linear scale of ``domain`` with at most ``n_ticks`` ticks."""
    values = ticks.linear_ticks(*domain, n_max=n_ticks)
    return {
        "type": "quantitative",
        "title": title,
        "scale": {"domain": list(domain), "nice": False},
        # Without a tickCount, Vega thins the given ticks.
        "axis": {
            "values": values,
            "tickCount": len(values) + 1,
            "labelExpr": "format(datum.value, '.6~r')",  # Vega's own rounds 0.25 to 0.3
        },
    }


def band_range(
    drawn: Iterable[float],
    low: Iterable[float],
    high: Iterable[float],
    *,
    reach: Callable[[float], float] = lambda ratio: ratio**0.35,
) -> tuple[float, float]:
    """The range of all that is drawn, and of as much of a band around it as fits.

    reach  from the ratio of that range, the factor by which the band may exceed it
    """
    values = [float(value) for value in drawn if value == value]
    least, most = min(values), max(values)
    factor = reach(most / least)
    bottom = min([least, *(float(value) for value in low if value == value)])
    top = max([most, *(float(value) for value in high if value == value)])
    return max(bottom, least / factor), min(top, most * factor)


def scale_color(name: str, values: pd.Series[float], *, beside: bool) -> Channel:
    """An ordered colour for N or a compute level, with a legend beside or below the view."""
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


# The key above a view: each mark in its style, with a text. It is drawn with marks, because Vega's
# legends cannot mix points, lines and areas.


@dataclass(frozen=True)
class KeyEntry:
    """One entry of a key: a mark in its style, and its text."""

    mark: Symbol
    style: str
    text: str


SYMBOLS: dict[str, Symbol] = {"point": "point", "line": "line", "rule": "line"}
SYMBOLS |= {"area": "area", "rect": "area", "tick": "tick"}


def entries_of(layers: Iterable[alt.Chart]) -> list[KeyEntry]:
    """The entries of layers that have a text and rows: points, then lines, areas, ticks.

    For marks coloured by a scale, keys have a style of their own: 'key-cell' for 'cell'.
    """
    entries = []
    for one in with_rows(layers):
        if isinstance(one.description, str):
            scaled = "key-" if one.encoding.color is not alt.Undefined else ""
            symbol = SYMBOLS[one.mark["type"]]
            entries.append(KeyEntry(symbol, f"{scaled}{one.mark['style']}", one.description))
    order = list(dict.fromkeys(SYMBOLS.values()))
    return sorted(dict.fromkeys(entries), key=lambda entry: order.index(entry.mark))


def key(entries: Sequence[KeyEntry], *, pixels: int) -> list[alt.Chart]:
    """Layers that draw a key above a view, in as many rows as it needs."""
    layers: list[alt.Chart] = []
    places = key_places([text_width(entry.text, 11) for entry in entries], pixels=pixels)
    n_rows = 1 + max((row for row, _ in places), default=0)
    for entry, (row, x) in zip(entries, places, strict=True):
        y = -12 - ROW * (n_rows - 1 - row)
        text = _still(mark("text", "note", text=entry.text), x=x + SYMBOL, y=y)
        layers += [_symbol(entry, x, y), text]
    return layers


def key_view(entries: Sequence[KeyEntry], *, pixels: int) -> alt.LayerChart:
    """A key as a view of its own, for a chart of several panels."""
    return view(key(entries, pixels=pixels), width=pixels, height=1)


def key_places(widths: Sequence[int], *, pixels: int) -> list[tuple[int, int]]:
    """(row, x) of each entry, from the widths of their texts, wrapped at ``pixels``."""
    places, row, x = [], 0, 0
    for width in widths:
        if x > 0 and x + SYMBOL + width > pixels:
            row, x = row + 1, 0
        places.append((row, x))
        x += SYMBOL + width + GAP
    return places


def _symbol(entry: KeyEntry, x: int, y: int) -> alt.Chart:
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
    """One mark at a place in pixels, independent of the scales."""
    values: Any = {channel: {"value": pixel} for channel, pixel in places.items()}
    data = alt.InlineData(values=[{}])
    return alt.Chart(data, mark=what, encoding=alt.FacetedEncoding(**values))
