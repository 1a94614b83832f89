"""The choices chart: the pool, the runs a replay chose by when it did, the laws it found."""

from __future__ import annotations

import altair as alt
import pandas as pd

from lawsmith.charts.data.choices import (
    FANTASIZED,
    OBSERVED,
    REFERENCE,
    ChoicesData,
    choices_data,
)
from lawsmith.charts.draw import titles
from lawsmith.charts.draw.key import Entry, key
from lawsmith.charts.draw.law import off_scale_text
from lawsmith.charts.draw.parts import (
    LEGEND,
    TWO_COLUMNS,
    WIDE,
    Channel,
    field,
    layer,
    log_axis,
    loss_axis,
    mark,
    view,
    view_size,
)
from lawsmith.charts.draw.text import title
from lawsmith.charts.draw.ticks import padded
from lawsmith.charts.theme import LIGHT, themed
from lawsmith.formats import flops, percent
from lawsmith.replay.records import Trace

# The pool's law lies broad below the found ones, so that they can be seen to agree.
LINES = {
    REFERENCE: ("law-behind", "law of the whole pool"),
    FANTASIZED: ("series-1", "law found: observed + fantasized"),
    OBSERVED: ("series-1-dashed", "law found: observed only"),
}


def choices(trace: Trace, *, width: int = WIDE) -> alt.LayerChart:
    """Loss against the law's input: what the pool held, what was run and when, what was found."""
    return themed(draw_choices(choices_data(trace), trace, width=width), LIGHT)


def draw_choices(data: ChoicesData, trace: Trace, *, width: int) -> alt.LayerChart:
    beside = width >= TWO_COLUMNS
    legend = LEGEND if beside else 0
    pixels, height = view_size(width, legend=legend)
    x = log_axis(data.x, padded([*data.lines["x"], *data.pool["x"]]), pixels=pixels)
    losses = [data.pool, data.chosen, data.envelope, data.held_out]
    domain = padded([*pd.concat([frame["loss"] for frame in losses])])
    y = loss_axis(domain, pixels=height)
    where = {"x": field("x", x), "y": field("loss", y)}
    layers = [
        *([] if data.pool.empty else [layer(data.pool, mark("point", "run"), **where)]),
        *_line_layers(data, where, (REFERENCE,)),
        *_edge_layers(data, x),
        *_chosen_layers(data, where, beside=beside),
        layer(data.envelope.drop(columns="run"), mark("point", "envelope"), **where),
        *_line_layers(data, where, (OBSERVED, FANTASIZED)),
        *([] if data.held_out.empty else [layer(data.held_out, mark("point", "target"), **where)]),
        *key(key_entries(data), pixels=pixels),
    ]
    words = title(
        titles.task_heading("Runs chosen", trace.task),
        _subtitle(data, trace),
        pixels=pixels + legend,
    )
    return view(layers, width=pixels, height=height, title=words)


def _line_layers(
    data: ChoicesData, where: dict[str, Channel], names: tuple[str, ...]
) -> list[alt.Chart]:
    layers = []
    for name in names:
        frame = data.lines[data.lines["law"] == name].drop(columns="law")
        if not frame.empty:
            layers.append(layer(frame, mark("line", LINES[name][0], clip=True), **where))
    return layers


def _chosen_layers(
    data: ChoicesData, where: dict[str, Channel], *, beside: bool
) -> list[alt.Chart]:
    names = {"iteration": "run", **data.names, "loss": "loss"}
    color = _color(data, beside=beside)
    layers = []
    for initial, style in ((False, "cell"), (True, "cell-square")):
        frame = data.chosen[data.chosen["initial"] == initial].drop(columns="initial")
        if not frame.empty:
            point = mark("point", style)
            layers.append(layer(frame, point, tooltip=names, color=color, **where))
    return layers


def _color(data: ChoicesData, *, beside: bool) -> Channel:
    """When a run was chosen; linear, as runs are equally many everywhere along it."""
    last = int(max([*data.chosen["iteration"], *data.off_scale["iteration"]]))
    return {
        "field": "iteration",
        "type": "quantitative",
        "scale": {"domain": [1, max(last, 2)]},
        "legend": {
            "title": "n-th run",
            "orient": "right" if beside else "bottom",
            "direction": "vertical" if beside else "horizontal",
        },
    }


def _edge_layers(data: ChoicesData, x: Channel) -> list[alt.Chart]:
    """Chosen runs without a place on the loss axis, as ticks along its upper edge."""
    if data.off_scale.empty:
        return []
    tick = mark("tick", "off-scale", orient="vertical", size=9)
    names = {"iteration": "run", **data.names, "loss": "loss", "state": "state"}
    frame = data.off_scale.drop(columns="initial")
    return [layer(frame, tick, tooltip=names, x=field("x", x), y={"value": 4})]


def key_entries(data: ChoicesData) -> list[Entry]:
    """What the chart's marks mean, only those that it has."""
    has = set(data.lines["law"])
    entries = {
        Entry("point", "run", "not run"): len(data.pool) > 0,
        Entry("point", "key-cell-square", "initial design"): bool(data.chosen["initial"].any()),
        Entry("point", "key-cell", "run"): not data.chosen["initial"].all(),
        Entry("point", "envelope", "true envelope of the pool"): True,
        Entry("point", "target", "held-out frontier"): len(data.held_out) > 0,
        **{Entry("line", *LINES[name]): name in has for name in LINES},
        Entry("tick", "off-scale", off_scale_text(data)): len(data.off_scale) > 0,
    }
    return [entry for entry, shown in entries.items() if shown]


def _subtitle(data: ChoicesData, trace: Trace) -> list[str]:
    last = trace.steps[-1]
    run = f"{last.iteration} of the pool's {len(trace.task.pool)} runs"
    spent = f"{percent(last.cost_fraction)} of {flops(trace.task.total_compute)} FLOPs"
    found = f"{int(data.envelope['run'].sum())} of {len(data.envelope)} envelope points run"
    lines = [f"{trace.policy}, seed {trace.seed} · {run}, {spent} · {found}"]
    return lines if len(trace.task.law.inputs) == 1 else [*lines, "laws at their best N and D"]
