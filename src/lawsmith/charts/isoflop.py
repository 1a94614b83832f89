"""The isoFLOP chart: best loss against N at each compute level, with the minima marked."""

from __future__ import annotations

from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.analysis import Analysis, isoflop_cells
from lawsmith.charts import draw, runs
from lawsmith.charts.draw import WIDE, layer, mark
from lawsmith.charts.runs import ChartUnavailable, config_run_names, rounded
from lawsmith.datasets.records import study_name
from lawsmith.formats import plural

MIN_SIZES = 3  # a minimum needs a point on each side


@dataclass(frozen=True)
class IsoflopData:
    """The numbers of the isoFLOP chart.

    cells   `run_frame` and level: the best run of each (N, D), by level and then N; ``level`` is
            the geometric mean of the compute of its cells
    minima  the lowest cell of each level with ``bracketed``: it is not at an end of its level
    n_thin  number of levels left out because they have fewer than three sizes
    """

    cells: pd.DataFrame
    minima: pd.DataFrame
    n_thin: int


def isoflop_data(analysis: Analysis) -> IsoflopData:
    """The numbers of the isoFLOP chart; ChartUnavailable if no level has three sizes."""
    cells, n_levels = _cells(analysis)
    whole = cells[cells.groupby("level")["N"].transform("nunique") >= MIN_SIZES]
    if whole.empty:
        most = int(cells.groupby("level")["N"].nunique().max())
        few = f"at most {plural(most, 'size')} at any of {n_levels}"
        raise ChartUnavailable(f"no compute level has {MIN_SIZES} sizes or more: {few}")
    whole = whole.reset_index(drop=True)
    minima = pd.concat([_minimum(curve) for _, curve in whole.groupby("level")])
    return IsoflopData(whole, minima, n_levels - len(minima))


def _cells(analysis: Analysis) -> tuple[pd.DataFrame, int]:
    """The best run of each (N, D) with its level, and the number of levels."""
    grid, loss = analysis.study.grid, analysis.loss
    if not {"N", "D"} <= set(grid.names):
        raise ChartUnavailable("the runs have no N and D")
    rows, level_of = isoflop_cells(grid, analysis.pool, loss)
    n = np.bincount(level_of)
    level = np.exp(np.bincount(level_of, weights=np.log(grid.C[rows])) / n)
    cells = runs.run_frame(grid, rows, loss, config_run_names(analysis.study))
    cells = cells.assign(level=rounded(level)[level_of])
    return cells.sort_values(["level", "N"], ignore_index=True), len(n)


def _minimum(curve: pd.DataFrame) -> pd.DataFrame:
    """The lowest cell of one level, whose rows are in order of N."""
    at = int(curve["loss"].to_numpy().argmin())
    return curve.iloc[[at]].assign(bracketed=0 < at < len(curve) - 1)


def isoflop(analysis: Analysis, *, width: int = WIDE) -> alt.LayerChart:
    """IsoFLOP curves; a minimum at an end of its curve is hollow: the true one may lie beyond."""
    return draw_isoflop(isoflop_data(analysis), analysis, width=width)


def draw_isoflop(data: IsoflopData, analysis: Analysis, *, width: int) -> alt.LayerChart:
    """The chart of these numbers; docs/tinylm.py has numbers of its own."""
    view = draw.view_of(width, legend=True)
    where = {
        "x": view.log_x("N", data.cells["N"]),
        "y": view.loss_y(data.cells["loss"]),
        "color": draw.scale_color("level", data.cells["level"], beside=view.legend > 0),
    }
    each = {"field": "level", "type": "ordinal"}
    names = runs.tooltip_names(analysis.study.grid)
    others = data.cells.drop(index=data.minima.index)  # minima have a mark of their own
    lowest = {
        True: (mark("point", "minimum"), "lowest of its level"),
        False: (mark("point", "minimum-open"), "lowest, at an end: the optimum may lie beyond"),
    }
    cell = mark("point", "cell")
    layers = [
        layer(data.cells, mark("line", "curve-thin"), detail=each, **where),
        layer(others, cell, "best run of each (N, D)", tooltip=names, **where),
        *draw.layers_by(data.minima, "bracketed", lowest, tooltip=names, **where),
    ]
    heading = f"Loss at equal compute: {study_name(analysis.study)}"
    text = f"{plural(len(data.minima), 'compute level')}, {len(data.cells)} (N, D) cells"
    if data.n_thin:
        text += f" · {data.n_thin} levels with fewer than {MIN_SIZES} sizes not drawn"
    return view.chart(layers, heading, [text])
