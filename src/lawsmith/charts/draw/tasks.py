"""A task's charts: accuracy against the loss on the way to it, and against compute."""

from __future__ import annotations

import altair as alt
import pandas as pd

from lawsmith.charts.data.tasks import TaskData, by_compute, by_loss
from lawsmith.charts.draw.key import Entry, key
from lawsmith.charts.draw.parts import (
    WIDE,
    Channel,
    field,
    layer,
    linear_axis,
    log_axis,
    loss_axis,
    mark,
    view,
    view_size,
)
from lawsmith.charts.draw.text import title
from lawsmith.charts.draw.ticks import padded
from lawsmith.charts.theme import LIGHT, themed
from lawsmith.formats import percent
from lawsmith.tasks import TaskAnswer
from lawsmith.tasks.text import chance_text, rests_on

ROOM = 0.04  # of the accuracy axis above and below what is drawn


def accuracy_by_loss(answer: TaskAnswer, *, study: str = "", width: int = WIDE) -> alt.LayerChart:
    """Accuracy against the loss by way of which it is predicted."""
    data = by_loss(answer)
    pixels, _ = view_size(width)
    ends = pd.concat([data.line["loss"], data.targets["loss"]])
    axis = {**loss_axis(padded([*ends]), pixels=pixels), "title": answer.via}
    words = f"{answer.task.name} by {answer.via}"
    return themed(draw_task(data, answer, axis, words=_named(words, study), width=width), LIGHT)


def accuracy_by_compute(
    answer: TaskAnswer, *, study: str = "", width: int = WIDE
) -> alt.LayerChart:
    """Accuracy against compute, at the best N and D."""
    data = by_compute(answer)
    pixels, _ = view_size(width)
    axis = log_axis("C", padded([*data.line["C"]]), pixels=pixels)
    words = f"{answer.task.name} by compute"
    return themed(draw_task(data, answer, axis, words=_named(words, study), width=width), LIGHT)


def _named(words: str, study: str) -> str:
    return f"{words}: {study}" if study else words


def draw_task(
    data: TaskData, answer: TaskAnswer, axis: Channel, *, words: str, width: int
) -> alt.LayerChart:
    pixels, height = view_size(width)
    x = field(data.x, axis)
    y = _accuracy_axis(data, height)
    where = {"x": x, "y": field("accuracy", y)}
    ends = {"y": field("low", y), "y2": field("high")}
    names = {data.x: "C" if data.x == "C" else answer.via, "accuracy": "accuracy"}
    more = {"label": "target", "accuracy": "accuracy", "low": "from", "high": "to"}
    layers = [
        layer(data.line, mark("area", "band", clip=True), x=x, **ends),
        layer(data.runs, mark("point", "fitted-many"), tooltip=names, **where),
        layer(data.line, mark("line", "law", clip=True), **where),
    ]
    if len(data.held_out):
        layers.append(layer(data.held_out, mark("point", "held-out"), tooltip=names, **where))
    if len(data.targets):
        layers += [
            layer(data.targets, mark("rule", "target-bar", clip=True), x=x, **ends),
            layer(data.targets, mark("point", "target"), tooltip=more, **where),
        ]
    layers += key(_entries(data, answer), pixels=pixels)
    heading = title(words, [f"from {rests_on(answer)}", chance_text(answer)], pixels=pixels)
    return view(layers, width=pixels, height=height, title=heading)


def _accuracy_axis(data: TaskData, pixels: int) -> Channel:
    """Everything drawn, of the band too, within 0 and 1."""
    frames = (data.runs, data.line, data.targets, data.held_out)
    drawn = pd.concat([f[c] for f in frames for c in ("accuracy", "low", "high") if c in f])
    low, high = float(drawn.min()), float(drawn.max())
    room = ROOM * max(high - low, 0.02)
    domain = (max(low - room, 0.0), min(high + room, 1.0))
    return linear_axis("Accuracy", domain, n_ticks=max(pixels // 45, 4))


def _entries(data: TaskData, answer: TaskAnswer) -> list[Entry]:
    level = percent(answer.level)
    entries = {
        Entry("point", "fitted-many", "run"): True,
        Entry("point", "held-out", "run held out"): len(data.held_out) > 0,
        Entry("line", "law", "accuracy to expect"): True,
        Entry("area", "band", f"{level} interval of a run"): True,
        Entry("point", "target", "target"): len(data.targets) > 0,
    }
    return [entry for entry, shown in entries.items() if shown]
