"""The numbers of the law chart: runs, the law and its band up to the target, off-scale runs.

The chart's x is the law's own input; for a law of N and D it is compute, and the law's line is the
loss at the compute-optimal N and D.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lawsmith.analysis import Analysis, Prediction
from lawsmith.charts.data.runs import (
    MAX_RUNS,
    RunRows,
    called_in,
    column_names,
    columns,
    even,
    run_rows,
    short,
    with_names,
)
from lawsmith.charts.unavailable import ChartUnavailable
from lawsmith.grid import FloatArray
from lawsmith.laws.allocation import can_allocate, log_optimal_n
from lawsmith.laws.fit import LawFit
from lawsmith.laws.law import Law
from lawsmith.runs import State

N_LINE = 120


@dataclass(frozen=True)
class LawData:
    """What the law chart shows.

    x          name of the horizontal variable
    runs       on the axis, with a column x
    line       x, fitted, low, high; the last two NaN without an uncertainty
    targets    x, loss, low, high, label
    off_scale  rows without a place on the loss axis: columns of ``runs``, state
    top        the largest loss on the axis
    threshold  x from which runs are held out; NaN where the split is not in x
    """

    x: str
    runs: RunRows
    line: pd.DataFrame
    targets: pd.DataFrame
    off_scale: pd.DataFrame
    top: float
    threshold: float
    n_diverged: int
    n_above: int


def law_data(analysis: Analysis, *, max_runs: int = MAX_RUNS) -> LawData:
    """The law chart's numbers; raises ChartUnavailable for a law without one horizontal axis."""
    x = abscissa(analysis.law)
    grid = analysis.study.grid
    values = grid.numbers(x)[np.isfinite(analysis.loss)]
    if values.min() == values.max():
        raise ChartUnavailable(f"all runs have one value of {x}")
    targets = _targets(analysis.predictions, x)
    line = _line(analysis, values, targets["x"].to_numpy())
    top = loss_top(analysis)
    n_above = int((analysis.loss > top).sum())
    rows = run_rows(analysis, max_runs=max_runs)
    shown = rows.frame[analysis.loss[rows.frame.index] <= top]
    off_scale, n_diverged = _off_scale(analysis, x, top, max_runs=max_runs)
    return LawData(
        x=x,
        runs=RunRows(
            shown.assign(x=short(grid.numbers(x)[shown.index])), rows.names, rows.n_known - n_above
        ),
        line=line,
        targets=targets,
        off_scale=off_scale,
        top=top,
        threshold=_threshold(analysis, x),
        n_diverged=n_diverged,
        n_above=n_above,
    )


def abscissa(law: Law) -> str:
    """The horizontal variable of a law's charts."""
    if can_allocate(law):
        return "C"
    if len(law.inputs) == 1:
        return law.inputs[0]
    raise ChartUnavailable(f"a law of {', '.join(law.inputs)} has no single axis to draw it along")


def inputs_along(fit: LawFit, x: FloatArray) -> Mapping[str, FloatArray]:
    """The law's inputs at each value of its horizontal variable."""
    return law_inputs(fit.law, fit.phi, x)


def law_inputs(law: Law, phi: FloatArray, x: FloatArray) -> Mapping[str, FloatArray]:
    """The inputs at each horizontal value of the law with parameters ``phi`` (p,)."""
    if not can_allocate(law):
        return {law.inputs[0]: x}
    N = np.exp(log_optimal_n(law, phi[None], x)[0])
    return {"N": N, "D": x / (6 * N)}


def reach(values: FloatArray, targets: FloatArray) -> FloatArray:
    """Evenly spaced (in logs) from the least value to the farthest target, or a decade beyond."""
    end = max(values.max(), targets.max()) if len(targets) else 10 * values.max()
    return np.geomspace(values.min(), end, N_LINE)


def _line(analysis: Analysis, values: FloatArray, targets: FloatArray) -> pd.DataFrame:
    x = reach(values, targets)
    inputs = inputs_along(analysis.fit, x)
    line = pd.DataFrame({"x": x, "fitted": analysis.fit.predict(inputs)})
    if analysis.uncertainty is None:
        return line.assign(low=np.nan, high=np.nan)
    band = analysis.uncertainty.loss(inputs, analysis.options.level)
    return line.assign(low=band.low, high=band.high)


def _targets(predictions: tuple[Prediction, ...], x: str) -> pd.DataFrame:
    rows = []
    for p in predictions:
        at = p.target.C if x == "C" else p.inputs[x]
        ends = (np.nan, np.nan) if p.interval is None else (p.interval.low, p.interval.high)
        rows.append((at, p.loss, *ends, p.target.label))
    return pd.DataFrame(rows, columns=["x", "loss", "low", "high", "label"])


def loss_top(analysis: Analysis) -> float:
    """The largest loss worth room on an axis: of the runs inside their fence, and of Π."""
    scored = analysis.score.loss if analysis.score is not None else np.empty(0)
    points = np.concatenate([analysis.loss[analysis.frontier], scored])
    return max(fence(analysis.loss), float(points.max()))


def fence(loss: FloatArray) -> float:
    """The largest known loss inside Tukey's far fence of log loss.

    Runs that all but diverged would squeeze the others into a line.
    """
    known = np.log(loss[np.isfinite(loss)])
    quarter, three = np.quantile(known, [0.25, 0.75])
    return float(np.exp(known[known <= three + 3 * (three - quarter)].max()))


def _off_scale(
    analysis: Analysis, x: str, top: float, *, max_runs: int
) -> tuple[pd.DataFrame, int]:
    """Diverged runs and those above the axis, and how many diverged."""
    grid, runs = analysis.study.grid, analysis.study.runs
    diverged = runs.of(State.DIVERGED).index
    above = np.flatnonzero(analysis.loss > top)
    states = np.array(["diverged"] * len(diverged) + ["above"] * len(above), dtype=object)
    rows = np.concatenate([diverged, above])
    kept = even(np.arange(len(rows)), grid.C[rows], max_runs)
    frame = columns(grid, rows[kept], column_names(grid))
    frame = with_names(frame, called_in(analysis.study))
    loss = np.where(states[kept] == "above", analysis.loss[rows[kept]], np.nan)
    at = short(grid.numbers(x)[rows[kept]])
    return frame.assign(x=at, loss=short(loss), state=states[kept]), len(diverged)


def _threshold(analysis: Analysis, x: str) -> float:
    hold_out = analysis.options.hold_out
    if hold_out is None or hold_out.name != x:
        return float("nan")
    return hold_out.threshold(analysis.study.grid)
