"""The clock chart: runs as bars over time, by state, and the compute they add up to."""

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
from lawsmith.charts.runs import MAX_RUNS, ChartUnavailable, short
from lawsmith.charts.text import text_width
from lawsmith.charts.ticks import flops_label, padded
from lawsmith.formats import flops, number, plural
from lawsmith.grid import IntArray

TEXTS = {  # of states, in the order they are drawn
    "initial": "initial design",
    "done": "finished",
    "diverged": "diverged",
    "failed": "failed",
    "retried": "tried again",
    "pending": "under way",
}
LANE, HIGH, LOW = 22, 250, 90  # pixels: of a lane at most, of all, of the spend
MARKED = ("diverged", "failed")  # at whose ends a sign stands, for greyscale
DARK = ("done",)  # bars that light letters can be read on
# (seconds of one, its name, seconds from which it is the unit of an axis)
UNITS = ((86400.0, "days", 3 * 86400.0), (3600.0, "hours", 3 * 3600.0), (60.0, "minutes", 180.0))


@dataclass(frozen=True)
class Event:
    """One run as it was made.

    name     what tells it from others: t0001, or its number
    state    one of TEXTS; 'initial' is a finished run of the initial design
    window   the largest compute it could have had; NaN where nothing bound it
    """

    name: str
    C: float
    loss: float
    state: str
    config: Mapping[str, float | int | str]
    window: float = float("nan")


@dataclass(frozen=True)
class Bar:
    """One attempt at a run.

    begun, ended  seconds since 1970; ``ended`` is None while it is under way
    cost          FLOPs it adds to what the study spends; 0 for a further attempt
    retried       whether another attempt followed
    """

    run: Event
    begun: float
    ended: float | None
    cost: float
    attempt: int = 1
    retried: bool = False

    @property
    def state(self) -> str:
        """One of TEXTS."""
        if self.ended is None:
            return "pending"
        return "retried" if self.retried else self.run.state


@dataclass(frozen=True)
class ClockData:
    """What the clock chart shows, times in ``unit`` since ``start``.

    bars     begun, ended, low, high (of its lane), state, C, and text for readers: name, began,
             took, FLOPs, loss, c0, c1, …
    names    column of text → what it is called
    spent    time, spent: FLOPs of all runs begun so far
    n_lanes  the most runs under way at once
    end      the last moment
    """

    bars: pd.DataFrame
    names: Mapping[str, str]
    spent: pd.DataFrame
    n_runs: int
    n_lanes: int
    unit: str
    start: str
    end: float

    @property
    def total(self) -> float:
        """FLOPs of all runs that began."""
        return float(self.spent["spent"].iloc[-1])


def clock_data(bars: Sequence[Bar], *, until: float, max_runs: int = MAX_RUNS) -> ClockData:
    """The clock chart's numbers; what is under way reaches to ``until``, seconds since 1970."""
    if not bars:
        raise ChartUnavailable("no run has begun by the clock of this study")
    ordered = sorted(bars, key=lambda bar: bar.begun)
    begun = np.array([bar.begun for bar in ordered])
    ended = np.array([until if bar.ended is None else bar.ended for bar in ordered])
    ended = np.maximum(ended, begun)  # a clock that was set back
    start, length = float(begun[0]), float(ended.max() - begun[0])
    if length <= 0.0:
        raise ChartUnavailable("all runs are of one moment by the clock")
    size, unit, _ = next((u for u in UNITS if length >= u[2]), (1.0, "seconds", 0.0))
    lane = lanes(begun, ended)
    kept = np.unique(np.linspace(0, len(ordered) - 1, max_runs).round().astype(int))
    frame = pd.DataFrame([_texts(ordered[i], begun[i], ended[i]) for i in kept])
    configs, names = config_columns([bar.run for bar in ordered], kept)
    frame = pd.concat([frame, configs], axis=1)
    frame["begun"], frame["ended"] = (short((t[kept] - start) / size) for t in (begun, ended))
    frame["low"], frame["high"] = lane[kept] + 0.1, lane[kept] + 0.9
    frame["C"] = short(ordered[i].run.C for i in kept)
    total = np.cumsum([bar.cost for bar in ordered])
    steps = pd.DataFrame({"time": short((begun[kept] - start) / size), "spent": short(total[kept])})
    last = pd.DataFrame({"time": [length / size], "spent": short(total[-1:])})
    return ClockData(
        bars=frame,
        names={"name": "run", **names, **_NAMES},
        spent=pd.concat([steps, last], ignore_index=True),
        n_runs=len({bar.run.name for bar in ordered}),
        n_lanes=int(lane.max()) + 1,
        unit=unit,
        start=f"{datetime.fromtimestamp(start, UTC):%Y-%m-%d %H:%M} UTC",
        end=length / size,
    )


def config_columns(runs: Sequence[Event], kept: IntArray) -> tuple[pd.DataFrame, dict[str, str]]:
    """Columns c0, c1, … of the configurations of those ``kept``, and column → what it is called.

    A study may call its axes anything, and Vega reads dots and brackets in a field's name.
    """
    keys = list(dict.fromkeys(key for run in runs for key in run.config))
    names = {f"c{k}": key for k, key in enumerate(keys)}
    table = {column: [runs[i].config.get(key) for i in kept] for column, key in names.items()}
    return pd.DataFrame(table), names


