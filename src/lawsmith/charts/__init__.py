"""Charts of an answer, of a law (runs, isoFLOP curves, residuals, …) and of a search.

chart = charts.answer(lawsmith.fit("runs.csv", targets=1e23))  # an Altair chart, for a notebook
charts.answer(replayed)                                        # from the runs that a replay chose
charts.law(analysis)                                           # the law that describes the runs
charts.write(chart, "charts", "answer")                        # as HTML and PNG

Each chart has a module: first its numbers (``law_data``), then its drawing (``law``). The common
parts are in `lawsmith.charts.draw`, the colours in `lawsmith.charts.theme`. A function of a chart
that cannot be made raises ChartUnavailable.
"""

from __future__ import annotations

from lawsmith.charts.allocation import allocation, hyperparameters
from lawsmith.charts.answer import answer
from lawsmith.charts.curves import curves
from lawsmith.charts.draw import NARROW, WIDE
from lawsmith.charts.isoflop import isoflop
from lawsmith.charts.law import law
from lawsmith.charts.narrowing import narrowing
from lawsmith.charts.region import region
from lawsmith.charts.residuals import residuals
from lawsmith.charts.runs import ChartUnavailable
from lawsmith.charts.save import (
    ANSWER_CHARTS,
    CHARTS,
    Chart,
    spec_of,
    write,
    write_all,
    write_tasks,
)
from lawsmith.charts.tasks import accuracy_by_compute, accuracy_by_loss
from lawsmith.charts.theme import PRINT, THEMES, themed
from lawsmith.charts.timeline import timeline
from lawsmith.charts.trunks import trunks
