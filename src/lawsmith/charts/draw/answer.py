"""The answer chart: every run, the best loss by compute with its band, held-out runs, targets."""

from __future__ import annotations

import altair as alt
import pandas as pd

from lawsmith.answer import Answer
from lawsmith.answer.text import held_out_text, rests_on
from lawsmith.charts.data.answer import BEST, RUN, AnswerData, Answered, answer_data
from lawsmith.charts.draw.key import Entry, key
from lawsmith.charts.draw.law import LABEL_SHARE, off_scale_text, target_layers
from lawsmith.charts.draw.parts import (
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
from lawsmith.formats import percent

MANY = 60  # best runs beyond which they are drawn smaller
STYLES = {RUN: "run", BEST: "fitted"}


def answer(answered: Answered, *, width: int = WIDE) -> alt.LayerChart:
    """Loss against compute: what was run, and the best loss to expect with its interval."""
    return themed(draw_answer(answer_data(answered), answered, width=width), LIGHT)


def draw_answer(data: AnswerData, answered: Answered, *, width: int) -> alt.LayerChart:
    found = answered.answer
    pixels, height = view_size(width)
    x = field("C", log_axis("C", padded([*data.line["C"]]), pixels=pixels))
    domain = _y_domain(data)
    y = loss_axis(domain, pixels=height)
    where = {"x": x, "y": field("loss", y)}
    ends = {"y": field("low", y), "y2": field("high")}
    layers = [
        layer(data.line, mark("area", "band", clip=True), x=x, **ends),
        *_some(data.reference, mark("line", "law-behind", clip=True), where),
        *_edge_layers(data, x),
        *_run_layers(data, where),
        layer(data.line, mark("line", "law", clip=True), **where),
        *_some(data.held_out, mark("point", "held-out"), where, _held_out_names(found)),
        *target_layers(_near(data), x, y, domain),
        *key(key_entries(data, found), pixels=pixels),
    ]
    words = title(f"Best loss by compute: {answered.name}", _lines(found), pixels=pixels)
    return view(layers, width=pixels, height=height, title=words)


def _lines(found: Answer) -> list[str]:
    judged = held_out_text(found)
    return [f"from {rests_on(found)}", *([judged] if judged else [])]


def _near(data: AnswerData) -> pd.DataFrame:
    """The targets that the axis reaches."""
    reached: pd.DataFrame = data.targets[data.targets["C"] <= data.line["C"].max() * (1 + 1e-6)]
    return reached


def _y_domain(data: AnswerData) -> tuple[float, float]:
    """Every point and line, and of the band what does not dwarf them."""
    frames = [data.runs, data.held_out, data.reference, data.line]
    drawn = pd.concat([frame["loss"] for frame in frames if len(frame)])
    low, high = float(drawn.min()), float(drawn.max())
    room = (high / low) ** 0.35
    bottom = max(min(low, data.line["low"].min()), low / room)
    top = min(max(high, data.line["high"].max()), high * room)
    below = LABEL_SHARE if len(data.targets) else 0.03
    return padded([bottom, top], share=below)[0], padded([bottom, top])[1]


def _some(
    frame: pd.DataFrame,
    what: Channel,
    where: dict[str, Channel],
    names: dict[str, str] | None = None,
) -> list[alt.Chart]:
    """A layer of rows there may be none of."""
    return [] if frame.empty else [layer(frame, what, tooltip=names, **where)]


def _run_layers(data: AnswerData, where: dict[str, Channel]) -> list[alt.Chart]:
    layers = []
    for kind in (RUN, BEST):
        frame = data.runs[data.runs["kind"] == kind].drop(columns="kind")
        layers += _some(frame, mark("point", _style(data, kind)), where, _names(data))
    return layers


def _style(data: AnswerData, kind: str) -> str:
    many = kind == BEST and (data.runs["kind"] == BEST).sum() > MANY
    return "fitted-many" if many else STYLES[kind]


def _names(data: AnswerData) -> dict[str, str]:
    return {**data.names, "loss": "loss"}


def _held_out_names(found: Answer) -> dict[str, str]:
    level = percent(found.level)
    return {
        "C": "C",
        "loss": "loss of the run",
        "predicted": "predicted",
        "low": f"{level} interval from",
        "high": "to",
    }


def _edge_layers(data: AnswerData, x: Channel) -> list[alt.Chart]:
    """Runs without a place on the loss axis, as ticks along its upper edge."""
    if data.off_scale.empty:
        return []
    tick = mark("tick", "off-scale", orient="vertical", size=9)
    names = {**_names(data), "state": "state"}
    return [layer(data.off_scale, tick, tooltip=names, x=x, y={"value": 4})]


def key_entries(data: AnswerData, found: Answer) -> list[Entry]:
    """What the chart's marks mean, only those that it has."""
    kinds = set(data.runs["kind"])
    entries = {
        Entry("point", "run", "run"): RUN in kinds,
        Entry("point", _style(data, BEST), "best run so far"): BEST in kinds,
        Entry("point", "held-out", "best run held out"): len(data.held_out) > 0,
        Entry("line", "law", "best loss to expect"): True,
        Entry("line", "law-behind", "the same from all runs"): len(data.reference) > 0,
        Entry("area", "band", f"{percent(found.level)} interval"): True,
        Entry("point", "target", "target"): len(_near(data)) > 0,
        Entry("tick", "off-scale", off_scale_text(data)): len(data.off_scale) > 0,
    }
    return [entry for entry, shown in entries.items() if shown]
