"""The numbers of the residual chart: how far each point lies from the law, and what hangs on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lawsmith.analysis import Analysis, influence_target
from lawsmith.charts.data.runs import FITTED, HELD_OUT, called_in, short, with_names
from lawsmith.grid import FloatArray


@dataclass(frozen=True)
class ResidualsData:
    """What the residual chart shows, in per cent.

    points          x, C, [N, D, run,] loss, predicted, kind, residual = 100·(loss/predicted − 1)
                    and change: of the prediction at the target when the point is left out (fitted
                    points only)
    x               'C', or the law's first input where all runs cost the same
    standard_error  of the prediction at the target; NaN without influence
    target          where influence was judged; empty without influence
    """

    points: pd.DataFrame
    x: str
    standard_error: float
    target: str

    @property
    def has_influence(self) -> bool:
        return bool(self.target)


def residuals_data(analysis: Analysis) -> ResidualsData:
    """The residual chart's numbers."""
    grid, fit = analysis.study.grid, analysis.fit
    x = "C" if np.ptp(grid.C) > 0 else analysis.law.inputs[0]
    inputs = {name: np.exp(fit.x[i]) for i, name in enumerate(fit.law.inputs)}
    points = _points(analysis, x, analysis.frontier, fit.predict(inputs)).assign(kind=FITTED)
    found, target = analysis.influence, ""
    change, error = np.full(len(points), np.nan), float("nan")
    if found is not None:
        change, error = 100 * np.expm1(found.shift), 100 * float(np.expm1(found.standard_error))
        target, _ = influence_target(grid, analysis.pool, analysis.loss, fit, analysis.options)
    points = points.assign(change=change)
    if analysis.score is not None:
        held = _points(analysis, x, analysis.score.rows, analysis.score.predicted)
        points = pd.concat([points, held.assign(kind=HELD_OUT, change=np.nan)], ignore_index=True)
    return ResidualsData(points, x, error, target)


def _points(analysis: Analysis, x: str, rows: np.ndarray, predicted: FloatArray) -> pd.DataFrame:
    grid, loss = analysis.study.grid, analysis.loss[rows]
    table = {"x": short(grid.numbers(x)[rows]), "C": short(grid.C[rows])}
    table |= {name: grid.numbers(name)[rows] for name in ("N", "D") if name in grid.names}
    table |= {"loss": short(loss), "predicted": short(predicted)}
    table |= {"residual": 100 * (loss / predicted - 1)}
    frame = with_names(pd.DataFrame(table, index=rows), called_in(analysis.study))
    return frame.reset_index(drop=True)
