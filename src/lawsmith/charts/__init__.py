"""Charts of an answer, of a law (its runs, isoFLOP curves, residuals, …) and of a replay.

chart = charts.answer(Answered(name, answer, grid, runs))  # an Altair chart, for a notebook
charts.law(analysis)                                       # the law that describes the runs
charts.write_all("charts", answered, analysis)             # every chart as HTML and PNG
charts.write_replay(trace, "charts")                       # every chart of one replay

Numbers are made in `lawsmith.charts.data`, drawn in `lawsmith.charts.draw`, coloured by
`lawsmith.charts.theme`. A chart that cannot be made raises ChartUnavailable.
"""

from __future__ import annotations

from lawsmith.charts.catalogue import ANSWER_CHARTS, CHARTS, REPLAY_CHARTS, Chart
from lawsmith.charts.data.answer import Answered
from lawsmith.charts.data.trunks import Curved
from lawsmith.charts.draw.allocation import allocation
from lawsmith.charts.draw.answer import answer
from lawsmith.charts.draw.choices import choices
from lawsmith.charts.draw.clock import clock
from lawsmith.charts.draw.compare import compare
from lawsmith.charts.draw.curves import curves
from lawsmith.charts.draw.hyperparameters import hyperparameters
from lawsmith.charts.draw.isoflop import isoflop
from lawsmith.charts.draw.law import law
from lawsmith.charts.draw.maps import maps
from lawsmith.charts.draw.narrowing import narrowing
from lawsmith.charts.draw.pairs import pairs
from lawsmith.charts.draw.parts import NARROW, WIDE
from lawsmith.charts.draw.residuals import residuals
from lawsmith.charts.draw.tasks import accuracy_by_compute, accuracy_by_loss
from lawsmith.charts.draw.timeline import timeline
from lawsmith.charts.draw.trunks import trunks
from lawsmith.charts.save import (
    Unavailable,
    Written,
    spec_of,
    write,
    write_all,
    write_replay,
    write_tasks,
)
from lawsmith.charts.theme import DARK, LIGHT, PRINT, THEMES, themed
from lawsmith.charts.unavailable import ChartUnavailable

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
