"""The numbers of the comparison chart: each law's error on held-out compute, best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from lawsmith.analysis import Comparison
from lawsmith.charts.unavailable import ChartUnavailable


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
        percent = 100 * c.score.relative_rmse
        rows.append((c.law.name, c.law.formula, c.score.rmse, percent, c.fit.n_points))
    if not rows:
        raise ChartUnavailable("no law could be fitted and judged on held-out compute")
    scores = pd.DataFrame(rows, columns=["law", "formula", "rmse", "percent", "n_points"])
    return CompareData(scores, n_judged, tuple(left_out))
