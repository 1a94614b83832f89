"""The numbers of the allocation chart: N*, D* and D/N against compute, and observed minima."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from lawsmith.answer import Answer
from lawsmith.charts.data.answer import Answered
from lawsmith.charts.data.isoflop import isoflops
from lawsmith.charts.data.runs import short
from lawsmith.charts.unavailable import ChartUnavailable
from lawsmith.grid import FloatArray

QUANTITIES = ("N", "D", "D/N")
N_LINE = 9  # computes at which the best N and D are worked out


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
