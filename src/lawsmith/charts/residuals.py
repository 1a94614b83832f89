"""The residual chart: how far each point lies from the law, and its influence on a prediction."""

from __future__ import annotations

from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.analysis import Analysis, influence_target
from lawsmith.charts import draw, runs, titles
from lawsmith.charts.draw import WIDE, Channel, field, layer, mark
from lawsmith.charts.runs import FITTED, HELD_OUT, rounded
from lawsmith.formats import number
from lawsmith.grid import FloatArray

HEIGHT = 180


@dataclass(frozen=True)
class ResidualsData:
    """The numbers of the residual chart, in per cent.

    points          `run_frame`, x, predicted, kind, residual = 100·(loss/predicted − 1), and for
                    fitted points change: of the prediction at the target without the point
    x               'C', or the law's first input if all runs cost the same
    standard_error  of the prediction at the target; NaN without influence
    target          of the influence; empty without influence
    """

    points: pd.DataFrame
    x: str
    standard_error: float
    target: str

    @property
    def has_influence(self) -> bool:
        return bool(self.target)


def residuals_data(analysis: Analysis) -> ResidualsData:
    """The numbers of the residual chart."""
    grid, fit = analysis.study.grid, analysis.fit
    x = "C" if np.ptp(grid.C) > 0 else analysis.law.inputs[0]
    inputs = {name: np.exp(fit.x[i]) for i, name in enumerate(fit.law.inputs)}
    points = _points(analysis, x, analysis.frontier, fit.predict(inputs)).assign(kind=FITTED)
    influence, target = analysis.influence, ""
    change, error = np.full(len(points), np.nan), float("nan")
    if influence is not None:
        change = 100 * np.expm1(influence.shift)
        error = 100 * float(np.expm1(influence.standard_error))
        target, _ = influence_target(analysis)
    points = points.assign(change=change)
    if analysis.score is not None:
        held = _points(analysis, x, analysis.score.rows, analysis.score.predicted)
        points = pd.concat([points, held.assign(kind=HELD_OUT, change=np.nan)], ignore_index=True)
    return ResidualsData(points, x, error, target)


def _points(analysis: Analysis, x: str, rows: np.ndarray, predicted: FloatArray) -> pd.DataFrame:
    grid, loss = analysis.study.grid, analysis.loss
    return (
        runs.run_frame(grid, rows, loss, runs.config_run_names(analysis.study))
        .assign(x=rounded(grid.numbers(x)[rows]), predicted=rounded(predicted))
        .assign(residual=100 * (loss[rows] / predicted - 1))
        .reset_index(drop=True)
    )


def residuals(analysis: Analysis, *, width: int = WIDE) -> alt.VConcatChart:
    """Residuals and leave-one-out influence against compute, one above the other."""
    data = residuals_data(analysis)
    view = draw.view_of(width)
    x = view.log_x(data.x, data.points["x"], column="x")
    panels = [_influence_panel(data, analysis, x, view)] if data.has_influence else []
    above = {**x, "title": None} if panels else x  # the lower panel has the title
    panels.insert(0, _residual_panel(data, analysis, above, view))
    heading, lines = titles.heading("Residuals and influence", analysis), [titles.basis(analysis)]
    if not data.has_influence:
        lines.append("influence is not known: too few or too many points to leave each out")
    return view.stack(panels, heading, lines, spacing=16)


def _residual_panel(
    data: ResidualsData, analysis: Analysis, x: Channel, view: draw.View
) -> alt.LayerChart:
    y = _signed_axis("Loss above the law (%)", data.points["residual"])
    fitted = "fitted-many" if len(data.points) > draw.MANY else "fitted"
    point = titles.point_name(analysis)
    marks = {
        FITTED: (mark("point", fitted), f"fitted: {point}"),
        HELD_OUT: (mark("point", "held-out"), f"held out: {point}"),
    }
    names = runs.tooltip_names(analysis.study.grid)
    names |= {"predicted": "law", "residual": "residual (%)"}
    where = {"x": x, "y": field("residual", y)}
    layers = draw.layers_by(data.points, "kind", marks, tooltip=names, **where)
    return view.panel([_zero(y), *layers], HEIGHT)


def _influence_panel(
    data: ResidualsData, analysis: Analysis, x: Channel, view: draw.View
) -> alt.LayerChart:
    frame = data.points[data.points["kind"] == FITTED].drop(columns="kind")
    error, most = data.standard_error, float(frame["change"].abs().max())
    # Next to a far larger standard error, changes could not be seen: then the band is cut off.
    y = _signed_axis("Influence (%)", pd.Series([most, min(error, 2 * most)]))
    change = field("change", y)
    band = pd.DataFrame({"change": [-error], "high": [error]})
    names = runs.tooltip_names(analysis.study.grid) | {"change": "change (%)"}
    one, out = f"one standard error ({number(error, 2)}%)", f"change at {data.target} when left out"
    ends = {"y": change, "y2": field("high")}
    layers = [
        layer(band, mark("rect", "band", clip=True), one, **ends),
        _zero(y),
        layer(frame, mark("rule", "stem"), x=x, y=change, y2={"datum": 0}),
        layer(frame, mark("point", "fitted-many"), out, tooltip=names, x=x, y=change),
    ]
    return view.panel(layers, HEIGHT)


def _zero(y: Channel) -> alt.Chart:
    return layer(pd.DataFrame({"zero": [0.0]}), mark("rule", "reference"), y=field("zero", y))


def _signed_axis(text: str, values: pd.Series[float]) -> Channel:
    """A symmetric axis around zero."""
    top = 1.1 * float(values.abs().max()) or 1.0
    return draw.linear_axis(text, (-top, top), n_ticks=7)
