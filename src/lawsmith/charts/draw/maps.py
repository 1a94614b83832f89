"""The hyperparameter maps: excess loss over two hyperparameters, panels by growing compute."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.analysis import HyperparameterLaw
from lawsmith.charts.data.maps import MapPanel, MapsData, edges, maps_data
from lawsmith.charts.draw.key import Entry, key_view
from lawsmith.charts.draw.parts import (
    LEGEND,
    MARGIN,
    TWO_COLUMNS,
    WIDE,
    Channel,
    field,
    layer,
    log_axis,
    mark,
    view,
)
from lawsmith.charts.draw.text import title
from lawsmith.charts.theme import LIGHT, themed
from lawsmith.formats import count, flops
from lawsmith.grid import BoolArray, FloatArray, Grid

HEIGHT, SPACING, LEFT = 150, 22, 52
GAP = 42  # pixels between ticks, which stand at values that were tried
SMALL, LARGE = ".2~r", ".4~r"  # there is no room for 0.0004125; a batch of 128 is not 130


def maps(
    grid: Grid,
    loss: FloatArray,
    run: BoolArray,
    laws: Sequence[HyperparameterLaw] = (),
    *,
    name: str = "",
    width: int = WIDE,
) -> alt.VConcatChart:
    """Loss over two hyperparameters at growing scale; see `lawsmith.charts.data.maps`."""
    data = maps_data(grid, loss, run, laws)
    return themed(draw_maps(data, grid, name, width=width), LIGHT)


def draw_maps(data: MapsData, grid: Grid, name: str, *, width: int) -> alt.VConcatChart:
    beside = width >= TWO_COLUMNS
    n_columns = min(3 if beside else 1, len(data.panels))
    inner = width - MARGIN - (LEGEND + 12 if beside else 0)
    pixels = (inner - SPACING * (n_columns - 1)) // n_columns - LEFT
    axes = {
        key: _axis(axis, grid.numbers(axis), size)
        for key, axis, size in (("a", data.across, pixels), ("b", data.up, HEIGHT))
    }
    last_row = (len(data.panels) - 1) // n_columns
    panels = [
        _panel(panel, data, _titled(axes, i, n_columns, last_row), pixels, beside=beside)
        for i, panel in enumerate(data.panels)
    ]
    what = f"Loss over {data.across} and {data.up}"
    words = title(f"{what}: {name}" if name else what, _subtitle(data), pixels=inner - LEFT)
    above = key_view(key_entries(data), pixels=inner - LEFT)
    rows = alt.concat(*panels, columns=n_columns, spacing=SPACING)
    return alt.VConcatChart(vconcat=[above, rows], spacing=4, title=words)


def _axis(name: str, values: FloatArray, pixels: int) -> Channel:
    low, high = edges(values)
    axis = log_axis(name, (float(low[0]), float(high[-1])), pixels=pixels)
    tried: FloatArray = np.unique(values)
    step = -(-len(tried) // max(pixels // GAP, 1))
    digits = f"datum.value < 1 ? '{SMALL}' : '{LARGE}'"
    labels = {"values": tried[::step].tolist(), "labelExpr": f"format(datum.value, {digits})"}
    return {**axis, "axis": {**axis["axis"], **labels}}


def _titled(axes: dict[str, Channel], i: int, n_columns: int, last_row: int) -> dict[str, Channel]:
    """Titles stand below the last row and beside the first column only."""
    a = axes["a"] if i // n_columns == last_row else {**axes["a"], "title": None}
    b = axes["b"] if i % n_columns == 0 else {**axes["b"], "title": None}
    return {"a": a, "b": b}


def _panel(
    panel: MapPanel, data: MapsData, axes: dict[str, Channel], pixels: int, *, beside: bool
) -> alt.LayerChart:
    cells = panel.cells.drop(columns="best")
    names = {"a": data.across, "b": data.up, "loss": "loss", "excess": "above best (%)"}
    where = {"x": field("a", axes["a"]), "y": field("b", axes["b"])}
    ends = {"x": field("a_low", axes["a"]), "x2": field("a_high")}
    ends |= {"y": field("b_low", axes["b"]), "y2": field("b_high")}
    boxes = cells.drop(columns="run")
    color = _color(data.top, beside=beside)
    layers = [layer(boxes, mark("rect", "map-cell"), tooltip=names, color=color, **ends)]
    if data.fantasized and panel.cells["run"].any():
        dots = panel.cells.loc[panel.cells["run"], ["a", "b"]]
        layers.append(layer(dots, mark("point", "map-run"), **where))
    if len(data.drift) > 1:
        drift = data.drift[["a", "b"]]
        layers.append(layer(drift, mark("line", "map-drift", clip=True), order=_order(), **where))
    if panel.optimum is not None:
        frame = pd.DataFrame([panel.optimum], columns=["a", "b"])
        layers.append(layer(frame, mark("point", "map-law", clip=True), **where))
    best = panel.cells.loc[panel.cells["best"], ["a", "b"]]
    layers.append(layer(best, mark("point", "map-best"), **where))
    head = f"{flops(panel.C, 2)} FLOPs: N {count(panel.N)}, D {count(panel.D)}"
    # A text and not a title: Vega lifts titles clear of tick labels, each panel's by its own.
    text = mark("text", "note-ink", text=head)
    layers.append(layer(pd.DataFrame({"x": [0]}), text, x={"value": 0}, y={"value": -10}))
    return view(layers, width=pixels, height=HEIGHT)


def _order() -> Channel:
    """Points joined as they come, by compute, and not from left to right."""
    return {"value": 0}


def _color(top: float, *, beside: bool) -> Channel:
    values = [0, 0.1 * top, 0.2 * top, 0.4 * top, top]
    legend = {
        "title": "% above best",
        "orient": "right" if beside else "bottom",
        "direction": "vertical" if beside else "horizontal",
        "values": values,
        "labelExpr": f"datum.value >= {top:g} ? '≥ {top:g}' : format(datum.value, '~g')",
    }
    scale = {"type": "sqrt", "domain": [0, top], "clamp": True, "reverse": True}
    return {"field": "excess", "type": "quantitative", "scale": scale, "legend": legend}


def key_entries(data: MapsData) -> list[Entry]:
    """What the maps' marks mean, only those that they have."""
    law = any(panel.optimum is not None for panel in data.panels)
    entries = {
        Entry("point", "map-best", "best of its cell"): True,
        Entry("point", "map-law", "best by λ* = c·N^a·D^b"): law,
        Entry("line", "map-drift", "its trend with compute"): len(data.drift) > 1,
        Entry("point", "map-run", "run; other squares are fantasized"): data.fantasized,
    }
    return [entry for entry, shown in entries.items() if shown]


def _subtitle(data: MapsData) -> list[str]:
    shown, n = len(data.panels), data.n_cells
    which = f"{shown} of {n}" if shown < n else f"{n}"
    text = f"{which} (N, D) cells{', of those best for their compute' if data.optimal else ''}"
    most = max(float(panel.cells["excess"].max()) for panel in data.panels)
    worse = f"; the worst lies {most:.3g} % above" if most > data.top else ""
    return [f"{text}; further hyperparameters at their best{worse}"]
