"""The pair plot: the parameters of plausible laws against each other."""

from __future__ import annotations

import altair as alt

from lawsmith.charts.data.pairs import PairsData, pairs_data
from lawsmith.charts.draw.key import Entry, key_view
from lawsmith.charts.draw.parts import (
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
from lawsmith.charts.draw.text import title, unbroken
from lawsmith.charts.theme import LIGHT, themed
from lawsmith.grid import FloatArray
from lawsmith.laws.law import Law

HEIGHT, SPACING, LEFT = 130, 26, 46
SHARE = 0.99  # of the draws that an axis shows: a far one would press the others together


def pairs(
    law: Law, phi: FloatArray, draws: FloatArray, *, name: str = "", width: int = WIDE
) -> alt.VConcatChart:
    """Every two parameters of a law's draws (S, p) against each other, and the law as fitted."""
    data = pairs_data(law, phi, draws)
    heading = f"Parameters of plausible laws: {name}" if name else "Parameters of plausible laws"
    return themed(draw_pairs(data, f"{heading}, {unbroken(law.formula)}", width=width), LIGHT)


def draw_pairs(data: PairsData, heading: str, *, width: int) -> alt.VConcatChart:
    n_columns = _n_columns(len(data.pairs), width)
    inner = width - MARGIN
    pixels = (inner - SPACING * (n_columns - 1)) // n_columns - LEFT
    axes = {name: _axis(data, name, pixels) for name in data.names}
    panels = [_panel(data, pair, axes, pixels) for pair in data.pairs]
    strongest = max(data.pairs, key=lambda pair: abs(pair[2]))
    text = (
        f"{len(data.draws)} draws; strongest together: {data.names[strongest[0]]} and "
        f"{data.names[strongest[1]]}, correlation {strongest[2]:+.2f}".replace("-", "−")
    )
    words = title(heading, [text], pixels=inner - LEFT)
    entries = [Entry("point", "draw", "a plausible law"), Entry("point", "target", "as fitted")]
    above = key_view(entries, pixels=inner - LEFT)
    rows = alt.concat(*panels, columns=n_columns, spacing=SPACING)
    return alt.VConcatChart(vconcat=[above, rows], spacing=4, title=words)


def _n_columns(n_panels: int, width: int) -> int:
    """Three panels abreast on a page, five of many; one or two on a telephone."""
    if width < TWO_COLUMNS:
        return 2 if n_panels > 3 else 1
    return min(5 if n_panels > 6 else 3, n_panels)


def _axis(data: PairsData, name: str, pixels: int) -> Channel:
    values = data.draws[name]
    tail = (1 - SHARE) / 2
    at = float(data.fitted[name].iloc[0])
    low = min(float(values.quantile(tail)), at)
    high = max(float(values.quantile(1 - tail)), at)
    room = 0.05 * (high - low) or 0.05 * abs(at) or 0.05  # all alike where it lies at its bound
    return linear_axis(data.names[name], (low - room, high + room), n_ticks=max(pixels // 45, 3))


def _panel(
    data: PairsData, pair: tuple[str, str, float], axes: dict[str, Channel], pixels: int
) -> alt.LayerChart:
    across, up, _ = pair
    vertical = {**axes[up], "title": axes[up]["title"]}
    vertical["axis"] = {**axes[up]["axis"], "titlePadding": 4}
    where = {"x": field(across, axes[across]), "y": field(up, vertical)}
    names = {across: data.names[across], up: data.names[up]}
    layers = [
        layer(data.draws, mark("point", "draw", clip=True), **where),
        layer(data.fitted, mark("point", "target"), tooltip=names, **where),
    ]
    return view(layers, width=pixels, height=HEIGHT)
