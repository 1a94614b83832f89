"""The numbers of the narrowing chart: a prediction and its interval against compute spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lawsmith.answer import Forecast
from lawsmith.charts.data.runs import short
from lawsmith.charts.unavailable import ChartUnavailable


@dataclass(frozen=True)
class Moment:
    """What was known of the loss at the target once ``spend`` (a share of the dense grid) was."""

    spend: float
    n_runs: int
    forecast: Forecast


@dataclass(frozen=True)
class NarrowingData:
    """What the narrowing chart shows.

    points     spent (%), n_runs, loss, low, high, and the half-width in per cent of the loss;
               ascending in spent
    reference  the loss that all runs together predict; NaN where it is not known
    label      of the target
    """

    points: pd.DataFrame
    reference: float
    label: str


def narrowing_data(moments: Sequence[Moment], *, reference: float = np.nan) -> NarrowingData:
    """The narrowing chart's numbers; ChartUnavailable with fewer than two spends."""
    if len(moments) < 2:
        n = "no interval yet" if not moments else "an interval at one spend only"
        raise ChartUnavailable(f"{n}: there is no change to show")
    rows = [
        (100 * m.spend, m.n_runs, f.loss, f.low, f.high, 100 * f.half_width)
        for m in moments
        for f in (m.forecast,)
    ]
    frame = pd.DataFrame(rows, columns=["spent", "n_runs", "loss", "low", "high", "half_width"])
    frame = frame.apply(short).sort_values("spent", ignore_index=True)
    return NarrowingData(frame, float(reference), moments[0].forecast.target.label)
