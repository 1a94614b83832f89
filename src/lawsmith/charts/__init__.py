"""Charts of an answer, of a law (its runs, isoFLOP curves, residuals, …) and of a replay.

chart = charts.answer(Answered(name, answer, grid, runs))  # an Altair chart, for a notebook
charts.law(analysis)                                       # the law that describes the runs
charts.write_all("charts", answered, analysis)             # every chart as HTML and PNG
charts.write_replay(trace, "charts")                       # every chart of one replay

A chart is a module: first its numbers (``law_data``), then its drawing (``law``). What all are
drawn with is in `lawsmith.charts.draw`, the colours in `lawsmith.charts.theme`. A chart that cannot
be made raises ChartUnavailable.
"""

from __future__ import annotations

from lawsmith.charts.allocation import allocation
from lawsmith.charts.answer import Answered, answer
from lawsmith.charts.choices import choices
from lawsmith.charts.clock import clock
from lawsmith.charts.compare import compare
from lawsmith.charts.curves import curves
from lawsmith.charts.draw import NARROW, WIDE
from lawsmith.charts.hyperparameters import hyperparameters
from lawsmith.charts.isoflop import isoflop
from lawsmith.charts.law import law
from lawsmith.charts.maps import maps
from lawsmith.charts.narrowing import narrowing
from lawsmith.charts.pairs import pairs
from lawsmith.charts.region import region
from lawsmith.charts.residuals import residuals
from lawsmith.charts.runs import ChartUnavailable
from lawsmith.charts.save import (
    ANSWER_CHARTS,
    CHARTS,
    REPLAY_CHARTS,
    Chart,
    Unavailable,
    Written,
    spec_of,
    write,
    write_all,
    write_replay,
    write_tasks,
)
from lawsmith.charts.tasks import accuracy_by_compute, accuracy_by_loss
from lawsmith.charts.theme import DARK, LIGHT, PRINT, THEMES, themed
from lawsmith.charts.timeline import timeline
from lawsmith.charts.trunks import Curved, trunks

__all__ = [
    "ANSWER_CHARTS",
    "CHARTS",
    "DARK",
    "LIGHT",
    "NARROW",
    "PRINT",
    "REPLAY_CHARTS",
    "THEMES",
    "WIDE",
    "Answered",
    "Chart",
    "ChartUnavailable",
    "Curved",
    "Unavailable",
    "Written",
    "accuracy_by_compute",
    "accuracy_by_loss",
    "allocation",
    "answer",
    "choices",
    "clock",
    "compare",
    "curves",
    "hyperparameters",
    "isoflop",
    "law",
    "maps",
    "narrowing",
    "pairs",
    "region",
    "residuals",
    "themed",
    "timeline",
    "spec_of",
    "trunks",
    "write",
    "write_all",
    "write_replay",
    "write_tasks",
]
