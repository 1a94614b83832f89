"""The comparison chart: each law's error on held-out compute, best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import pandas as pd

from lawsmith.analysis import Comparison
from lawsmith.charts import draw
from lawsmith.charts.draw import WIDE, field, layer, mark
from lawsmith.charts.runs import ChartUnavailable
from lawsmith.charts.text import text_width
from lawsmith.charts.text import title as title_of
from lawsmith.charts.theme import LIGHT, themed

TITLE = "Laws compared on held-out compute"
ROW = 26


@dataclass(frozen=True)
class CompareData:
    """What the comparison chart shows.

    scores    law, formula, rmse, percent (RMSE relative to the loss), n_points; best first
    n_judged  held-out frontier points that all laws are judged on
    left_out  law and reason, of those that could not be fitted
    """

    scores: pd.DataFrame
    n_judged: int
    left_out: tuple[tuple[str, str], ...]


def compare_data(comparisons: Sequence[Comparison]) -> CompareData:
    """The comparison chart's numbers, in the order given; ChartUnavailable if none was fitted."""
    rows, left_out, n_judged = [], [], 0
    for c in comparisons:
        if c.fit is None or c.score is None:
            left_out.append((c.law.name, c.reason))
            continue
        n_judged = len(c.score.loss)
        percent = 100 * c.score.rms_error
        rows.append((c.law.name, c.law.formula, c.score.rmse, percent, c.fit.n_points))
    if not rows:
        raise ChartUnavailable("no law could be fitted and judged on held-out compute")
    scores = pd.DataFrame(rows, columns=["law", "formula", "rmse", "percent", "n_points"])
    return CompareData(scores, n_judged, tuple(left_out))


def compare(
    comparisons: Sequence[Comparison], *, heading: str = TITLE, width: int = WIDE
) -> alt.LayerChart:
    """Held-out error of each law, as a share of the loss, best first."""
    data = compare_data(comparisons)
    scores = data.scores.assign(text=score_texts(data))
    left = max(text_width(name, 11) for name in scores["law"]) + 14
    pixels = width - draw.MARGIN - left
    room = max(text_width(text, 11) for text in scores["text"]) + 12  # beside the longest bar
    top = float(scores["percent"].max()) * pixels / max(pixels - room, 60)
    axis = draw.linear_axis("Held-out RMSE (% of loss)", (0.0, top), n_ticks=pixels // 50)
    laws = {"type": "nominal", "sort": list(scores["law"]), "title": None, "axis": {"grid": False}}
    where = {"x": field("percent", axis), "y": field("law", laws)}
    names = {"law": "law", "formula": "formula", "rmse": "RMSE", "percent": "RMSE (%)"}
    names |= {"n_points": "points fitted"}
    bar, note = mark("bar", "score", height=14), mark("text", "note", dx=6)
    layers = [
        layer(scores, bar, tooltip=names, **where),
        layer(scores, note, text={"field": "text", "type": "nominal"}, **where),
    ]
    words = title_of(heading, _subtitle(data), pixels=pixels)
    height = ROW * len(scores)
    return themed(draw.view(layers, width=pixels, height=height, title=words), LIGHT)


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
