"""The timeline: order, the largest compute so far, the window, and the spend added up."""

from __future__ import annotations

import pytest

from lawsmith.charts import ChartUnavailable, timeline
from lawsmith.charts.clock import Event
from lawsmith.charts.timeline import timeline_data

NAN = float("nan")


def event(name: str, C: float, state: str = "done", window: float = NAN, **config) -> Event:
    return Event(name, C, NAN if state != "done" else 2.5, state, config, window)


def test_the_largest_so_far_is_a_staircase_and_the_spend_adds_up():
    data = timeline_data([event("a", 2.0), event("b", 1.0), event("c", 5.0), event("d", 5.0)])
    assert data.reached.to_dict("list") == {"order": [1, 3, 4], "C": [2.0, 5.0, 5.0]}
    assert data.total["spent"].tolist() == [2.0, 3.0, 8.0, 13.0]
    assert data.runs["name"].tolist() == ["a", "b", "c", "d"]


def test_a_window_that_never_changes_is_not_drawn():
    still = timeline_data(
        [event("a", 1.0), event("b", 1.0, window=9.0), event("c", 1.0, window=9.0)]
    )
    assert still.window.empty
    grows = timeline_data(
        [event("a", 1.0), event("b", 1.0, window=2.0), event("c", 1.0, window=9.0)]
    )
    assert grows.window.to_dict("list") == {"order": [2, 3], "C": [2.0, 9.0]}


def test_configurations_keep_their_own_names_whatever_they_are_called():
    data = timeline_data([event("a", 1.0, lr=0.1), event("b", 1.0, **{"a.b[0]": "<b>"})])
    assert data.names == {"name": "run", "c0": "lr", "c1": "a.b[0]", "C": "C"}
    assert data.runs["c1"].tolist()[1] == "<b>"


def test_many_runs_are_thinned_evenly_with_both_ends():
    data = timeline_data([event(str(i), 1.0 + i) for i in range(1000)], max_runs=50)
    assert len(data.runs) == 50
    assert data.runs["order"].tolist()[0] == 1
    assert data.runs["order"].tolist()[-1] == 1000
    assert data.n_runs == 1000


def test_no_run_no_chart():
    with pytest.raises(ChartUnavailable, match="no run"):
        timeline_data([])


def test_every_state_has_a_shape_of_its_own():
    states = ("initial", "done", "diverged", "failed", "pending")
    chart = timeline([event(s, 1.0 + i, s) for i, s in enumerate(states)]).to_dict()
    points = [
        layer["mark"]["style"]
        for layer in chart["vconcat"][0]["layer"]
        if layer["mark"]["type"] == "point" and "field" in layer["encoding"]["x"]
    ]
    shapes = [
        (chart["config"]["style"][s]["shape"], chart["config"]["style"][s]["filled"])
        for s in points
    ]
    assert len(set(shapes)) == len(states)
