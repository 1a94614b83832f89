"""Charts of an analysis (the law with its runs, isoFLOP curves, residuals, …) and of a replay.

chart = charts.law(analysis)                        # an Altair chart: shows itself in a notebook
charts.write_all(analysis, "charts")                # every chart as HTML and PNG
charts.recovery({"window": seeds, "full": others})  # replays of one study, mean ± 1 SD over seeds
charts.standings(methods, budgets, ranks, heading=…)  # methods compared, a panel for each metric
charts.subsets(task)                                # a frontier's law, and that of four points
charts.write_replay(trace, "charts")                # every chart of one replay
charts.outlook(seen)                                # a search: observed and fantasized points

Numbers are made in `lawsmith.charts.data`, drawn in `lawsmith.charts.draw`, coloured by
`lawsmith.charts.theme`. A chart that cannot be made raises ChartUnavailable.
"""

from __future__ import annotations

from lawsmith.charts.catalogue import CHARTS, REPLAY_CHARTS, Chart
from lawsmith.charts.draw.allocation import allocation
from lawsmith.charts.draw.choices import choices
from lawsmith.charts.draw.clock import clock
from lawsmith.charts.draw.compare import compare
from lawsmith.charts.draw.curves import curves
from lawsmith.charts.draw.hyperparameters import hyperparameters
from lawsmith.charts.draw.isoflop import isoflop
from lawsmith.charts.draw.law import law
from lawsmith.charts.draw.maps import maps
from lawsmith.charts.draw.narrowing import narrowing
from lawsmith.charts.draw.outlook import outlook
from lawsmith.charts.draw.pairs import pairs
from lawsmith.charts.draw.parts import NARROW, WIDE
from lawsmith.charts.draw.recovery import recovery
from lawsmith.charts.draw.residuals import residuals
from lawsmith.charts.draw.standings import standings
from lawsmith.charts.draw.subsets import subsets
from lawsmith.charts.draw.timeline import timeline
from lawsmith.charts.save import Unavailable, Written, write, write_all, write_replay
from lawsmith.charts.theme import DARK, LIGHT, PRINT, THEMES, themed
from lawsmith.charts.unavailable import ChartUnavailable

__all__ = [
    "CHARTS",
    "DARK",
    "LIGHT",
    "NARROW",
    "PRINT",
    "REPLAY_CHARTS",
    "THEMES",
    "WIDE",
    "Chart",
    "ChartUnavailable",
    "Unavailable",
    "Written",
    "allocation",
    "choices",
    "clock",
    "compare",
    "curves",
    "hyperparameters",
    "isoflop",
    "law",
    "maps",
    "narrowing",
    "outlook",
    "pairs",
    "recovery",
    "residuals",
    "standings",
    "subsets",
    "themed",
    "timeline",
    "write",
    "write_all",
    "write_replay",
]
