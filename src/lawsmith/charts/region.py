"""The region chart: the N, D and hyperparameters whose loss at a target is close to the best.

The axes of a panel are two of N and the hyperparameters. A point is a run at the target's compute
with these two values: D follows from N, and all others are at their best (in a panel without N,
also N and D). Its excess is its expected loss, by the surface, above that of the panel's best
point. One SD is added to the expected loss, as in the search for the best, so that a point does not
look good only because little is known about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.answer import Forecast
from lawsmith.charts import draw
from lawsmith.charts.answer import AnswerWithRuns
from lawsmith.charts.draw import WIDE, field, layer, log_axis, mark
from lawsmith.charts.runs import ChartUnavailable, rounded
from lawsmith.grid import FloatArray
from lawsmith.surface import Range, Surface
from lawsmith.surface.locate import mean_plus_sd

N_VALUES = 21  # of each axis
MAX_AXES = 3
ROOM = 0.5  # e-folds shown beyond the range within 0.5 % of the best
LEVELS = {2.0: "region-2", 1.0: "region-1", 0.5: "region-half"}  # excess in %: style
HEIGHT = 190
MIN_WEIGHT = 0.05  # members with less are left out


@dataclass(frozen=True)
class RegionPanel:
    """A panel with axes a (across) and b (up).

    cells   a, b, excess (%), a_low, a_high, b_low, b_high; those within the highest level
    best    a and b of the lowest loss
    """

    across: str
    up: str
    cells: pd.DataFrame
    best: tuple[float, float]


@lru_cache(maxsize=4)  # each chart is drawn at two widths
def region_data(answered: AnswerWithRuns) -> tuple[str, tuple[RegionPanel, ...]]:
    """The target's label and its panels; ChartUnavailable if no hyperparameter varies."""
    forecast = next((f for f in answered.answer.forecasts if f.hp), None)
    if forecast is None:
        raise ChartUnavailable("no hyperparameter varies at given N and D")
    surface = answered.answer.surface
    numeric = [a for a in surface.frame.numeric if a.name not in forecast.target.hp]
    axes = {a.name: _around(forecast.hp[a.name]) for a in numeric if a.kind == "log"}
    both = {"N", "D"} <= forecast.scales.keys() and not surface.frame.collinear
    if both and not forecast.target.sized:
        axes = {"N": _around(forecast.scales["N"]), **axes}
    names = list(axes)[:MAX_AXES]
    if len(names) < 2:
        raise ChartUnavailable("a region needs N or two hyperparameters on a log scale")
    panels = (_panel(surface, forecast, axes, *pair) for pair in combinations(names, 2))
    return forecast.target.label, tuple(panels)


def _around(best: Range) -> FloatArray:
    """Values over the range that is about as good as the best, and ROOM on both sides."""
    low, high = best.near_low, best.near_high
    half = 0.5 * float(np.log(high / low)) + ROOM
    middle = float(np.sqrt(low) * np.sqrt(high))
    return np.asarray(middle * np.exp(np.linspace(-half, half, N_VALUES)))


def _panel(
    surface: Surface, forecast: Forecast, axes: Mapping[str, FloatArray], across: str, up: str
) -> RegionPanel:
    a, b = (grid.ravel() for grid in np.meshgrid(axes[across], axes[up]))
    loss = _log_loss(surface, forecast, {across: a, up: b})
    excess = 100.0 * np.expm1(loss - loss.min())
    frame = pd.DataFrame({"a": a, "b": b, "excess": excess})
    best = int(np.argmin(loss))
    shown = _boxed(frame[frame["excess"] <= max(LEVELS)], {"a": axes[across], "b": axes[up]})
    return RegionPanel(across, up, shown.apply(rounded), (float(a[best]), float(b[best])))


def _boxed(frame: pd.DataFrame, axes: Mapping[str, FloatArray]) -> pd.DataFrame:
    """With a_low, a_high, b_low, b_high: the square around each row; values are even in logs."""
    for name, values in axes.items():
        half = np.sqrt(values[1] / values[0])
        ends = {f"{name}_low": frame[name] / half, f"{name}_high": frame[name] * half}
        frame = frame.assign(**ends)
    return frame


def _log_loss(surface: Surface, forecast: Forecast, at: Mapping[str, FloatArray]) -> FloatArray:
    """(q,) log loss of runs with these N and hyperparameters, and the others at their best."""
    q = len(next(iter(at.values())))
    given = dict(forecast.target.hp)
    if not forecast.target.sized:
        given = surface.with_best_experts(forecast.compute, given)
    scales = {name: np.full(q, forecast.scales[name].centre) for name in surface.scale_names}
    if "N" in at:
        product = scales["N"] * scales["D"]
        scales = {"N": at["N"], "D": product / at["N"]}
    hp = {**given, **{name: values for name, values in at.items() if name != "N"}}
    members = [
        (weight, mean_plus_sd(member, surface.best_hp(member, scales, hp)))
        for weight, member in zip(surface.weight, surface.members, strict=True)
        if weight >= MIN_WEIGHT
    ]
    whole = sum(weight for weight, _ in members)
    return np.asarray(sum(weight / whole * loss for weight, loss in members))


def region(answered: AnswerWithRuns, *, width: int = WIDE) -> alt.VConcatChart:
    """Where the loss is at most 0.5, 1 and 2 % above the best, over N and hyperparameters."""
    label, panels = region_data(answered)
    view = draw.panels_of(width, len(panels), height=HEIGHT)
    lines = [
        f"at {label}; D follows from N, and settings that a panel does not show are at their best"
    ]
    drawn = [_layers(panel, view.width) for panel in panels]
    return view.side_by_side(drawn, f"Settings close to the best: {answered.name}", lines)


def _layers(panel: RegionPanel, pixels: int) -> list[alt.Chart]:
    cells = panel.cells
    x = log_axis(panel.across, _domain(cells, "a"), pixels=pixels)
    y = log_axis(panel.up, _domain(cells, "b"), pixels=HEIGHT, gap=26)
    ends = {"x": field("a_low", x), "x2": field("a_high")}
    ends |= {"y": field("b_low", y), "y2": field("b_high")}
    names = {"a": panel.across, "b": panel.up, "excess": "above best (%)"}
    layers, least = [], 0.0
    for top in sorted(LEVELS):
        part = cells[(cells["excess"] <= top) & (cells["excess"] >= least)]
        label = f"at most {top:g}% more loss"
        layers.append(layer(part, mark("rect", LEVELS[top]), label, tooltip=names, **ends))
        least = float(np.nextafter(top, np.inf))
    dot = pd.DataFrame([panel.best], columns=["a", "b"])
    where = {"x": field("a", x), "y": field("b", y)}
    return [*layers, layer(dot, mark("point", "map-best"), "best", **where)]


def _domain(cells: pd.DataFrame, key: str) -> tuple[float, float]:
    return float(cells[f"{key}_low"].min()), float(cells[f"{key}_high"].max())
