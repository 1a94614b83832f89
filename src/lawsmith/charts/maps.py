"""The hyperparameter maps: excess loss over two hyperparameters, panels by growing compute.

A panel is an (N, D) cell: how far each pair of values lies above the best of that cell. Further
hyperparameters are at their best. The drifting optimum is λ*(N, D) = c·N^a·D^b of both axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.analysis import HyperparameterLaw
from lawsmith.charts import draw
from lawsmith.charts.draw import WIDE, Channel, field, layer, mark
from lawsmith.charts.runs import ChartUnavailable, short
from lawsmith.formats import count, flops
from lawsmith.grid import BoolArray, FloatArray, Grid, IntArray

HEIGHT, SPACING, LEFT = 150, 22, 52
GAP = 42  # pixels between ticks, which stand at values that were tried
SMALL, LARGE = ".2~r", ".4~r"  # there is no room for 0.0004125; a batch of 128 is not 130
ORDER = {"value": 0}  # points joined as they come, by compute, and not from left to right

MAX_PANELS = 6
MIN_PAIRS = 4  # of values in a cell, for a map and not a few dots
MIN_BEST = 3  # cells that no cheaper one beats, to show those alone
TOPS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)  # per cent above the best, at which colours end
SHARE = 0.6  # of the cells that the colours tell apart: a corner of poor values takes no room


@dataclass(frozen=True)
class MapPanel:
    """One (N, D) cell.

    cells    a, b, loss, excess (%), a_low, a_high, b_low, b_high, run (bool), best (bool)
    optimum  a, b: where the two power laws see the best; None without them
    """

    N: float
    D: float
    C: float
    cells: pd.DataFrame
    optimum: tuple[float, float] | None


@dataclass(frozen=True)
class MapsData:
    """What the maps show: axes (a across, b up), panels by compute, and the drift over them.

    drift       a, b: the trend of the panels' optima with compute, by compute; may be empty
    n_cells     (N, D) cells that have a map
    fantasized  whether losses of runs not made are among the cells
    optimal     whether panels and drift are of cells that no cheaper one beats
    top         per cent above the best: what is worse than that is drawn as that
    """

    across: str
    up: str
    panels: tuple[MapPanel, ...]
    drift: pd.DataFrame
    n_cells: int
    fantasized: bool
    optimal: bool
    top: float


def maps_data(
    grid: Grid, loss: FloatArray, run: BoolArray, laws: Sequence[HyperparameterLaw] = ()
) -> MapsData:
    """The maps of ``loss`` (m,), NaN where there is none; ``run`` (m,) tells runs from fantasies.

    ChartUnavailable with fewer than two tuned hyperparameters.
    """
    across, up = pick_axes(grid)
    known = np.flatnonzero(np.isfinite(loss))
    cells = grid.cells(("N", "D"))
    groups = [known[cells[known] == cell] for cell in np.unique(cells[known])]
    useful = [rows for rows in groups if _spans(grid, rows, across, up)]
    if not useful:
        raise ChartUnavailable(
            f"no (N, D) was run at {MIN_PAIRS} pairs of {across} and {up} or more"
        )
    useful.sort(key=lambda rows: float(grid.C[rows[0]]))
    n_cells = len(useful)
    best = _best_cells(loss, useful)
    optimal = len(best) >= MIN_BEST
    useful = best if optimal else useful
    at = np.unique(np.linspace(0, len(useful) - 1, MAX_PANELS).round().astype(int))
    by_axis = {law.axis: law for law in laws}
    pair = (by_axis[across], by_axis[up]) if {across, up} <= set(by_axis) else None
    panels = tuple(_panel_data(grid, loss, run, useful[i], (across, up), pair) for i in at)
    fantasized = any(not panel.cells["run"].all() for panel in panels)
    top = colour_top(np.concatenate([panel.cells["excess"] for panel in panels]))
    return MapsData(across, up, panels, _drift(panels), n_cells, fantasized, optimal, top)


def colour_top(excess: FloatArray) -> float:
    """The least of TOPS that SHARE of the cells lie below, the largest where none is enough."""
    wanted = float(np.quantile(excess, SHARE))
    return next((top for top in TOPS if top >= wanted), TOPS[-1])


def _drift(panels: Sequence[MapPanel]) -> pd.DataFrame:
    """Where the power laws see the best as compute grows: straight in logs, as they are.

    The panels' own N and D zigzag about their trend, and so does the best of each.
    """
    at = [(panel.C, *panel.optimum) for panel in panels if panel.optimum is not None]
    logs = np.log(np.array(at).reshape(-1, 3))
    if len(logs) < 2 or np.ptp(logs[:, 0]) == 0.0:
        return pd.DataFrame({"a": [], "b": []})
    x = logs[:, 0] - logs[:, 0].mean()
    slopes = x @ logs[:, 1:] / (x @ x)
    trend = np.exp(logs[:, 1:].mean(axis=0) + x[:, None] * slopes)
    return pd.DataFrame({"a": short(trend[:, 0]), "b": short(trend[:, 1])})


def _best_cells(loss: FloatArray, groups: Sequence[IntArray]) -> list[IntArray]:
    """Of cells by compute those that no cheaper one beats: along them the drift is one path."""
    found, least = [], np.inf
    for rows in groups:
        here = float(loss[rows].min())
        if here < least:
            found.append(rows)
            least = here
    return found


def pick_axes(grid: Grid) -> tuple[str, str]:
    """The learning rate and the batch size where they can be told, else the two most varied."""
    if not {"N", "D"} <= set(grid.names):
        raise ChartUnavailable("the runs have no N and D")
    tuned = [
        axis.name
        for axis in grid.axes
        if axis.kind == "log"
        and axis.name not in ("N", "D", "C")
        and len(np.unique(grid.numbers(axis.name))) > 1
    ]
    if len(tuned) < 2:
        found = f"only {tuned[0]} was" if tuned else "none was"
        raise ChartUnavailable(f"a map needs two tuned hyperparameters: {found}")
    tuned.sort(key=lambda name: -len(np.unique(grid.numbers(name))))
    rate = next((n for n in tuned if "lr" in n.lower() or "learning" in n.lower()), tuned[0])
    rest = [name for name in tuned if name != rate]
    return rate, next((n for n in rest if n.lower().lstrip("g").startswith("b")), rest[0])


def _spans(grid: Grid, rows: IntArray, across: str, up: str) -> bool:
    """Whether the rows of a cell spread over both axes."""
    a, b = grid.numbers(across)[rows], grid.numbers(up)[rows]
    pairs = len(np.unique(np.stack([a, b]), axis=1).T)
    return pairs >= MIN_PAIRS and len(np.unique(a)) > 1 and len(np.unique(b)) > 1


def _panel_data(
    grid: Grid,
    loss: FloatArray,
    run: BoolArray,
    rows: IntArray,
    axes: tuple[str, str],
    laws: tuple[HyperparameterLaw, HyperparameterLaw] | None,
) -> MapPanel:
    across, up = axes
    frame = pd.DataFrame(
        {
            "a": grid.numbers(across)[rows],
            "b": grid.numbers(up)[rows],
            "loss": loss[rows],
            "run": run[rows],
        }
    )
    frame = frame.sort_values("loss").drop_duplicates(["a", "b"]).reset_index(drop=True)
    least = float(frame["loss"].iloc[0])
    frame["best"] = frame.index == 0
    frame["excess"] = short(100 * (frame["loss"] / least - 1))
    frame["loss"] = short(frame["loss"])
    frame = boxed(frame, grid.numbers(across), grid.numbers(up))
    first = rows[0]
    return MapPanel(
        float(grid.N[first]),
        float(grid.D[first]),
        float(grid.C[first]),
        frame,
        None if laws is None else _optimum(grid, rows, laws),
    )


def edges(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(low, high) of each distinct value: half-way (in logs) to its neighbours."""
    logs = np.log(np.unique(values))
    middles = (logs[1:] + logs[:-1]) / 2
    low = np.append(2 * logs[0] - middles[0], middles)
    high = np.append(middles, 2 * logs[-1] - middles[-1])
    return np.exp(low), np.exp(high)


