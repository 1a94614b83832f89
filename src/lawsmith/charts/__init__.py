"""Charts of an answer, of a law (its runs, isoFLOP curves, residuals, …) and of a search.

chart = charts.answer(lawsmith.fit("runs.csv", targets=1e23))  # an Altair chart, for a notebook
charts.answer(replayed)                                        # of the runs that a replay chose
charts.law(analysis)                                           # the law that describes the runs
charts.write(chart, "charts", "answer")                        # as HTML and PNG

A chart is a module: first its numbers (``law_data``), then its drawing (``law``). What all are
drawn with is in `lawsmith.charts.draw`, the colours in `lawsmith.charts.theme`. A chart that cannot
be made raises ChartUnavailable.
"""

from __future__ import annotations

from lawsmith.charts.allocation import allocation as allocation
from lawsmith.charts.allocation import hyperparameters as hyperparameters
from lawsmith.charts.answer import answer as answer
from lawsmith.charts.curves import curves as curves
from lawsmith.charts.draw import NARROW as NARROW
from lawsmith.charts.draw import WIDE as WIDE
from lawsmith.charts.isoflop import isoflop as isoflop
from lawsmith.charts.law import law as law
from lawsmith.charts.narrowing import narrowing as narrowing
from lawsmith.charts.region import region as region
from lawsmith.charts.residuals import residuals as residuals
from lawsmith.charts.runs import ChartUnavailable as ChartUnavailable
from lawsmith.charts.save import ANSWER_CHARTS as ANSWER_CHARTS
from lawsmith.charts.save import CHARTS as CHARTS
from lawsmith.charts.save import Chart as Chart
from lawsmith.charts.save import Unavailable as Unavailable
from lawsmith.charts.save import Written as Written
from lawsmith.charts.save import spec_of as spec_of
from lawsmith.charts.save import write as write
from lawsmith.charts.save import write_all as write_all
from lawsmith.charts.save import write_tasks as write_tasks
from lawsmith.charts.tasks import accuracy_by_compute as accuracy_by_compute
from lawsmith.charts.tasks import accuracy_by_loss as accuracy_by_loss
from lawsmith.charts.theme import PRINT as PRINT
from lawsmith.charts.theme import THEMES as THEMES
from lawsmith.charts.theme import themed as themed
from lawsmith.charts.timeline import timeline as timeline
from lawsmith.charts.trunks import trunks as trunks