def lanes(begun: np.ndarray, ended: np.ndarray) -> np.ndarray:
    """(k,) the lowest lane that is free when each begins, for starts in ascending order."""
    busy: list[tuple[float, int]] = []  # (when it is free, lane)
    free: list[int] = []
    found = np.zeros(len(begun), dtype=np.int64)
    for i, (start, end) in enumerate(zip(begun, ended, strict=True)):
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        found[i] = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (float(end), int(found[i])))
    return found


_NAMES = {"flops": "C", "loss": "loss", "state": "state", "began": "began", "took": "took"}


def _texts(bar: Bar, begun: float, ended: float) -> dict[str, str]:
    """The texts of a bar."""
    run, again = bar.run, f", attempt {bar.attempt}" if bar.attempt > 1 else ""
    return {
        "name": f"{run.name}{again}",
        "state": bar.state,
        "flops": flops(run.C),
        "loss": "–" if bar.retried or np.isnan(run.loss) else f"{run.loss:.5g}",
        "began": f"{datetime.fromtimestamp(begun, UTC):%Y-%m-%d %H:%M:%S} UTC",
        "took": duration(ended - begun) + (" so far" if bar.ended is None else ""),
    }


def duration(seconds: float) -> str:
    """'1.5 hours', '2 minutes', '0.21 seconds'."""
    size, unit = next(((s, u) for s, u, _ in UNITS if seconds >= s), (1.0, "seconds"))
    text = number(seconds / size, 2)
    return f"{text} {unit.removesuffix('s') if text == '1' else unit}"


def clock(
    bars: Sequence[Bar], *, until: float, name: str = "", width: int = WIDE
) -> alt.VConcatChart:
    """Runs as bars over time; ``until`` ends those under way, in seconds since 1970."""
    data = clock_data(bars, until=until)
    room = draw.view_of(width)
    since = f"{data.unit.capitalize()} since {data.start}"
    n_ticks = max(room.width // 70, 3)
    axis = draw.linear_axis(since, (0.0, 1.01 * data.end), n_ticks=n_ticks)
    most = f"at most {data.n_lanes} at once" if data.n_lanes > 1 else "one at a time"
    line = f"{plural(data.n_runs, 'run')} begun, {flops(data.total)} FLOPs, {most}"
    spent = spend_panel(room, data.spent, field("time", axis), "Begun (FLOPs)")
    panels = [_bars(data, {**axis, "title": None}, room), spent]
    return room.stack(panels, draw.named("Runs by the clock", name), [line])


def _bars(data: ClockData, axis: Channel, room: draw.View) -> alt.LayerChart:
    height = min(HIGH, max(LANE * data.n_lanes, 2 * LANE))
    # Lanes have no order to be read off: an axis with a title and nothing else.
    still = {"labels": False, "grid": False, "domain": False, "ticks": False}
    scale = {"domain": [data.n_lanes, 0], "nice": False}
    y = {"type": "quantitative", "title": "At once", "scale": scale, "axis": still}
    ends = {"x": field("begun", axis), "x2": field("ended"), **draw.span(y)}
    marks = {state: (mark("rect", f"bar-{state}"), text) for state, text in TEXTS.items()}
    signs = {state: (mark("point", f"state-{state}"), "") for state in MARKED}
    at_end = {"x": field("ended", axis), "y": field("lane", y)}
    layers = [
        *layers_by(data.bars, "state", marks, tooltip=data.names, **ends),
        *layers_by(_middle(data.bars), "state", signs, tooltip=data.names, **at_end),
        *_costs(data, axis, y, room.width, height),
    ]
    return room.panel(layers, height)


def _costs(data: ClockData, axis: Channel, y: Channel, pixels: int, height: int) -> list[alt.Chart]:
    """The compute of a run, written into its bar where there is room."""
    if height / data.n_lanes < 14:
        return []
    per_unit = pixels / (1.01 * data.end)
    wide = (data.bars["ended"] - data.bars["begun"]) * per_unit
    room = wide > data.bars["flops"].map(lambda text: text_width(text, 11) + 10)
    layers = []
    dark = data.bars["state"].isin(DARK)
    for which, style in ((dark, "bar-note"), (~dark, "note-ink")):
        frame = _middle(data.bars[room & which])
        if not frame.empty:
            text = {"field": "label", "type": "nominal"}
            where = {"x": field("begun", axis), "y": field("lane", y), "text": text}
            made = layer(frame, mark("text", style, dx=5), **where)
            made["transform"] = [{"calculate": flops_label("datum.C"), "as": "label"}]
            layers.append(made)
    return layers


def _middle(bars: pd.DataFrame) -> pd.DataFrame:
    return bars.assign(lane=(bars["low"] + bars["high"]) / 2)


def spend_panel(room: draw.View, spent: pd.DataFrame, x: Channel, heading: str) -> alt.LayerChart:
    """FLOPs spent so far (column spent) along ``x``, as a staircase."""
    axis = draw.log_axis("C", padded([*spent["spent"]], share=0.06), pixels=LOW, gap=24)
    line = mark("line", "law", interpolate="step-after")
    layers = [layer(spent, line, x=x, y=field("spent", {**axis, "title": heading}))]
    return room.panel(layers, LOW)
