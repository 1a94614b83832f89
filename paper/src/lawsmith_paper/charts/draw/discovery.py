"""A replay step by step: what a frame knew of the loss, and the path of the answer.

Marks show named data ('line', 'runs', …) that a page exchanges from frame to frame; axes are those
of the whole replay, so that only what is known moves. `frame_datasets` and `run_datasets` have
the rows of a frame.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.charts.draw import (
    WIDE,
    Channel,
    KeyEntry,
    field,
    key,
    layer,
    log_axis,
    loss_axis,
    mark,
    view,
    view_of,
)
from lawsmith.charts.ticks import padded
from lawsmith.formats import flops, number, percent
from lawsmith_paper.charts.data.discovery import DiscoveryData
from lawsmith_paper.charts.data.frames import Frame

PATH_HEIGHT = 190


def named(name: str, like: pd.DataFrame, what: Channel, **channels: Any) -> alt.Chart:
    """A layer of the rows that the page calls ``name``, whose columns are those of ``like``."""
    chart = layer(like, what, **channels)
    chart.data = alt.NamedData(name=name)
    return chart


def plane(data: DiscoveryData, *, width: int = WIDE) -> alt.LayerChart:
    """Loss against compute: the runs so far, the predicted frontier, the law, the next run."""
    room = view_of(width)
    pixels, height = room.width, room.height
    along = [*data.reference["x"], *data.runs["x"]]
    x = field("x", log_axis(data.x, padded(along), pixels=pixels))
    y = loss_axis(y_domain(data), pixels=height)
    like = data.frames[-1]
    where = {"x": x, "y": field("loss", y)}
    ends = {"x": x, "y": field("low", y), "y2": field("high")}
    layers = [
        *_law_layers(like, x, y),
        *_run_layers(data, where),
        named("predicted", like.predicted, mark("rule", "stem", clip=True), **ends),
        named("predicted", like.predicted, mark("point", "fantasized"), **where),
        named("seen", like.seen, mark("point", "fitted"), **where),
        named("latest", data.runs, mark("point", "envelope"), **where),
        named("next", like.next, mark("rule", "map-drift", clip=True), **ends),
        named("next", like.next, mark("point", "held-out", clip=True), **where),
        *_target_layers(like, x, y),
        *key(key_entries(data), pixels=pixels),
    ]
    return view(layers, width=pixels, height=height)


def y_domain(data: DiscoveryData) -> tuple[float, float]:
    """Every run inside the fence and every law in its middle; bands may reach beyond."""
    known = data.runs["loss"][data.runs["loss"] <= data.top]
    drawn = pd.concat([known, data.reference["loss"], data.path["loss"]])
    low, high = float(drawn.min()), float(drawn.max())
    return padded([low / (high / low) ** 0.1, high])


def _law_layers(like: Frame, x: Channel, y: Channel) -> list[alt.Chart]:
    ends = {"y": field("truth_low", y), "y2": field("truth_high")}
    layers = [named("line", like.line, mark("area", "band", clip=True), x=x, **ends)]
    reference = pd.DataFrame({"x": [1.0], "loss": [1.0]})
    behind = mark("line", "law-behind", clip=True)
    layers.append(named("reference", reference, behind, x=x, y=field("loss", y)))
    for end in ("pool_low", "pool_high"):
        line = mark("line", "series-1-dashed", clip=True)
        layers.append(named("line", like.line, line, x=x, y=field(end, y)))
    fitted = mark("line", "law", clip=True)
    return [*layers, named("line", like.line, fitted, x=x, y=field("fitted", y))]


def _run_layers(data: DiscoveryData, where: dict[str, Channel]) -> list[alt.Chart]:
    names = {"run": "run", **data.names, "loss": "loss"}
    tick = mark("tick", "off-scale", orient="vertical", size=9)
    edge = {"x": where["x"], "y": {"value": 4}}
    return [
        named("off", data.runs, tick, tooltip=names, **edge),
        named("initial", data.runs, mark("point", "state-initial"), tooltip=names, **where),
        named("runs", data.runs, mark("point", "run"), tooltip=names, **where),
    ]


def _target_layers(like: Frame, x: Channel, y: Channel) -> list[alt.Chart]:
    bar = mark("rule", "target-bar", clip=True)
    broad = mark("rule", "series-1", strokeWidth=6, strokeOpacity=0.55, clip=True)
    pool = {"y": field("pool_low", y), "y2": field("pool_high")}
    truth = {"y": field("truth_low", y), "y2": field("truth_high")}
    point = mark("point", "target", clip=True)
    return [
        named("target", like.target, broad, x=x, **pool),
        named("target", like.target, bar, x=x, **truth),
        named("target", like.target, point, x=x, y=field("fitted", y)),
    ]


def key_entries(data: DiscoveryData) -> list[KeyEntry]:
    """What the marks mean, for all frames."""
    level = percent(data.level)
    return [
        KeyEntry("point", "state-initial", "initial design"),
        KeyEntry("point", "run", "run"),
        KeyEntry("point", "envelope", "latest run"),
        KeyEntry("point", "fitted", "predicted frontier, run"),
        KeyEntry("point", "fantasized", "predicted frontier, not run"),
        KeyEntry("point", "held-out", "next run, as expected"),
        KeyEntry("line", "law", "law of the predicted frontier"),
        KeyEntry("area", "band", f"{level} interval of the true loss"),
        KeyEntry("line", "series-1-dashed", f"{level} interval of the whole pool's law"),
        KeyEntry("line", "law-behind", "whole pool's law, not known to the search"),
        KeyEntry("point", "target", f"target, {flops(data.compute)} FLOPs"),
        *_off_entry(data),
    ]


def _off_entry(data: DiscoveryData) -> list[KeyEntry]:
    off = ~(data.runs["loss"] <= data.top)
    text = f"diverged, or above {number(data.top, 3)}"
    return [KeyEntry("tick", "off-scale", text)] if off.any() else []


def path(data: DiscoveryData, *, width: int = WIDE) -> alt.LayerChart:
    """The answer at the target against compute spent, and where the frame stands."""
    pixels = view_of(width).width
    points = data.path
    axis = log_axis("spent", padded([*points["spent"]]), pixels=pixels)
    x = field("spent", {**axis, "title": "Compute spent (% of the whole pool's)"})
    known = [data.answer] if np.isfinite(data.answer) else []
    centre = [*points["loss"], *known]
    room = (max(centre) / min(centre)) ** 0.35 * 1.06
    y = loss_axis((min(centre) / room, max(centre) * room), pixels=PATH_HEIGHT)
    ends = {"y": field("truth_low", y), "y2": field("truth_high")}
    names = {"spent": "spent (%)", "n_runs": "runs", "loss": "predicted"}
    names |= {"truth_low": "from", "truth_high": "to"}
    dashed = mark("line", "series-1-dashed", clip=True)
    layers = [
        layer(points, mark("area", "band", clip=True), x=x, **ends),
        layer(points, dashed, x=x, y=field("pool_low", y)),
        layer(points, dashed, x=x, y=field("pool_high", y)),
        layer(points, mark("line", "law", clip=True), x=x, y=field("loss", y)),
        named("now", points, mark("rule", "map-drift"), x=x),
        named("now", points, mark("point", "target"), tooltip=names, x=x, y=field("loss", y)),
    ]
    entries = [
        KeyEntry("line", "law", f"loss predicted at {flops(data.compute)} FLOPs"),
        KeyEntry("area", "band", "interval of the true loss"),
        KeyEntry("line", "series-1-dashed", "of the whole pool's law"),
        KeyEntry("point", "target", "now"),
    ]
    if known:
        rule = mark("rule", "threshold")
        layers.insert(1, layer(pd.DataFrame({"loss": known}), rule, y=field("loss", y)))
        entries.append(KeyEntry("line", "threshold", "whole pool's law"))
    return view([*layers, *key(entries, pixels=pixels)], width=pixels, height=PATH_HEIGHT)


def frame_datasets(data: DiscoveryData, frame: Frame) -> dict[str, pd.DataFrame]:
    """What a frame alone has, by the names under which `plane` and `path` look for it."""
    return {
        "line": frame.line,
        "predicted": frame.predicted,
        "seen": frame.seen,
        "next": frame.next,
        "target": frame.target,
        "reference": data.reference if len(frame.line) else data.reference.iloc[:0],
        "now": data.path[data.path["n_runs"] == frame.n_runs],
    }


def run_datasets(data: DiscoveryData, frame: Frame) -> dict[str, pd.DataFrame]:
    """A frame's runs, by the names under which `plane` looks for them; a page does this itself."""
    made = run_kinds(data).iloc[: frame.shown]
    kinds = {kind: made[made["kind"] == kind] for kind in ("initial", "runs", "off")}
    return kinds | {"latest": made.iloc[-1:] if frame.n_runs else made.iloc[:0]}


def run_kinds(data: DiscoveryData) -> pd.DataFrame:
    """All runs with the name of the data that they belong to."""
    on = data.runs["loss"] <= data.top
    kind = np.where(~on, "off", np.where(data.runs["initial"], "initial", "runs"))
    return data.runs.drop(columns="initial").assign(kind=kind)
