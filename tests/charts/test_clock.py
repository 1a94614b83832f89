"""The clock chart: lanes, units, what is under way, and the compute begun, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawsmith.charts import ChartUnavailable, clock
from lawsmith.charts.clock import Bar, Event, clock_data, duration, lanes

MIDNIGHT = 1_700_000_000.0 - 80_000.0  # 2023-11-14 00:00 UTC
NAN = float("nan")


def bar(name: str, begun: float, ended: float | None, state: str = "done", **more) -> Bar:
    values = {"C": 1e18, "loss": 2.5, "config": {"lr": 0.1}}
    own = {key: more.pop(key, value) for key, value in values.items()}
    run = Event(name, state="failed" if state == "retried" else state, **own)
    end = None if ended is None else MIDNIGHT + ended
    more = {"cost": 1e18, "retried": state == "retried"} | more
    return Bar(run, MIDNIGHT + begun, end, **more)


def test_runs_that_overlap_lie_in_lanes_of_their_own():
    data = clock_data(
        [bar("a", 0, 100), bar("b", 10, 50), bar("c", 50, 90), bar("d", 60, 70)], until=MIDNIGHT
    )
    assert dict(zip(data.bars["name"], np.floor(data.bars["low"]), strict=True)) == {
        **{"a": 0, "b": 1, "c": 1, "d": 2}
    }
    assert data.n_lanes == 3


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
    data = clock_data([bar("a", 0, 60), bar("b", 60, None, "pending")], until=MIDNIGHT + 150)
    assert data.unit == "seconds"
    assert data.bars["ended"].tolist() == [60.0, 150.0]
    assert data.bars["took"].tolist() == ["1 minute", "1.5 minutes so far"]
    assert data.start == "2023-11-14 00:00 UTC"


@pytest.mark.parametrize(
    ("seconds", "unit", "end"),
    [
        (120, "seconds", 120.0),
        (600, "minutes", 10.0),
        (7 * 3600, "hours", 7.0),
        (9 * 86400, "days", 9.0),
    ],
)
def test_the_unit_fits_the_length(seconds, unit, end):
    data = clock_data([bar("a", 0, seconds)], until=MIDNIGHT)
    assert (data.unit, data.end) == (unit, pytest.approx(end))


def test_compute_is_counted_once_a_run_from_when_it_begins():
    bars = [
        bar("a", 0, 5, "retried", cost=3.0),
        bar("b", 2, 9, cost=4.0),
        bar("a", 6, 8, cost=0.0, attempt=2),
    ]
    data = clock_data(bars, until=MIDNIGHT)
    assert data.spent["time"].tolist() == [0.0, 2.0, 6.0, 9.0]
    assert data.spent["spent"].tolist() == [3.0, 7.0, 7.0, 7.0]
    assert data.n_runs == 2
    assert data.bars["name"].tolist() == ["a", "b", "a, attempt 2"]


def test_a_clock_that_went_back_makes_no_bar_of_less_than_nothing():
    data = clock_data([bar("a", 10, 4), bar("b", 0, 20)], until=MIDNIGHT)
    assert (data.bars["ended"] >= data.bars["begun"]).all()


def test_without_a_time_there_is_no_chart():
    with pytest.raises(ChartUnavailable, match="no run has begun"):
        clock_data([], until=MIDNIGHT)
    with pytest.raises(ChartUnavailable, match="of one moment"):
        clock_data([bar("a", 0, 0)], until=MIDNIGHT)


def test_many_runs_are_thinned_and_counted():
    bars = [bar(f"t{i}", i, i + 1) for i in range(300)]
    data = clock_data(bars, until=MIDNIGHT, max_runs=50)
    assert len(data.bars) == 50
    assert data.n_runs == 300
    assert data.total == pytest.approx(3e20)


def test_durations_read_as_people_say_them():
    assert [duration(s) for s in (0.21, 90, 5400, 200_000)] == [
        *("0.21 seconds", "1.5 minutes", "1.5 hours", "2.3 days")
    ]


def test_the_chart_has_a_bar_of_each_state_and_their_flops_where_there_is_room():
    states = ("initial", "done", "diverged", "failed", "retried")
    bars = [bar(f"t{i}", 100 * i, 100 * i + 90, state) for i, state in enumerate(states)]
    bars.append(bar("now", 600, None, "pending", C=2.5e19))
    spec = clock(bars, until=MIDNIGHT + 700, name="small").to_dict()
    styles = [one["mark"]["style"] for one in spec["vconcat"][0]["layer"]]
    for state in (*states, "pending"):
        assert f"bar-{state}" in styles
        assert spec["config"]["style"][f"bar-{state}"]
    assert {"state-diverged", "state-failed", "bar-note", "note-ink"} <= set(styles)
    assert spec["title"]["text"] == ["Runs by the clock: small"]
    assert "one at a time" in spec["title"]["subtitle"][0]