def boxed(frame: pd.DataFrame, a: FloatArray, b: FloatArray) -> pd.DataFrame:
    """With a_low, a_high, b_low, b_high: the square of each row among the values of both axes."""
    for name, values in (("a", a), ("b", b)):
        low, high = edges(values)
        at = np.searchsorted(np.unique(values), frame[name])
        frame = frame.assign(**{f"{name}_low": short(low[at]), f"{name}_high": short(high[at])})
    return frame


def squares(x: Channel, y: Channel) -> dict[str, Channel]:
    """The channels of the squares of `boxed`."""
    across = {"x": field("a_low", x), "x2": field("a_high")}
    return across | {"y": field("b_low", y), "y2": field("b_high")}


def _optimum(
    grid: Grid, rows: IntArray, laws: tuple[HyperparameterLaw, HyperparameterLaw]
) -> tuple[float, float]:
    at = {"N": grid.N[rows[:1]], "D": grid.D[rows[:1]]}
    a, b = (float(law.fit.predict(at)[0]) for law in laws)
    return a, b


def maps(
    grid: Grid,
    loss: FloatArray,
    run: BoolArray,
    laws: Sequence[HyperparameterLaw] = (),
    *,
    name: str = "",
    width: int = WIDE,
) -> alt.VConcatChart:
    """Loss over two hyperparameters at growing scale; see `maps_data`."""
    data = maps_data(grid, loss, run, laws)
    beside = width >= draw.TWO_COLUMNS
    n_columns = min(3 if beside else 1, len(data.panels))
    legend = draw.LEGEND + 12 if beside else 0
    room = draw.panels_of(width, n_columns, spacing=SPACING, left=LEFT, legend=legend)
    axes = {
        "a": _axis(data.across, grid.numbers(data.across), room.width),
        "b": _axis(data.up, grid.numbers(data.up), HEIGHT),
    }
    last_row = (len(data.panels) - 1) // n_columns
    panels = [
        _panel(panel, data, _titled(axes, i, n_columns, last_row), room.width, beside=beside)
        for i, panel in enumerate(data.panels)
    ]
    heading = draw.named(f"Loss over {data.across} and {data.up}", name)
    return room.chart(panels, heading, _subtitle(data))


