"""Charts of an analysis: the law with its runs, isoFLOP curves, allocation, residuals and more.

chart = charts.law(analysis)                        # an Altair chart: shows itself in a notebook
charts.write_all(analysis, "charts")                # every chart as HTML and PNG

Numbers are made in `lawsmith.charts.data`, drawn in `lawsmith.charts.draw`, coloured by
`lawsmith.charts.theme`. A chart that cannot be made raises ChartUnavailable.
"""

from __future__ import annotations

from lawsmith.charts.catalogue import CHARTS, Chart
from lawsmith.charts.draw.allocation import allocation
from lawsmith.charts.draw.compare import compare
from lawsmith.charts.draw.curves import curves
from lawsmith.charts.draw.hyperparameters import hyperparameters
from lawsmith.charts.draw.isoflop import isoflop
from lawsmith.charts.draw.law import law
from lawsmith.charts.draw.parts import NARROW, WIDE
from lawsmith.charts.draw.residuals import residuals
from lawsmith.charts.save import Unavailable, Written, write, write_all
from lawsmith.charts.theme import DARK, LIGHT, PRINT, THEMES, themed
from lawsmith.charts.unavailable import ChartUnavailable

__all__ = [
    "CHARTS",
    "DARK",
    "LIGHT",
    "NARROW",
    "PRINT",
    "THEMES",
    "WIDE",
    "Chart",
    "ChartUnavailable",
    "Unavailable",
    "Written",
    "allocation",
    "compare",
    "curves",
    "hyperparameters",
    "isoflop",
    "law",
    "residuals",
    "themed",
    "write",
    "write_all",
]
