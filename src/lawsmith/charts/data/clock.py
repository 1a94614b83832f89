"""The numbers of the clock chart: when each run was under way, beside which others, its cost."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pandas as pd

from lawsmith.charts.data.runs import MAX_RUNS, short
from lawsmith.charts.unavailable import ChartUnavailable
from lawsmith.formats import flops, number

STATES = ("initial", "done", "diverged", "failed", "retried", "pending")
# (seconds of one, its name, seconds from which it is the unit of an axis)
UNITS = ((86400.0, "days", 3 * 86400.0), (3600.0, "hours", 3 * 3600.0), (60.0, "minutes", 180.0))


@dataclass(frozen=True)
class Bar:
    """One attempt at a run.

    begun, ended  seconds since 1970; ``ended`` is None while it is under way
    cost          FLOPs it adds to what the study spends; 0 for a further attempt
    state         one of STATES; 'retried' is an attempt that another followed
    """

    name: str
    begun: float
    ended: float | None
    state: str
    C: float
    cost: float
    loss: float
    config: Mapping[str, float | int | str]
    attempt: int = 1


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
    names = list(dict.fromkeys(key for bar in ordered for key in bar.config))
    for k, key in enumerate(names):
        frame[f"c{k}"] = [ordered[i].config.get(key) for i in kept]
    frame["begun"], frame["ended"] = (short((t[kept] - start) / size) for t in (begun, ended))
    frame["low"], frame["high"] = lane[kept] + 0.1, lane[kept] + 0.9
    frame["C"] = short(ordered[i].C for i in kept)
    total = np.cumsum([bar.cost for bar in ordered])
    steps = pd.DataFrame({"time": short((begun[kept] - start) / size), "spent": short(total[kept])})
    last = pd.DataFrame({"time": [length / size], "spent": short(total[-1:])})
    return ClockData(
        bars=frame,
        names={"name": "run", **{f"c{k}": key for k, key in enumerate(names)}, **_NAMES},
        spent=pd.concat([steps, last], ignore_index=True),
        n_runs=len({bar.name for bar in ordered}),
        n_lanes=int(lane.max()) + 1,
        unit=unit,
        start=f"{datetime.fromtimestamp(start, UTC):%Y-%m-%d %H:%M} UTC",
        end=length / size,
    )


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


_NAMES = {
    "flops": "C",
    "loss": "loss",
    "state": "state",
    "began": "began",
    "took": "took",
}


def _texts(bar: Bar, begun: float, ended: float) -> dict[str, str]:
    """What a reader is told of a bar."""
    again = f", attempt {bar.attempt}" if bar.attempt > 1 else ""
    return {
        "name": f"{bar.name}{again}",
        "state": bar.state,
        "flops": flops(bar.C),
        "loss": "–" if np.isnan(bar.loss) else f"{bar.loss:.5g}",
        "began": f"{datetime.fromtimestamp(begun, UTC):%Y-%m-%d %H:%M:%S} UTC",
        "took": duration(ended - begun) + (" so far" if bar.ended is None else ""),
    }


def duration(seconds: float) -> str:
    """'1.5 hours', '2 minutes', '0.21 seconds'."""
    size, unit = next(((s, u) for s, u, _ in UNITS if seconds >= s), (1.0, "seconds"))
    told = number(seconds / size, 2)
    return f"{told} {unit.removesuffix('s') if told == '1' else unit}"
