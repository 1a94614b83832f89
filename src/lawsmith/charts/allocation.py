"""The best N, D and D/N, or hyperparameters, by compute, with intervals and the best runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.answer import Answer
from lawsmith.answer.text import rests_on
from lawsmith.charts import draw, runs
from lawsmith.charts.answer import AnswerWithRuns, as_answer_with_runs
from lawsmith.charts.draw import BAND, LINE, WIDE, field, layer, log_axis, mark, span
from lawsmith.charts.runs import ChartUnavailable, rounded
from lawsmith.charts.ticks import padded
from lawsmith.formats import percent
from lawsmith.grid import FloatArray
from lawsmith.replay.replayed import Replayed

SIZES = ("N", "D", "D/N")
N_LINE = 9  # computes at which the best values are computed
HEIGHT = 230


@dataclass(frozen=True)
class BestData:
    """The numbers of the charts, for N, D, D/N and each hyperparameter on a log scale.

    lines   quantity, C, value, low, high (the interval), near_low, near_high (within 0.5 % of the
            best loss)
    runs    `run_frame`, quantity, value: the best runs at the same computes
    """

    lines: pd.DataFrame
    runs: pd.DataFrame


@lru_cache(maxsize=4)  # two charts, each drawn at two widths
def best_data(answered: AnswerWithRuns) -> BestData:
    """The numbers of both charts, computed once."""
    answer = answered.answer
    axes = answer.surface.frame.numeric
    quantities = (*SIZES, *(axis.name for axis in axes if axis.kind == "log"))
    rows = []
    computes = _computes(answer)
    for C in computes.tolist():
        best = answer.surface.best(C, level=answer.level)
        ranges = {**best.scales, **best.hp}
        rows += [(name, C, *ranges[name]) for name in quantities if name in ranges]
    names = ["quantity", "C", "value", "low", "high", "near_low", "near_high"]
    lines = pd.DataFrame(rows, columns=names)
    lines = lines.assign(**{name: rounded(lines[name]) for name in names[1:]})
    return BestData(lines, _runs(answered, [*lines["quantity"].unique()], computes[0]))


def _computes(answer: Answer) -> FloatArray:
    """From two decades below the largest run to the first target, or a decade beyond the runs."""
    targets = [f.compute for f in answer.forecasts if not f.target.sized]
    least = answer.largest / 1e2
    return np.geomspace(least, max([10 * answer.largest, *targets[:1]]), N_LINE)


def _runs(answered: AnswerWithRuns, names: Sequence[str], least: float) -> pd.DataFrame:
    grid, best = answered.grid, answered.best
    best = best[grid.C[best] >= least * (1 - 1e-9)]
    shown = runs.run_frame(grid, best, answered.loss, answered.run_names)
    values = {name: grid.numbers(name)[best] for name in names if name in grid.names}
    if "D/N" in names:
        values["D/N"] = grid.D[best] / grid.N[best]
    parts = [shown.assign(quantity=name, value=rounded(v)) for name, v in values.items()]
    return pd.concat(parts or [shown.assign(quantity="", value=np.nan)], ignore_index=True)


def allocation(
    result: AnswerWithRuns | Answer | Replayed, *, width: int = WIDE
) -> alt.VConcatChart:
    """The best N, D and D/N by compute with what is about as good, and the best runs."""
    answered = as_answer_with_runs(result)
    if answered.answer.surface.scale_names != ("N", "D"):
        raise ChartUnavailable("the runs have no N and D to divide compute between")
    return _draw(answered, SIZES, f"How to divide compute: {answered.name}", width)


def hyperparameters(
    result: AnswerWithRuns | Answer | Replayed, *, width: int = WIDE
) -> alt.VConcatChart:
    """The best hyperparameters by compute with what is about as good, and the best runs."""
    answered = as_answer_with_runs(result)
    names = [name for name in best_data(answered).lines["quantity"].unique() if name not in SIZES]
    if not names:
        raise ChartUnavailable("no hyperparameter on a log scale varies at given N and D")
    return _draw(answered, names, f"Best hyperparameters by compute: {answered.name}", width)


def _draw(
    answered: AnswerWithRuns, names: Sequence[str], heading: str, width: int
) -> alt.VConcatChart:
    view = draw.panels_of(width, len(names), height=HEIGHT)
    panels = [_panel(answered, name, view.width) for name in names]
    return view.side_by_side(panels, heading, [f"from {rests_on(answered.answer)}"])


def _panel(answered: AnswerWithRuns, name: str, pixels: int) -> list[alt.Chart]:
    data = best_data(answered)
    lines = data.lines[data.lines["quantity"] == name].drop(columns="quantity")
    best = data.runs[data.runs["quantity"] == name].drop(columns="quantity")
    x = field("C", log_axis("C", padded([*lines["C"], *best["C"]]), pixels=pixels))
    y = log_axis(name, _domain(lines, best), pixels=HEIGHT, gap=26)
    near, dashed = "within 0.5% of the best loss", mark("line", "series-1-dashed", clip=True)
    names, value = runs.tooltip_names(answered.grid), field("value", y)
    names |= {"value": name} if name == "D/N" else {}  # not a column of the runs
    return [
        layer(lines, BAND, f"{percent(answered.answer.level)} interval", x=x, **span(y)),
        layer(lines, LINE, "best", x=x, y=value),
        *[layer(lines, dashed, near, x=x, y=field(end, y)) for end in ("near_low", "near_high")],
        layer(best, mark("point", "fitted-many"), "best run so far", tooltip=names, x=x, y=value),
    ]


def _domain(lines: pd.DataFrame, runs: pd.DataFrame) -> tuple[float, float]:
    """The range of lines and runs, and of as much of the band as fits."""
    low = [*lines["low"], *lines["near_low"]]
    high = [*lines["high"], *lines["near_high"]]
    drawn = [*lines["value"], *runs["value"]]
    return padded(draw.band_range(drawn, low, high, reach=lambda ratio: max(ratio**0.5, 4.0)))
