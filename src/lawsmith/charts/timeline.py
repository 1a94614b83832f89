"""The timeline: what each run cost in the order they were made, the window, and the spend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.charts import draw
from lawsmith.charts.clock import TEXTS, Event, config_columns, spend_panel
from lawsmith.charts.draw import WIDE, Channel, field, layer, layers_by, mark
from lawsmith.charts.runs import MAX_RUNS, ChartUnavailable, short
from lawsmith.charts.ticks import padded
from lawsmith.formats import flops, plural

HEIGHT = 250


@dataclass(frozen=True)
class TimelineData:
    """What the timeline shows.

    runs     order, C, loss, state, name, c0, c1, …: every run, or some of many
    names    column of ``runs`` → what it is called
    reached  order, C: the largest compute run so far
    window   order, C: the largest compute a run could have had, where it changes; else empty
    total    order, spent: FLOPs of all runs so far
    """

    runs: pd.DataFrame
    names: Mapping[str, str]
    reached: pd.DataFrame
    window: pd.DataFrame
    total: pd.DataFrame
    n_runs: int


def timeline_data(events: Sequence[Event], *, max_runs: int = MAX_RUNS) -> TimelineData:
    """The timeline's numbers; ChartUnavailable without a run."""
    if not events:
        raise ChartUnavailable("no run has been made yet")
    order = np.arange(1, len(events) + 1)
    C = np.array([event.C for event in events])
    window = np.array([event.window for event in events])
    kept = np.unique(np.linspace(0, len(events) - 1, max_runs).round().astype(int))
    configs, names = config_columns(events, kept)
    frame = configs.assign(
        order=order[kept],
        C=short(C[kept]),
        loss=short(events[i].loss for i in kept),
        state=[events[i].state for i in kept],
        name=[events[i].name for i in kept],
    )
    # The bound of the whole grid says nothing; a window that grows does.
    bound = np.isfinite(window) & (len(np.unique(window[np.isfinite(window)])) > 1)
    return TimelineData(
        runs=frame,
        names={"name": "run", **names, "C": "C"},
        reached=_steps(order, np.maximum.accumulate(C), "C"),
        window=_steps(order[bound], window[bound], "C"),
        total=_steps(order[kept], np.cumsum(C)[kept], "spent"),
        n_runs=len(events),
    )


def _steps(order: np.ndarray, values: np.ndarray, name: str) -> pd.DataFrame:
    """The points of a staircase at which it changes, and its last."""
    changes = np.append(True, values[1:] != values[:-1]) if len(values) else np.zeros(0, bool)
    changes[-1:] = True
    return pd.DataFrame({"order": order[changes], name: short(values[changes])})


def timeline(events: Sequence[Event], *, name: str = "", width: int = WIDE) -> alt.VConcatChart:
    """Compute of every run in order, the largest so far and the window; below it the spend."""
    data = timeline_data(events)
    room = draw.view_of(width)
    ends, n_ticks = (0.0, data.n_runs + 1.0), max(room.width // 70, 3)
    x = field("order", draw.linear_axis("Runs in order", ends, n_ticks=n_ticks))
    heading = f"Runs in the order they were made: {name}" if name else "Runs in order"
    total = float(data.total["spent"].iloc[-1])
    spent = spend_panel(room, data.total, x, "Spent (FLOPs)")
    panels = [_runs_panel(data, {**x, "title": None}, room), spent]
    return room.stack(panels, heading, [f"{plural(data.n_runs, 'run')}, {flops(total)} FLOPs"])


def _runs_panel(data: TimelineData, x: Channel, room: draw.View) -> alt.LayerChart:
    heights = padded([*data.runs["C"], *data.window["C"]], share=0.05)
    y = field("C", draw.log_axis("C", heights, pixels=HEIGHT, gap=24))
    window = mark("line", "threshold", interpolate="step-after")
    reached = mark("line", "curve-reached", interpolate="step-after")
    marks = {state: (mark("point", f"state-{state}"), text) for state, text in TEXTS.items()}
    names = {**data.names, "loss": "loss", "state": "state"}
    layers = [
        layer(data.window, window, "window: largest to choose from", x=x, y=y),
        layer(data.reached, reached, "largest so far", x=x, y=y),
        *layers_by(data.runs, "state", marks, tooltip=names, x=x, y=y),
    ]
    return room.panel(layers, HEIGHT)
