"""The residual chart: how far each point lies from the law, and what hangs on it."""

from __future__ import annotations

import altair as alt
import pandas as pd

from lawsmith.analysis import Analysis
from lawsmith.charts.data.residuals import ResidualsData, residuals_data
from lawsmith.charts.data.runs import FITTED, HELD_OUT
from lawsmith.charts.draw import parts, titles
from lawsmith.charts.draw.parts import KeyEntry
from lawsmith.charts.draw.ticks import linear_ticks, padded
from lawsmith.charts.theme import LIGHT, themed
from lawsmith.formats import number

HEIGHT = 180
MANY = 60  # points beyond which they are drawn smaller


def residuals(analysis: Analysis, *, width: int = parts.WIDE) -> alt.VConcatChart:
    """Residuals and leave-one-out influence against compute, one above the other."""
    data = residuals_data(analysis)
    return themed(draw_residuals(data, analysis, width=width), LIGHT)


def draw_residuals(data: ResidualsData, analysis: Analysis, *, width: int) -> alt.VConcatChart:
    pixels, _ = parts.view_size(width)
    x = parts.log_axis(data.x, padded([*data.points["x"]]), pixels=pixels)
    panels = []
    if data.has_influence:
        panels.append(_influence_panel(data, alt.X("x", **x), pixels))
        x = x | {"title": None}  # said once, under the lower panel
    panels.insert(0, _residual_panel(data, analysis, alt.X("x", **x), pixels))
    heading = titles.heading("Residuals and influence", analysis)
    return alt.vconcat(*panels, spacing=16).properties(
        title=parts.title(heading, _subtitle(data, analysis), pixels=pixels)
    )


def _residual_panel(
    data: ResidualsData, analysis: Analysis, x: alt.X, pixels: int
) -> alt.LayerChart:
    y = _signed_axis("residual", "Loss above the law (%)", data.points["residual"])
    fitted = "fitted-many" if len(data.points) > MANY else "fitted"
    names = _names(data) | {"loss": "loss", "predicted": "law", "residual": "residual (%)"}
    layers, entries = [_zero()], []
    for kind, style, text in ((FITTED, fitted, "fitted"), (HELD_OUT, "held-out", "held out")):
        frame = data.points[data.points["kind"] == kind].drop(columns="kind")
        if not frame.empty:
            points = alt.Chart(frame).mark_point(style=style).encode(x=x, y=y)
            layers.append(parts.tooltip(points, names))
            entries.append(KeyEntry("point", style, f"{text}: {titles.point_name(analysis)}"))
    layers += parts.key(entries, pixels=pixels)
    return parts.view(layers, width=pixels, height=HEIGHT)


def _influence_panel(data: ResidualsData, x: alt.X, pixels: int) -> alt.LayerChart:
    frame = data.points[data.points["kind"] == FITTED].drop(columns="kind")
    error = data.standard_error
    most = float(frame["change"].abs().max())
    # A standard error far above every change would press them flat: then it fills the panel.
    y = _signed_axis("change", "Influence (%)", pd.Series([most, min(error, 2 * most)]))
    base = alt.Chart(frame).encode(x=x, y=y)
    heads = parts.tooltip(
        base.mark_point(style="fitted-many"), _names(data) | {"change": "change (%)"}
    )
    band = alt.Chart(pd.DataFrame({"change": [-error], "high": [error]}))
    layers = [
        band.mark_rect(style="band", clip=True).encode(y=y, y2=alt.Y2("high")),
        _zero(),
        base.mark_rule(style="stem").encode(y2=alt.Y2Datum(0)),
        heads,
    ]
    where = f"change at {data.target} when left out"
    entries = [
        KeyEntry("point", "fitted-many", where),
        KeyEntry("area", "band", f"one standard error ({number(error, 2)}%)"),
    ]
    return parts.view([*layers, *parts.key(entries, pixels=pixels)], width=pixels, height=HEIGHT)


def _zero() -> alt.Chart:
    rule: alt.Chart = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(style="reference")
    return rule.encode(y=alt.Y("zero:Q"))


def _signed_axis(field: str, title: str, values: pd.Series[float]) -> alt.Y:
    """An axis about zero, symmetric so that signs compare by eye."""
    top = 1.1 * float(values.abs().max()) or 1.0
    scale = {"domain": [-top, top], "nice": False}
    axis = {"values": linear_ticks(-top, top, n_max=7), "tickCount": 9}
    return alt.Y(field, type="quantitative", title=title, scale=scale, axis=axis)


def _names(data: ResidualsData) -> dict[str, str]:
    return {name: name for name in ("N", "D", "C") if name in data.points}


def _subtitle(data: ResidualsData, analysis: Analysis) -> list[str]:
    lines = [titles.basis(analysis)]
    if not data.has_influence:
        lines.append("influence is not known: too few or too many points to leave each out")
    return lines
