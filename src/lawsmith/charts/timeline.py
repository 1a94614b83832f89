"""The timeline: the compute of each run over time or in order, and the spend so far."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.charts import draw
from lawsmith.charts.draw import WIDE, Channel, field, layer, layers_by, mark
from lawsmith.charts.runs import MAX_RUNS, ChartUnavailable, rounded
from lawsmith.charts.ticks import padded
from lawsmith.formats import flops, number, plural
from lawsmith.grid import FloatArray, IntArray

TEXTS = {  # of states, in the order they are drawn
    "initial": "initial design",
    "done": "finished",
    "diverged": "diverged",
    "failed": "failed",
    "retried": "tried again",
    "pending": "under way",
}
HIGH, LOW = 250, 90  # heights in pixels of the panels of runs and of the spend
STEP, ROOM = 4, 18  # pixels between simultaneous runs of one compute, and between all of them
# (seconds, name, seconds from which it is the unit of an axis)
UNITS = ((86400.0, "days", 3 * 86400.0), (3600.0, "hours", 3 * 3600.0), (60.0, "minutes", 180.0))
SECONDS = (1.0, "seconds", 0.0)


@dataclass(frozen=True)
class Attempt:
    """One attempt at a run; a replay has one for each run.

    name          of the run: t0001, or its number
    C, cost       FLOPs of the run, and those that this attempt adds to the spend
    state         a key of TEXTS; 'initial' is a finished run of the initial design
    window        the largest compute it could have had; NaN if it had no limit
    begun, ended  seconds since 1970; NaN if unknown, ``ended`` also while it is under way
    number        of the attempt: 1, 2, …
    """

    name: str
    C: float
    cost: float
    loss: float
    state: str
    config: Mapping[str, float | int | str]
    window: float = float("nan")
    begun: float = float("nan")
    ended: float = float("nan")
    number: int = 1


@dataclass(frozen=True)
class TimelineData:
    """The numbers of the timeline; x is the order, or the time since the first run began.

    runs     x, end (equal if only the order is known), C, at (C, moved a little for simultaneous
             runs), loss, state, name, c0, c1, …; by time also began and took
    names    column of ``runs`` → its name
    reached  x, C: the largest compute run so far
    window   x, C: the largest compute that a run could have had; empty if it never changes
    spent    x, spent: FLOPs of all attempts so far
    axis     title of x
    n_lanes  largest number of simultaneous attempts, 1 if only the order is known
    """

    runs: pd.DataFrame
    names: Mapping[str, str]
    reached: pd.DataFrame
    window: pd.DataFrame
    spent: pd.DataFrame
    axis: str
    n_runs: int
    n_lanes: int


def timeline_data(
    attempts: Sequence[Attempt], *, until: float = 0.0, max_runs: int = MAX_RUNS
) -> TimelineData:
    """The numbers of the timeline, by time if any attempt has one, and then only of those.

    until   seconds since 1970 up to which attempts under way are drawn
    """
    if not attempts:
        raise ChartUnavailable("no run has been made yet")
    timed = sorted((a for a in attempts if not np.isnan(a.begun)), key=lambda a: a.begun)
    shown = timed or attempts
    begun, ended, axis = _times(timed, until) if timed else _order(len(attempts))
    lane = lanes(begun, ended)
    C, cost, window = (np.array([getattr(a, k) for a in shown]) for k in ("C", "cost", "window"))
    kept = np.unique(np.linspace(0, len(shown) - 1, max_runs).round().astype(int))
    frame, names = _texts([shown[i] for i in kept], until)
    numbers = {"x": begun, "end": ended, "C": C, "at": C * _apart(C, lane)}
    # A window that never changes is only the largest compute of the grid.
    bound = np.isfinite(window) & (len(np.unique(window[np.isfinite(window)])) > 1)
    last = float(ended.max())
    return TimelineData(
        runs=frame.assign(**{name: rounded(values[kept]) for name, values in numbers.items()}),
        names=names,
        reached=_steps(begun, np.maximum.accumulate(C), "C", last),
        window=_steps(begun[bound], window[bound], "C", last),
        spent=_steps(begun[kept], np.cumsum(cost)[kept], "spent", last),
        axis=axis,
        n_runs=len({a.name for a in shown}),
        n_lanes=int(lane.max()) + 1,
    )


def _order(n: int) -> tuple[FloatArray, FloatArray, str]:
    order = np.arange(1.0, n + 1.0)
    return order, order, "Runs in order"


def _times(timed: Sequence[Attempt], until: float) -> tuple[FloatArray, FloatArray, str]:
    """Begin and end of each attempt since the first began, in a suitable unit; the axis title."""
    begun = np.array([a.begun for a in timed])
    ended = np.array([until if np.isnan(a.ended) else a.ended for a in timed])
    ended = np.maximum(ended, begun)  # a clock that was set back
    start, length = float(begun[0]), float(ended.max() - begun[0])
    if length <= 0.0:
        return _order(len(timed))
    size, unit, _ = next((u for u in UNITS if length >= u[2]), SECONDS)
    since = f"{unit.capitalize()} since {datetime.fromtimestamp(start, UTC):%Y-%m-%d %H:%M} UTC"
    return (begun - start) / size, (ended - start) / size, since


def lanes(begun: FloatArray, ended: FloatArray) -> IntArray:
    """(k,) the lowest lane that is free when each attempt begins; ``begun`` is ascending."""
    busy: list[tuple[float, int]] = []  # (when it becomes free, lane)
    free: list[int] = []
    lane_of = np.zeros(len(begun), dtype=np.int64)
    for i, (start, end) in enumerate(zip(begun, ended, strict=True)):
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        lane_of[i] = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (float(end), int(lane_of[i])))
    return lane_of


def _apart(C: FloatArray, lane: IntArray) -> FloatArray:
    """Factors that draw lanes a few pixels apart on the axis of C."""
    pixels = min(STEP, ROOM / max(int(lane.max()), 1))
    low, high = padded([*C], share=0.05)
    return np.asarray((high / low) ** (pixels * lane / HIGH))


def _texts(shown: Sequence[Attempt], until: float) -> tuple[pd.DataFrame, dict[str, str]]:
    """(texts of the tooltip of each attempt, column → its name).

    Configurations are in columns c0, c1, …: a study may call its axes anything, and Vega parses
    dots and brackets in field names.
    """
    keys = {f"c{k}": key for k, key in enumerate(dict.fromkeys(k for a in shown for k in a.config))}
    table: dict[str, object] = {
        "name": [f"{a.name}, attempt {a.number}" if a.number > 1 else a.name for a in shown]
    }
    table |= {column: [a.config.get(key) for a in shown] for column, key in keys.items()}
    table |= {"loss": rounded(a.loss for a in shown), "state": [a.state for a in shown]}
    if not np.isnan(shown[0].begun):
        moments = [datetime.fromtimestamp(a.begun, UTC) for a in shown]
        table["began"] = [f"{moment:%Y-%m-%d %H:%M:%S} UTC" for moment in moments]
        table["took"] = [_took(a, until) for a in shown]
    names = {name: keys.get(name, name) for name in table}
    return pd.DataFrame(table), {**names, "name": "run", "C": "C"}


def _took(attempt: Attempt, until: float) -> str:
    under_way = np.isnan(attempt.ended)
    end = until if under_way else attempt.ended
    return duration(max(end - attempt.begun, 0.0)) + (" so far" if under_way else "")


def duration(seconds: float) -> str:
    """'1.5 hours', '2 minutes', '0.21 seconds'."""
    size, unit = next(((s, u) for s, u, _ in UNITS if seconds >= s), (1.0, "seconds"))
    text = number(seconds / size, 2)
    return f"{text} {unit.removesuffix('s') if text == '1' else unit}"


def _steps(x: FloatArray, values: FloatArray, name: str, last: float) -> pd.DataFrame:
    """The points at which a staircase changes, and its last point."""
    if not len(x):
        return pd.DataFrame({"x": [], name: []})
    changes = np.append(True, values[1:] != values[:-1])
    ends = (np.append(x[changes], last), np.append(values[changes], values[-1]))
    return pd.DataFrame({"x": rounded(ends[0]), name: rounded(ends[1])})


def timeline(
    attempts: Sequence[Attempt], *, until: float = 0.0, name: str = "", width: int = WIDE
) -> alt.VConcatChart:
    """The compute of each run over time or in order, and below it the spend."""
    data = timeline_data(attempts, until=until)
    view = draw.view_of(width)
    ends = (0.0, 1.01 * float(data.spent["x"].iloc[-1]))
    axis = draw.linear_axis(data.axis, ends, n_ticks=max(view.width // 70, 3))
    total = float(data.spent["spent"].iloc[-1])
    line = f"{plural(data.n_runs, 'run')}, {flops(total)} FLOPs"
    if data.n_lanes > 1:
        line += f", at most {data.n_lanes} at once"
    heights = draw.log_axis("C", padded([*data.spent["spent"]], share=0.06), pixels=LOW, gap=24)
    y = field("spent", {**heights, "title": "Spent (FLOPs)"})
    stairs = mark("line", "law", interpolate="step-after")
    spent = view.panel([layer(data.spent, stairs, x=field("x", axis), y=y)], LOW)
    panels = [_runs_panel(data, {**axis, "title": None}, view), spent]
    return view.stack(panels, draw.with_study("Runs over time", name), [line])


def _runs_panel(data: TimelineData, axis: Channel, view: draw.View) -> alt.LayerChart:
    heights = padded([*data.runs["at"], *data.runs["C"], *data.window["C"]], share=0.05)
    y = draw.log_axis("C", heights, pixels=HIGH, gap=24)
    x, at = field("x", axis), field("at", y)
    window = mark("line", "threshold", interpolate="step-after")
    reached = mark("line", "curve-reached", interpolate="step-after")
    marks = {state: (mark("point", f"state-{state}"), text) for state, text in TEXTS.items()}
    lasting = data.runs.loc[data.runs["end"] > data.runs["x"], ["x", "end", "at"]]
    layers = [
        layer(data.window, window, "largest compute to choose from", x=x, y=field("C", y)),
        layer(data.reached, reached, "largest so far", x=x, y=field("C", y)),
        layer(lasting, mark("rule", "stem"), "from start to end", x=x, x2=field("end"), y=at),
        *layers_by(data.runs, "state", marks, tooltip=data.names, x=field("end", axis), y=at),
    ]
    return view.panel(layers, HIGH)
