"""The standings chart: average ranks of methods in every metric, a dot for each budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from lawsmith.charts.draw import (
    MARGIN,
    TWO_COLUMNS,
    WIDE,
    Channel,
    field,
    layer,
    linear_axis,
    mark,
    view,
)
from lawsmith.charts.text import text_width, title
from lawsmith.charts.theme import LIGHT, themed
from lawsmith.grid import FloatArray
from lawsmith_paper.charts.data.standings import StandingsData, StandingsPanel, standings_data

ROW, SPACING = 20, 26
THREE_COLUMNS = 900


def standings(
    methods: Sequence[str],
    budgets: Sequence[float],
    ranks: Mapping[str, FloatArray],
    *,
    heading: str,
    about: str = "",
    width: int = WIDE,
) -> alt.VConcatChart:
    """Ranks (methods, budgets) of every metric; 1 is best. ``about`` stands below the heading."""
    data = standings_data(methods, budgets, ranks)
    return themed(draw_standings(data, heading, about, width=width), LIGHT)


def draw_standings(
    data: StandingsData, heading: str, about: str, *, width: int
) -> alt.VConcatChart:
    n_columns = 3 if width >= THREE_COLUMNS else 2 if width >= TWO_COLUMNS else 1
    n_columns = min(n_columns, len(data.panels))
    names = max(text_width(name, 11) for name in data.methods) + 14
    inner = width - MARGIN
    pixels = (inner - names - SPACING * (n_columns - 1)) // n_columns
    last_row = (len(data.panels) - 1) // n_columns
    panels = [
        _panel(panel, data, pixels, named=i % n_columns == 0, titled=i // n_columns == last_row)
        for i, panel in enumerate(data.panels)
    ]
    words = title(heading, [about] if about else [], pixels=inner - names)
    rows = alt.concat(*panels, columns=n_columns, spacing={"row": 34, "column": SPACING})
    return alt.VConcatChart(vconcat=[rows], title=words)


def _panel(
    panel: StandingsPanel, data: StandingsData, pixels: int, *, named: bool, titled: bool
) -> alt.LayerChart:
    n = len(data.methods)
    across = linear_axis("Average rank" if titled else "", (0.8, n + 0.2), n_ticks=n)
    if not titled:
        across["title"] = None
    y = field("method", _methods_axis(data.methods, named=named))
    tips = {"method": "method", "budget": "budget (%)", "rank": "average rank"}
    span = layer(
        panel.spans, mark("rule", "reference"), x=field("best", across), x2=field("worst"), y=y
    )
    dots = layer(
        panel.cells,
        mark("point", "cell"),
        tooltip=tips,
        x=field("rank", across),
        y=y,
        color=_color(panel.cells["budget"]),
    )
    # A text and not a title: Vega lifts titles clear of tick labels, each panel's by its own.
    head = mark("text", "panel", text=panel.title)
    words = layer(pd.DataFrame({"x": [0]}), head, x={"value": 0}, y={"value": -13})
    return view([span, dots, words], width=pixels, height=ROW * n)


def _methods_axis(methods: Sequence[str], *, named: bool) -> Channel:
    axis: dict[str, Any] = {"grid": True, "labelLimit": 0, "ticks": False}
    return {
        "type": "nominal",
        "sort": list(methods),
        "title": None,
        "axis": axis | ({} if named else {"labels": False}),
    }


def _color(budgets: pd.Series[float]) -> Channel:
    """Budgets from small to large, named below all panels."""
    legend = {
        "title": "Budget, % of the pool's compute",
        "orient": "bottom",
        "direction": "horizontal",
        "symbolType": "circle",
        "symbolSize": 60,
        "labelExpr": "format(datum.value, '~g')",
    }
    ordered = {"type": "ordinal", "sort": sorted(budgets.unique())}
    return {"field": "budget", "legend": legend, **ordered}
