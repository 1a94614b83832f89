"""The comparison chart: each law's error on held-out compute, best first."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from lawsmith.analysis import Comparison
from lawsmith.charts.data.compare import CompareData, compare_data
from lawsmith.charts.draw import parts
from lawsmith.charts.draw.ticks import linear_ticks
from lawsmith.charts.theme import LIGHT, themed

TITLE = "Laws compared on held-out compute"


def compare(
    comparisons: Sequence[Comparison], *, title: str = TITLE, width: int = parts.WIDE
) -> alt.LayerChart:
    """Held-out error of each law, as a share of the loss, best first."""
    return themed(draw_compare(compare_data(comparisons), title, width=width), LIGHT)


def draw_compare(data: CompareData, title: str, *, width: int) -> alt.LayerChart:
    pixels = width - parts.MARGIN - 90
    scores = data.scores.assign(
        text=[
            f"{percent:#.3g}% (RMSE {rmse:#.3g})"
            for percent, rmse in data.scores[["percent", "rmse"]].to_numpy()
        ]
    )
    # Room for the label of the longest bar.
    top = scores["percent"].max() * (1 + 135 / max(pixels - 135, 100))
    y = alt.Y("law:N", sort=list(scores["law"]), title=None, axis={"grid": False})
    x = alt.X(
        "percent:Q",
        title="Held-out RMSE (% of loss)",
        scale={"domain": [0, top], "nice": False},
        axis={"values": linear_ticks(0, top, n_max=pixels // 70), "tickCount": 50},
    )
    base = alt.Chart(scores).encode(y=y, x=x)
    names = {
        "law": "law",
        "formula": "formula",
        "rmse": "RMSE",
        "percent": "RMSE (%)",
        "n_points": "fitted to",
    }
    bars = parts.tooltip(base.mark_bar(style="score", height=14), names)
    texts = base.mark_text(style="note", dx=6).encode(text="text")
    return parts.view(
        [bars, texts],
        width=pixels,
        height=26 * len(scores),
        title=parts.title(title, _subtitle(data), pixels=pixels + 60),
    )


def _subtitle(data: CompareData) -> list[str]:
    n = data.n_judged
    lines = [f"judged on {n} held-out frontier point{'s' if n != 1 else ''}, best first"]
    if data.left_out:
        lines.append("not fitted: " + ", ".join(name for name, _ in data.left_out))
    return lines
