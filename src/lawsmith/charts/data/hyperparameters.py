"""The numbers of the hyperparameter chart: the best λ of each (N, D) and its power law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lawsmith.analysis import Analysis, HyperparameterLaw
from lawsmith.charts.data.curves import pick_sizes
from lawsmith.charts.unavailable import ChartUnavailable
from lawsmith.formats import digits
from lawsmith.grid import FloatArray

DODGE = 0.22  # of the spacing in log D: sizes that share D and λ would hide each other


@dataclass(frozen=True)
class AxisData:
    """One hyperparameter.

    points   N, D, at, value, predicted, loss; ``at`` is D moved a little aside by the rank of N
    lines    N, D, value: λ*(N, D) over the tokens run at each size; one line with N = NaN where
             each size was run at one D
    formula  the fitted law, with numbers
    """

    name: str
    points: pd.DataFrame
    lines: pd.DataFrame
    formula: str


def hyperparameters_data(analysis: Analysis) -> tuple[AxisData, ...]:
    """Every hyperparameter that has a law, in the study's order; ChartUnavailable if none has."""
    if not analysis.hyperparameters:
        raise ChartUnavailable("no hyperparameter was tuned at enough (N, D) to follow its best")
    return tuple(_axis(analysis, law) for law in analysis.hyperparameters)


def _axis(analysis: Analysis, law: HyperparameterLaw) -> AxisData:
    grid, rows = analysis.study.grid, law.rows
    N, D = grid.N[rows], grid.D[rows]
    points = pd.DataFrame(
        {
            "N": N,
            "D": D,
            "at": dodge(N, D),
            "value": grid.numbers(law.axis)[rows],
            "predicted": law.fit.predict({"N": N, "D": D}),
            "loss": analysis.loss[rows],
        }
    )
    return AxisData(law.axis, points, _lines(law, points), _formula(law))


def dodge(N: FloatArray, D: FloatArray) -> FloatArray:
    """D moved aside by the rank of N, at most DODGE of the median spacing of log D either way."""
    tokens, sizes = np.unique(np.log(D)), np.unique(N)
    if len(tokens) < 2 or len(sizes) < 2:
        return D
    rank = np.searchsorted(sizes, N) / (len(sizes) - 1) - 0.5
    return np.asarray(D * np.exp(2 * DODGE * rank * np.median(np.diff(tokens))))


def _lines(law: HyperparameterLaw, points: pd.DataFrame) -> pd.DataFrame:
    if points.groupby("N")["D"].nunique().max() == 1:
        ordered = points.sort_values("D")
        return pd.DataFrame({"N": np.nan, "D": ordered["D"], "value": ordered["predicted"]})
    frames = []
    for size in pick_sizes(points["N"].to_numpy()):
        ends = points.loc[points["N"] == size, "D"].agg(["min", "max"]).to_numpy()
        value = law.fit.predict({"N": np.full(2, size), "D": ends})
        frames.append(pd.DataFrame({"N": size, "D": ends, "value": value}))
    return pd.concat(frames, ignore_index=True)


def _formula(law: HyperparameterLaw) -> str:
    p = law.fit.params
    powers = [
        f"{name}^{digits(p[k], '.2f')}"
        for name, k in (("N", "a"), ("D", "b"))
        if k not in law.fit.fixed
    ]
    return " · ".join([digits(p["c"], ".3g"), *powers])
