"""The numbers of the narrowing chart: a prediction and its two intervals against compute spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lawsmith.charts.data.runs import short
from lawsmith.charts.unavailable import ChartUnavailable
from lawsmith.outlook import Prediction
from lawsmith.stopping import reach


@dataclass(frozen=True)
class Known:
    """What was known of the loss at the target once ``spend`` (a share of the dense grid) was."""

    spend: float
    n_runs: int
    prediction: Prediction


@dataclass(frozen=True)
class NarrowingData:
    """What the narrowing chart shows.

    points     spent (%), n_runs, loss, pool_low, pool_high, truth_low, truth_high, and the
               half-widths pool and truth in per cent of the loss; ascending in spent
    reference  the loss that the law of the whole pool predicts; NaN where it is not known
    compute    of the target, FLOPs
    """

    points: pd.DataFrame
    reference: float
    compute: float


def narrowing_data(known: Sequence[Known], *, reference: float = np.nan) -> NarrowingData:
    """The narrowing chart's numbers; ChartUnavailable with fewer than two spends."""
    if len(known) < 2:
        n = "no interval yet" if not known else "an interval at one spend only"
        raise ChartUnavailable(f"{n}: there is no change to show")
    rows = [
        (
            100 * one.spend,
            one.n_runs,
            one.prediction.loss,
            *one.prediction.pool[1:],
            *one.prediction.truth[1:],
            100 * reach(one.prediction.pool),
            100 * reach(one.prediction.truth),
        )
        for one in known
    ]
    names = ("pool_low", "pool_high", "truth_low", "truth_high", "pool", "truth")
    frame = pd.DataFrame(rows, columns=["spent", "n_runs", "loss", *names])
    frame = frame.apply(short).sort_values("spent", ignore_index=True)
    return NarrowingData(frame, float(reference), known[0].prediction.compute)