def _axis(name: str, values: FloatArray, pixels: int) -> Channel:
    low, high = edges(values)
    axis = draw.log_axis(name, (float(low[0]), float(high[-1])), pixels=pixels)
    tried: FloatArray = np.unique(values)
    step = -(-len(tried) // max(pixels // GAP, 1))
    digits = f"datum.value < 1 ? '{SMALL}' : '{LARGE}'"
    labels = {"values": tried[::step].tolist(), "labelExpr": f"format(datum.value, {digits})"}
    return {**axis, "axis": {**axis["axis"], **labels}}


def _titled(axes: dict[str, Channel], i: int, n_columns: int, last_row: int) -> dict[str, Channel]:
    """Titles stand below the last row and beside the first column only."""
    a = axes["a"] if i // n_columns == last_row else {**axes["a"], "title": None}
    b = axes["b"] if i % n_columns == 0 else {**axes["b"], "title": None}
    return {"a": a, "b": b}


def _panel(
    panel: MapPanel, data: MapsData, axes: dict[str, Channel], pixels: int, *, beside: bool
) -> alt.LayerChart:
    cells = panel.cells.drop(columns="best")
    names = {"a": data.across, "b": data.up, "loss": "loss", "excess": "above best (%)"}
    where = {"x": field("a", axes["a"]), "y": field("b", axes["b"])}
    ends = squares(axes["a"], axes["b"])
    boxes = cells.drop(columns="run")
    color = _color(data.top, beside=beside)
    layers = [layer(boxes, mark("rect", "map-cell"), tooltip=names, color=color, **ends)]
    if data.fantasized and panel.cells["run"].any():
        dots = panel.cells.loc[panel.cells["run"], ["a", "b"]]
        means = "run; other squares are predicted"
        layers.append(layer(dots, mark("point", "map-run"), means, **where))
    if len(data.drift) > 1:
        drift, means = mark("line", "map-drift", clip=True), "trend of λ* with compute"
        layers.append(layer(data.drift, drift, means, order=ORDER, **where))
    if panel.optimum is not None:
        frame = pd.DataFrame([panel.optimum], columns=["a", "b"])
        means = "best by λ* = c·N^a·D^b"
        layers.append(layer(frame, mark("point", "map-law", clip=True), means, **where))
    best = panel.cells.loc[panel.cells["best"], ["a", "b"]]
    layers.append(layer(best, mark("point", "map-best"), "best of its cell", **where))
    head = f"{flops(panel.C, 2)} FLOPs: N {count(panel.N)}, D {count(panel.D)}"
    # A text and not a title: Vega lifts titles clear of tick labels, each panel's by its own.
    text = mark("text", "note-ink", text=head)
    layers.append(layer(pd.DataFrame({"x": [0]}), text, x={"value": 0}, y={"value": -10}))
    return draw.view(layers, width=pixels, height=HEIGHT)


def _color(top: float, *, beside: bool) -> Channel:
    values = [0, 0.1 * top, 0.2 * top, 0.4 * top, top]
    legend = {
        "title": "% above best",
        "values": values,
        "labelExpr": f"datum.value >= {top:g} ? '≥ {top:g}' : format(datum.value, '~g')",
    }
    scale = {"type": "sqrt", "domain": [0, top], "clamp": True, "reverse": True}
    return draw.gradient("excess", scale, legend, beside=beside)


def _subtitle(data: MapsData) -> list[str]:
    shown, n = len(data.panels), data.n_cells
    which = f"{shown} of {n}" if shown < n else f"{n}"
    text = f"{which} (N, D) cells{', of those best for their compute' if data.optimal else ''}"
    most = max(float(panel.cells["excess"].max()) for panel in data.panels)
    worse = f"; the worst lies {most:.3g} % above" if most > data.top else ""
    return [f"{text}; further hyperparameters at their best{worse}"]
