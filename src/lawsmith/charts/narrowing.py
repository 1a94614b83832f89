"""The narrowing chart: a prediction with its interval against the compute spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.answer import Forecast
from lawsmith.charts import draw
from lawsmith.charts.draw import BAND, LINE, WIDE, field, layer, mark, span
from lawsmith.charts.runs import ChartUnavailable, rounded
from lawsmith.charts.ticks import padded
from lawsmith.formats import formatted

NAMES = {"spent": "spent (%)", "n_runs": "runs", "loss": "best loss", "low": "from", "high": "to"}
NAMES |= {"half_width": "± %"}


@dataclass(frozen=True)
class Moment:
    """The forecast of a target after a spend, which is a share of the dense grid."""

    spend: float
    n_runs: int
    forecast: Forecast


@dataclass(frozen=True)
class NarrowingData:
    """The numbers of the narrowing chart.

    points     spent (%), n_runs, loss, low, high, half_width (% of the loss), in order of spent
    reference  the loss predicted from all runs; NaN if it is not known
    label      of the target
    """

    points: pd.DataFrame
    reference: float
    label: str


def narrowing_data(moments: Sequence[Moment], *, reference: float = np.nan) -> NarrowingData:
    """The numbers of the narrowing chart; ChartUnavailable with fewer than two spends."""
    if len(moments) < 2:
        n = "no interval yet" if not moments else "an interval at one spend only"
        raise ChartUnavailable(f"{n}: there is no change to show")
    rows = [
        (100 * m.spend, m.n_runs, f.loss, f.low, f.high, 100 * f.half_width)
        for m in moments
        for f in (m.forecast,)
    ]
    frame = pd.DataFrame(rows, columns=["spent", "n_runs", "loss", "low", "high", "half_width"])
    frame = frame.apply(rounded).sort_values("spent", ignore_index=True)
    return NarrowingData(frame, float(reference), moments[0].forecast.target.label)


def narrowing(
    moments: Sequence[Moment], *, name: str = "", reference: float = np.nan, width: int = WIDE
) -> alt.LayerChart:
    """The prediction at the target with its interval, against the compute spent."""
    data = narrowing_data(moments, reference=reference)
    view, points = draw.view_of(width), data.points
    x = {**view.log_x("spent", points["spent"]), "title": "Compute spent (% of the dense grid)"}
    known = [data.reference] if np.isfinite(data.reference) else []
    drawn, ends = [*points["loss"], *known], (points["low"], points["high"])
    domain = draw.band_range(drawn, *ends, reach=lambda ratio: 1.12 * ratio**0.35)
    y = draw.loss_axis(padded(domain), pixels=view.height)
    pool, rule = pd.DataFrame({"loss": known}), mark("rule", "threshold")
    where = {"x": x, "y": field("loss", y)}
    layers = [
        layer(points, BAND, "interval", x=x, **span(y)),
        layer(pool, rule, "from all runs of the pool", y=field("loss", y)),
        layer(points, LINE, "best loss to expect", **where),
        layer(points, mark("point", "fitted-many"), tooltip=NAMES, **where),
    ]
    heading = draw.with_study(f"Prediction of the loss at {data.label}", name)
    return view.chart(layers, heading, [_subtitle(data)])


def _subtitle(data: NarrowingData) -> str:
    first, last = data.points.iloc[0], data.points.iloc[-1]
    return (
        f"{_percent(first['half_width'])} after {int(first['n_runs'])} runs, "
        f"{_percent(last['half_width'])} after {int(last['n_runs'])}"
    )


def _percent(value: float) -> str:
    return f"±{formatted(value, '.2g' if value < 10 else '.0f')}%"
