"""The timeline: order or clock, the largest compute so far, the window, and the spend added up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawsmith.charts import ChartUnavailable, timeline
from lawsmith.charts.timeline import Attempt, duration, lanes, timeline_data

MIDNIGHT = 1_700_000_000.0 - 80_000.0  # 2023-11-14 00:00 UTC
NAN = float("nan")


def attempt(name: str, C: float, state: str = "done", **more) -> Attempt:
    """A run of which only the order is known."""
    own = {"cost": C, "loss": 2.5 if state == "done" else NAN, "config": {}} | more
    return Attempt(name, C, state=state, **own)


def timed(name: str, begun: float, ended: float | None, state: str = "done", **more) -> Attempt:
    """A run with the seconds from midnight to its beginning and to its end."""
    end = NAN if ended is None else MIDNIGHT + ended
    return attempt(name, more.pop("C", 1e18), state, begun=MIDNIGHT + begun, ended=end, **more)


def test_the_largest_so_far_is_a_staircase_and_the_spend_adds_up():
    runs = [attempt("a", 2.0), attempt("b", 1.0), attempt("c", 5.0), attempt("d", 5.0, cost=4.0)]
    data = timeline_data(runs)
    assert data.reached.to_dict("list") == {"x": [1, 3, 4], "C": [2.0, 5.0, 5.0]}
    assert data.spent.to_dict("list") == {
        "x": [1, 2, 3, 4, 4],
        "spent": [2.0, 3.0, 8.0, 12.0, 12.0],
    }
    assert data.runs["name"].tolist() == ["a", "b", "c", "d"]
    assert data.runs["at"].tolist() == data.runs["C"].tolist() == [2.0, 1.0, 5.0, 5.0]
    assert (data.axis, data.n_lanes) == ("Runs in order", 1)


def test_a_window_that_never_changes_is_not_drawn():
    def window(*largest: float):
        rest = [attempt(str(i), 1.0, window=one) for i, one in enumerate(largest)]
        return timeline_data([attempt("a", 1.0), *rest]).window

    assert window(9.0, 9.0).empty
    assert window(2.0, 9.0).to_dict("list") == {"x": [2, 3, 3], "C": [2.0, 9.0, 9.0]}


def test_configurations_keep_their_own_names_whatever_they_are_called():
    data = timeline_data(
        [attempt("a", 1.0, config={"lr": 0.1}), attempt("b", 1.0, config={"a.b[0]": "<b>"})]
    )
    assert data.names == {
        **{"name": "run", "c0": "lr", "c1": "a.b[0]", "loss": "loss", "state": "state", "C": "C"}
    }
    assert data.runs["c1"].tolist()[1] == "<b>"


def test_many_runs_are_thinned_evenly_with_both_ends_and_counted():
    data = timeline_data([attempt(str(i), 1.0 + i) for i in range(1000)], max_runs=50)
    assert len(data.runs) == 50
    assert data.runs["x"].tolist()[0] == 1
    assert data.runs["x"].tolist()[-1] == 1000
    assert data.n_runs == 1000
    assert data.spent["spent"].iloc[-1] == pytest.approx(1000 * 1001 / 2)


def test_no_run_no_chart():
    with pytest.raises(ChartUnavailable, match="no run"):
        timeline_data([])


def test_runs_that_go_on_at_once_are_set_apart_and_counted():
    runs = [timed("a", 0, 100), timed("b", 10, 50), timed("c", 50, 90), timed("d", 60, 70)]
    data = timeline_data(runs)
    assert data.n_lanes == 3
    a, b, c, d = data.runs["at"]
    assert a == 1e18 < b == c < d < 1.2e18


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0.1, 30)), min_size=1, max_size=60))
def test_no_two_runs_share_a_lane_at_a_time_and_no_lane_is_wasted(spans):
    spans.sort()
    begun = np.array([a for a, _ in spans])
    ended = begun + np.array([b for _, b in spans])
    lane = lanes(begun, ended)
    for k in np.unique(lane):
        here = np.flatnonzero(lane == k)
        assert (ended[here][:-1] <= begun[here][1:]).all()
    most = max(((begun <= t) & (ended > t)).sum() for t in begun)
    assert lane.max() + 1 <= max(most, 1)


def test_what_is_under_way_reaches_to_the_last_moment_known():
    runs = [timed("a", 0, 60), timed("b", 60, None, "pending")]
    data = timeline_data(runs, until=MIDNIGHT + 150)
    assert data.axis == "Seconds since 2023-11-14 00:00 UTC"
    assert data.runs["end"].tolist() == [60.0, 150.0]
    assert data.runs["took"].tolist() == ["1 minute", "1.5 minutes so far"]
    assert data.runs["began"].tolist()[1] == "2023-11-14 00:01:00 UTC"


@pytest.mark.parametrize(
    ("seconds", "unit", "end"),
    [
        (120, "Seconds", 120.0),
        (600, "Minutes", 10.0),
        (7 * 3600, "Hours", 7.0),
        (9 * 86400, "Days", 9.0),
    ],
)
def test_the_unit_fits_the_length(seconds, unit, end):
    data = timeline_data([timed("a", 0, seconds)])
    assert (data.axis.split()[0], data.runs["end"].tolist()) == (unit, [pytest.approx(end)])


def test_compute_is_counted_once_a_run_from_when_it_begins():
    runs = [
        timed("a", 0, 5, "retried", cost=3.0),
        timed("b", 2, 9, cost=4.0),
        timed("a", 6, 8, cost=0.0, number=2),
    ]
    data = timeline_data(runs)
    assert data.spent.to_dict("list") == {"x": [0.0, 2.0, 9.0], "spent": [3.0, 7.0, 7.0]}
    assert data.n_runs == 2
    assert data.runs["name"].tolist() == ["a", "b", "a, attempt 2"]


def test_a_clock_that_went_back_makes_no_run_of_less_than_no_time():
    data = timeline_data([timed("a", 10, 4), timed("b", 0, 20)])
    assert (data.runs["end"] >= data.runs["x"]).all()


def test_runs_without_a_time_are_left_out_where_others_have_one():
    data = timeline_data([attempt("imported", 1.0), timed("a", 0, 9)])
    assert data.runs["name"].tolist() == ["a"]


def test_runs_of_one_moment_stand_in_order():
    data = timeline_data([timed("a", 0, 0), timed("b", 0, 0)])
    assert (data.axis, data.runs["x"].tolist()) == ("Runs in order", [1, 2])


def test_durations_read_as_people_say_them():
    assert [duration(s) for s in (0.21, 90, 5400, 200_000)] == [
        *("0.21 seconds", "1.5 minutes", "1.5 hours", "2.3 days")
    ]


def test_every_state_has_a_shape_of_its_own():
    states = ("initial", "done", "diverged", "failed", "retried", "pending")
    chart = timeline([attempt(s, 1.0 + i, s) for i, s in enumerate(states)]).to_dict()
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


def test_the_title_says_how_many_went_on_at_once():
    at_once = [timed("a", 0, 50), timed("b", 10, None, "pending", C=2.5e19)]
    title = timeline(at_once, until=MIDNIGHT + 70, name="small").to_dict()["title"]
    assert title["text"] == ["Runs over time: small"]
    assert title["subtitle"] == ["2 runs, 2.6e19 FLOPs, at most 2 at once"]
