"""The size curves: loss against tokens for each N with the law's lines, dashed if held out."""

from __future__ import annotations

from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.analysis import Analysis
from lawsmith.charts import draw, runs, titles
from lawsmith.charts.draw import WIDE, layers_by, mark
from lawsmith.charts.runs import HELD_OUT, ChartUnavailable, rounded
from lawsmith.grid import FloatArray
from lawsmith.laws.allocation import can_allocate

MAX_CURVES = 9  # more lines cannot be told apart
N_LINE = 60


@dataclass(frozen=True)
class CurvesData:
    """The numbers of the size curves.

    points  `run_frame`, predicted, held_out: the best run of each (N, D)
    lines   N, D, loss, held_out: the law at ``sizes``, over the tokens of the runs near that size
    sizes   ascending; each N of the points, or some of them if there are many
    """

    points: pd.DataFrame
    lines: pd.DataFrame
    sizes: tuple[float, ...]


def curves_data(analysis: Analysis) -> CurvesData:
    """The numbers of the size curves; ChartUnavailable if the law is not of N and D."""
    if not can_allocate(analysis.law):
        raise ChartUnavailable(f"{analysis.law.name} is not a law of N and D")
    points = _points(analysis)
    sizes = pick_sizes(points["N"].to_numpy())
    lines = [_line(analysis, points, sizes, k) for k in range(len(sizes))]
    return CurvesData(points, pd.concat(lines, ignore_index=True), tuple(sizes.tolist()))


def _points(analysis: Analysis) -> pd.DataFrame:
    grid = analysis.study.grid
    held = analysis.score.rows if analysis.score is not None else np.empty(0, np.int64)
    rows = np.concatenate([analysis.frontier, held])
    frame = runs.run_frame(grid, rows, analysis.loss, runs.config_run_names(analysis.study))
    return frame.assign(
        predicted=rounded(analysis.fit.predict({"N": grid.N[rows], "D": grid.D[rows]})),
        held_out=runs.run_kinds(analysis)[rows] == HELD_OUT,
    ).reset_index(drop=True)


def pick_sizes(N: FloatArray) -> FloatArray:
    """The distinct sizes, ascending; at most MAX_CURVES of them, evenly spaced in log N."""
    sizes: FloatArray = np.unique(N)
    if len(sizes) <= MAX_CURVES:
        return sizes
    wanted = np.linspace(np.log(sizes[0]), np.log(sizes[-1]), MAX_CURVES)
    nearest = np.abs(np.log(sizes)[:, None] - wanted).argmin(axis=0)
    return np.asarray(sizes[np.unique(nearest)])


def _tokens(here: pd.Series[float], everywhere: pd.Series[float]) -> tuple[float, float]:
    """The range of tokens of a line; a factor of two around a single point."""
    low, high = float(here.min()), float(here.max())
    if low < high:
        return low, high
    return max(low / 2, float(everywhere.min())), min(high * 2, float(everywhere.max()))


def _line(analysis: Analysis, points: pd.DataFrame, sizes: FloatArray, k: int) -> pd.DataFrame:
    """The law at the k-th size, over the tokens of the points to which that size is nearest."""
    gaps = np.abs(np.log(points["N"].to_numpy())[:, None] - np.log(sizes))
    near = points[gaps.argmin(axis=1) == k]
    D = np.geomspace(*_tokens(near["D"], points["D"]), N_LINE)
    loss = analysis.fit.predict({"N": np.full_like(D, sizes[k]), "D": D})
    held = bool(near.loc[near["N"] == sizes[k], "held_out"].all())
    return pd.DataFrame({"N": sizes[k], "D": D, "loss": loss, "held_out": held})


def curves(analysis: Analysis, *, width: int = WIDE) -> alt.LayerChart:
    """Loss against tokens, one curve per model size; only for laws of N and D."""
    data = curves_data(analysis)
    view = draw.view_of(width, legend=True)
    where = {
        "x": view.log_x("D", data.points["D"]),
        "y": view.loss_y([*data.points["loss"], *data.lines["loss"]]),
        "color": draw.scale_color("N", data.points["N"], beside=view.legend > 0),
    }
    lines = {
        False: (mark("line", "curve"), "law"),
        True: (mark("line", "curve-dashed"), "law at a held-out size"),
    }
    points = {
        False: (mark("point", "cell"), "best run of each (N, D), fitted"),
        True: (mark("point", "cell-star"), "held out"),
    }
    each = {"field": "N", "type": "ordinal"}
    names = {**runs.tooltip_names(analysis.study.grid), "predicted": "law"}
    layers = [
        *layers_by(data.lines, "held_out", lines, detail=each, **where),
        *layers_by(data.points, "held_out", points, tooltip=names, **where),
    ]
    heading = titles.heading("Loss against tokens, by size", analysis)
    subtitle, n_sizes = [titles.basis(analysis)], data.points["N"].nunique()
    if len(data.sizes) < n_sizes:
        subtitle.append(f"lines at {len(data.sizes)} of {n_sizes} sizes")
    return view.chart(layers, heading, subtitle)
