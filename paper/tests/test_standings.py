"""The standings chart: every rank at its place, methods in the order given."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.charts import NARROW, WIDE, ChartUnavailable
from lawsmith_paper.charts.data.standings import standings_data
from lawsmith_paper.charts.draw.standings import standings

METHODS, BUDGETS = ("ours", "a rival", "another"), (0.01, 0.1)
RANKS = {
    "error": np.array([[1.0, 1.5], [2.5, 2.0], [2.5, 2.5]]),
    "envelope": np.array([[1.2, 1.0], [1.8, 2.0], [3.0, 3.0]]),
}


def test_a_dot_is_a_methods_rank_at_a_budget_and_a_rule_spans_them():
    data = standings_data(METHODS, BUDGETS, RANKS)
    panel = data.panels[0]
    assert panel.title == "error"
    (row,) = panel.cells.query("method == 'a rival' and budget == 10").itertuples()
    assert row.rank == 2.0
    (span,) = panel.spans.query("method == 'ours'").itertuples()
    assert (span.best, span.worst) == (1.0, 1.5)


@pytest.mark.parametrize("width", [NARROW, WIDE, 1040])
def test_every_panel_has_the_methods_in_order_and_room_for_every_rank(width):
    spec = standings(METHODS, BUDGETS, RANKS, heading="Methods", width=width).to_dict()
    panels = spec["vconcat"][0]["concat"]
    assert len(panels) == 2
    for panel in panels:
        dots = next(e for e in panel["layer"] if "color" in e["encoding"])
        assert dots["encoding"]["y"]["sort"] == list(METHODS)
        low, high = dots["encoding"]["x"]["scale"]["domain"]
        assert low < 1.0
        assert high > len(METHODS)
    n_columns = spec["vconcat"][0]["columns"]
    assert n_columns == (1 if width == NARROW else 2)
    assert n_columns * panels[0]["width"] < width


def test_without_ranks_there_is_no_chart():
    with pytest.raises(ChartUnavailable):
        standings(METHODS, BUDGETS, {}, heading="Methods")
