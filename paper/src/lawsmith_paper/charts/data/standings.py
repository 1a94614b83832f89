"""The numbers of the standings chart: average ranks of methods, a panel for each metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from lawsmith.charts.runs import ChartUnavailable
from lawsmith.grid import FloatArray


@dataclass(frozen=True)
class StandingsPanel:
    """One metric: cells has method, budget (%), rank; spans has method, best and worst rank."""

    title: str
    cells: pd.DataFrame
    spans: pd.DataFrame


@dataclass(frozen=True)
class StandingsData:
    """What the standings chart shows; methods from top to bottom."""

    methods: tuple[str, ...]
    panels: tuple[StandingsPanel, ...]


def standings_data(
    methods: Sequence[str], budgets: Sequence[float], ranks: Mapping[str, FloatArray]
) -> StandingsData:
    """The chart's numbers of metric → ranks (methods, budgets); ChartUnavailable without any."""
    if not ranks:
        raise ChartUnavailable("no metric has ranks")
    panels = []
    for title, places in ranks.items():
        cells = pd.DataFrame(
            [
                (method, 100.0 * budget, float(places[i, j]))
                for i, method in enumerate(methods)
                for j, budget in enumerate(budgets)
            ],
            columns=["method", "budget", "rank"],
        )
        spans = pd.DataFrame(
            {"method": list(methods), "best": places.min(axis=1), "worst": places.max(axis=1)}
        )
        panels.append(StandingsPanel(title, cells, spans))
    return StandingsData(tuple(methods), tuple(panels))
