"""The numbers of the allocation chart: N*, D* and D/N against compute, and observed minima."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lawsmith.analysis import Analysis
from lawsmith.charts.data.isoflop import isoflop_data
from lawsmith.charts.data.law import inputs_along, reach
from lawsmith.charts.unavailable import ChartUnavailable
from lawsmith.laws.allocation import allocation, can_allocate

QUANTITIES = ("N", "D", "D/N")


@dataclass(frozen=True)
class AllocationData:
    """What the allocation chart shows.

    lines   quantity, C, fitted, low, high; the last two NaN without an uncertainty
    minima  quantity, C, value, bracketed: the lowest point of each observed isoFLOP curve
    reach   the largest compute of a run that was fitted; beyond it the lines are a forecast
    """

    lines: pd.DataFrame
    minima: pd.DataFrame
    reach: float


def allocation_data(analysis: Analysis) -> AllocationData:
    """The allocation chart's numbers; raises ChartUnavailable for laws that are not of N and D."""
    if not can_allocate(analysis.law):
        raise ChartUnavailable(f"{analysis.law.name} has no N and D to divide compute between")
    C = analysis.study.grid.C[analysis.frontier]
    targets = np.array([p.target.C for p in analysis.predictions])
    return AllocationData(_lines(analysis, reach(C, targets)), _minima(analysis), float(C.max()))


def _lines(analysis: Analysis, C: np.ndarray) -> pd.DataFrame:
    best = inputs_along(analysis.fit, C)
    fitted = {"N": best["N"], "D": best["D"], "D/N": best["D"] / best["N"]}
    unknown = np.full(len(C), np.nan)
    bands = {name: (unknown, unknown) for name in QUANTITIES}
    if analysis.uncertainty is not None:
        whole = allocation(analysis.uncertainty, C, analysis.options.level)
        bands = {name: (i.low, i.high) for name, i in whole.items()}
    frames = [
        pd.DataFrame(
            {
                "quantity": name,
                "C": C,
                "fitted": fitted[name],
                "low": bands[name][0],
                "high": bands[name][1],
            }
        )
        for name in QUANTITIES
    ]
    return pd.concat(frames, ignore_index=True)


def _minima(analysis: Analysis) -> pd.DataFrame:
    """Observed minima in long form; none where no isoFLOP curve can be drawn."""
    try:
        found = isoflop_data(analysis).minima
    except ChartUnavailable:
        return pd.DataFrame({"quantity": [], "C": [], "value": [], "bracketed": []})
    values = {"N": found["N"], "D": found["D"], "D/N": found["D"] / found["N"]}
    frames = [
        found[["C", "bracketed"]].assign(quantity=name, value=values[name]) for name in QUANTITIES
    ]
    return pd.concat(frames, ignore_index=True)
