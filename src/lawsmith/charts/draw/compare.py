"""The comparison chart: each law's error on held-out compute, best first."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from lawsmith.analysis import Comparison
from lawsmith.charts.data.compare import CompareData, compare_data
from lawsmith.charts.draw.parts import MARGIN, WIDE, field, layer, linear_axis, mark, view
from lawsmith.charts.draw.text import text_width, title
from lawsmith.charts.theme import LIGHT, themed

TITLE = "Laws compared on held-out compute"
ROW = 26


def compare(
    comparisons: Sequence[Comparison], *, heading: str = TITLE, width: int = WIDE
) -> alt.LayerChart:
    """Held-out error of each law, as a share of the loss, best first."""
    return themed(draw_compare(compare_data(comparisons), heading, width=width), LIGHT)


def draw_compare(data: CompareData, heading: str, *, width: int) -> alt.LayerChart:
    scores = data.scores.assign(text=score_texts(data))
    left = max(text_width(name, 11) for name in scores["law"]) + 14
    pixels = width - MARGIN - left
    room = max(text_width(text, 11) for text in scores["text"]) + 12  # beside the longest bar
    top = float(scores["percent"].max()) * pixels / max(pixels - room, 60)
    axis = linear_axis("Held-out RMSE (% of loss)", (0.0, top), n_ticks=pixels // 50)
    laws = {"type": "nominal", "sort": list(scores["law"]), "title": None, "axis": {"grid": False}}
    where = {"x": field("percent", axis), "y": field("law", laws)}
    names = {"law": "law", "formula": "formula", "rmse": "RMSE", "percent": "RMSE (%)"}
    names |= {"n_points": "points fitted"}
    bar, note = mark("bar", "score", height=14), mark("text", "note", dx=6)
    layers = [
        layer(scores, bar, tooltip=names, **where),
        layer(scores, note, text={"field": "text", "type": "nominal"}, **where),
    ]
    words = title(heading, _subtitle(data), pixels=pixels)
    return view(layers, width=pixels, height=ROW * len(scores), title=words)


def score_texts(data: CompareData) -> list[str]:
    """'1.20% (RMSE 0.0250)' of each law."""
    pairs = data.scores[["percent", "rmse"]].to_numpy()
    return [f"{percent:#.3g}% (RMSE {rmse:#.3g})" for percent, rmse in pairs]


def _subtitle(data: CompareData) -> list[str]:
    n = data.n_judged
    lines = [f"judged on {n} held-out frontier point{'s' if n != 1 else ''}, best first"]
    if data.left_out:
        lines.append("not fitted: " + ", ".join(name for name, _ in data.left_out))
    return lines
