"""The allocation chart: the best N, D and D/N against compute, and observed isoFLOP minima."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.answer import Answer
from lawsmith.answer.text import rests_on
from lawsmith.charts import draw
from lawsmith.charts.answer import Answered, answered_of
from lawsmith.charts.draw import BAND, LINE, WIDE, field, layer, log_axis, mark, span
from lawsmith.charts.isoflop import isoflops
from lawsmith.charts.runs import ChartUnavailable, short
from lawsmith.charts.ticks import padded
from lawsmith.formats import percent
from lawsmith.grid import FloatArray
from lawsmith.replay.replayed import Replayed

QUANTITIES = ("N", "D", "D/N")
N_LINE = 9  # computes at which the best N and D are worked out
HEIGHT, SPACING = 230, 24
LEFT = 62  # labels such as 300M take more room than losses


@dataclass(frozen=True)
class AllocationData:
    """What the allocation chart shows.

    lines   quantity, C, value, low, high (the interval), near_low, near_high (within 0.5 % of the
            best loss)
    minima  quantity, C, value, bracketed: the lowest point of each observed isoFLOP curve
    """

    lines: pd.DataFrame
    minima: pd.DataFrame


@lru_cache(maxsize=4)  # a chart is drawn at two widths
def allocation_data(answered: Answered) -> AllocationData:
    """The allocation chart's numbers; ChartUnavailable where the runs have no N and D."""
    answer = answered.answer
    if answer.surface.scale_names != ("N", "D"):
        raise ChartUnavailable("the runs have no N and D to divide compute between")
    return AllocationData(_lines(answer, _computes(answer)), _minima(answered))


def _computes(answer: Answer) -> FloatArray:
    """Over the upper half of the runs' decades, and on to the farthest target."""
    targets = [f.compute for f in answer.forecasts if not f.target.sized]
    least = answer.largest / 1e2
    return np.geomspace(least, max([10 * answer.largest, *targets[:1]]), N_LINE)


def _lines(answer: Answer, computes: Sequence[float] | FloatArray) -> pd.DataFrame:
    rows = []
    for C in map(float, computes):
        scales = answer.surface.best(C, level=answer.level).where.scales
        rows += [(name, C, *scales[name]) for name in QUANTITIES]
    names = ["quantity", "C", "value", "low", "high", "near_low", "near_high"]
    frame = pd.DataFrame(rows, columns=names)
    return frame.assign(**{name: short(frame[name]) for name in names[1:]})


def _minima(answered: Answered) -> pd.DataFrame:
    """Observed minima in long form; none where no isoFLOP curve can be drawn."""
    loss = answered.loss
    try:
        found = isoflops(answered.grid, np.flatnonzero(np.isfinite(loss)), loss).minima
    except ChartUnavailable:
        return pd.DataFrame({"quantity": [], "C": [], "value": [], "bracketed": []})
    values = {"N": found["N"], "D": found["D"], "D/N": found["D"] / found["N"]}
    frames = [
        found[["C", "bracketed"]].assign(quantity=name, value=values[name]) for name in QUANTITIES
    ]
    return pd.concat(frames, ignore_index=True)


def allocation(found: Answered | Answer | Replayed, *, width: int = WIDE) -> alt.VConcatChart:
    """The best N, D and D/N against compute with what is as good, and observed isoFLOP minima."""
    answered = answered_of(found)
    data = allocation_data(answered)
    n_columns = 3 if width >= draw.TWO_COLUMNS else 1
    panels = draw.panels_of(width, n_columns, spacing=SPACING, left=LEFT)
    return panels.chart(
        [_panel(data, name, panels.width, answered.answer.level) for name in QUANTITIES],
        f"How to divide compute: {answered.name}",
        [f"from {rests_on(answered.answer)}"],
        below=0,
    )


def _panel(data: AllocationData, name: str, pixels: int, level: float) -> alt.LayerChart:
    lines = data.lines[data.lines["quantity"] == name].drop(columns="quantity")
    minima = data.minima[data.minima["quantity"] == name].drop(columns="quantity")
    x = field("C", log_axis("C", padded([*lines["C"], *minima["C"]]), pixels=pixels))
    y = log_axis(name, _domain(lines, minima), pixels=HEIGHT, gap=26)
    near = "within 0.5% of the best loss"
    dashed = mark("line", "series-1-dashed", clip=True)
    column = name.replace("/", "_per_")
    layers = [
        layer(lines, BAND, f"{percent(level)} interval", x=x, **span(y)),
        layer(lines, LINE, "best", x=x, y=field("value", y)),
        *[layer(lines, dashed, near, x=x, y=field(end, y)) for end in ("near_low", "near_high")],
        *draw.layers_by(
            minima.rename(columns={"value": column}),
            "bracketed",
            {
                True: (mark("point", "observed"), "lowest of an isoFLOP curve"),
                False: (mark("point", "observed-open"), "lowest, at an end of its curve"),
            },
            tooltip={"C": "C", column: name},
            x=x,
            y=field(column, y),
        ),
    ]
    return draw.view(layers, width=pixels, height=HEIGHT)


def _domain(lines: pd.DataFrame, minima: pd.DataFrame) -> tuple[float, float]:
    """Lines and minima, and of the band what does not dwarf them."""
    low = [*lines["low"], *lines["near_low"]]
    high = [*lines["high"], *lines["near_high"]]
    drawn = [*lines["value"], *minima["value"]]
    return padded(draw.band_range(drawn, low, high, room=lambda ratio: max(ratio**0.5, 4.0)))
