"""The residual chart: how far each point lies from the law, and what hangs on it."""

from __future__ import annotations

import altair as alt
import pandas as pd

from lawsmith.analysis import Analysis
from lawsmith.charts.data.residuals import ResidualsData, residuals_data
from lawsmith.charts.data.runs import FITTED, HELD_OUT
from lawsmith.charts.draw import titles
from lawsmith.charts.draw.key import Entry, key
from lawsmith.charts.draw.parts import (
    WIDE,
    Channel,
    field,
    layer,
    linear_axis,
    log_axis,
    mark,
    view,
    view_size,
)
from lawsmith.charts.draw.text import title
from lawsmith.charts.draw.ticks import padded
from lawsmith.charts.theme import LIGHT, themed
from lawsmith.formats import number

HEIGHT = 180
MANY = 60  # points beyond which they are drawn smaller


def residuals(analysis: Analysis, *, width: int = WIDE) -> alt.VConcatChart:
    """Residuals and leave-one-out influence against compute, one above the other."""
    return themed(draw_residuals(residuals_data(analysis), analysis, width=width), LIGHT)


def draw_residuals(data: ResidualsData, analysis: Analysis, *, width: int) -> alt.VConcatChart:
    pixels, _ = view_size(width)
    x = field("x", log_axis(data.x, padded([*data.points["x"]]), pixels=pixels))
    panels = [_influence_panel(data, x, pixels)] if data.has_influence else []
    above = {**x, "title": None} if panels else x  # said once, under the lower panel
    panels.insert(0, _residual_panel(data, analysis, above, pixels))
    heading = titles.heading("Residuals and influence", analysis)
    words = title(heading, _subtitle(data, analysis), pixels=pixels)
    return alt.VConcatChart(vconcat=panels, spacing=16, title=words)


def _residual_panel(
    data: ResidualsData, analysis: Analysis, x: Channel, pixels: int
) -> alt.LayerChart:
    y = _signed_axis("Loss above the law (%)", data.points["residual"])
    fitted = "fitted-many" if len(data.points) > MANY else "fitted"
    names = _names(data) | {"loss": "loss", "predicted": "law", "residual": "residual (%)"}
    layers, entries = [_zero(y)], []
    for kind, style, text in ((FITTED, fitted, "fitted"), (HELD_OUT, "held-out", "held out")):
        frame = data.points[data.points["kind"] == kind].drop(columns="kind")
        if not frame.empty:
            where = {"x": x, "y": field("residual", y)}
            layers.append(layer(frame, mark("point", style), tooltip=names, **where))
            entries.append(Entry("point", style, f"{text}: {titles.point_name(analysis)}"))
    layers += key(entries, pixels=pixels)
    return view(layers, width=pixels, height=HEIGHT)


def _influence_panel(data: ResidualsData, x: Channel, pixels: int) -> alt.LayerChart:
    frame = data.points[data.points["kind"] == FITTED].drop(columns="kind")
    error, most = data.standard_error, float(frame["change"].abs().max())
    # A standard error far above every change would press them flat: then it fills the panel.
    y = _signed_axis("Influence (%)", pd.Series([most, min(error, 2 * most)]))
    change = field("change", y)
    band = pd.DataFrame({"change": [-error], "high": [error]})
    names = _names(data) | {"change": "change (%)"}
    layers = [
        layer(band, mark("rect", "band", clip=True), y=change, y2=field("high")),
        _zero(y),
        layer(frame, mark("rule", "stem"), x=x, y=change, y2={"datum": 0}),
        layer(frame, mark("point", "fitted-many"), tooltip=names, x=x, y=change),
    ]
    entries = [
        Entry("point", "fitted-many", f"change at {data.target} when left out"),
        Entry("area", "band", f"one standard error ({number(error, 2)}%)"),
    ]
    return view([*layers, *key(entries, pixels=pixels)], width=pixels, height=HEIGHT)


def _zero(y: Channel) -> alt.Chart:
    return layer(pd.DataFrame({"zero": [0.0]}), mark("rule", "reference"), y=field("zero", y))


def _signed_axis(text: str, values: pd.Series[float]) -> Channel:
    """An axis about zero, symmetric so that signs compare by eye."""
    top = 1.1 * float(values.abs().max()) or 1.0
    return linear_axis(text, (-top, top), n_ticks=7)


def _names(data: ResidualsData) -> dict[str, str]:
    return {name: name for name in ("run", "N", "D", "C") if name in data.points}


def _subtitle(data: ResidualsData, analysis: Analysis) -> list[str]:
    lines = [titles.basis(analysis)]
    if not data.has_influence:
        lines.append("influence is not known: too few or too many points to leave each out")
    return lines
