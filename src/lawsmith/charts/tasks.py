"""The charts of a task: accuracy against the loss it is predicted from, and against compute."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.answer import Target
from lawsmith.answer.text import rests_on
from lawsmith.arrays import FloatArray
from lawsmith.charts import draw
from lawsmith.charts.draw import BAND, LINE, Channel, field, layer, mark, span
from lawsmith.charts.runs import ChartUnavailable, rounded, thin
from lawsmith.charts.ticks import padded
from lawsmith.formats import percent
from lawsmith.tasks import TaskAnswer
from lawsmith.tasks.text import chance_text

ROOM = 0.04  # of the accuracy axis above and below what is drawn

N_LINE = 13
N_CURVE = 60
MAX_RUNS = 3_000
COLUMNS = ("accuracy", "low", "high")


@dataclass(frozen=True)
class TaskData:
    """The numbers of a task's chart; ``x`` is C or the loss.

    runs      x, accuracy
    line      x, accuracy, low, high: the median, and the interval of one run
    targets   x, accuracy, low, high, label
    held_out  x, accuracy; may be empty
    """

    x: str
    runs: pd.DataFrame
    line: pd.DataFrame
    targets: pd.DataFrame
    held_out: pd.DataFrame


@lru_cache(maxsize=8)  # each chart is drawn at two widths
def by_loss(answer: TaskAnswer) -> TaskData:
    """Accuracy against the loss it is predicted from."""
    if not answer.via:
        raise ChartUnavailable("no loss was named on the way to accuracy (--via)")
    data = answer.data
    losses = [(f.loss.loss, f) for f in answer.forecasts if f.loss is not None]
    targets = [(x, f.value, f.low, f.high, f.target.label) for x, f in losses]
    ends = [*np.exp(data.log_loss).tolist(), *[x for x, _ in losses]]
    x = np.geomspace(min(ends), max(ends), N_CURVE)
    means, measured = answer.model.along(np.log(x))
    return TaskData(
        "loss",
        _runs("loss", np.exp(data.log_loss), data.y),
        _line("loss", x, means, measured, answer.level),
        pd.DataFrame(targets, columns=["loss", *COLUMNS, "label"]),
        pd.DataFrame({"loss": [], "accuracy": []}),
    )


@lru_cache(maxsize=8)
def by_compute(answer: TaskAnswer) -> TaskData:
    """Accuracy against compute, at the best N and D for each."""
    data = answer.data
    if len(np.unique(data.C)) < 2:
        raise ChartUnavailable("all runs have the same compute")
    largest, decades = np.exp(data.scales.log_top), data.scales.decades
    targets = [
        (float(10.0 ** decades(f.target) * largest), f.value, f.low, f.high, f.target.label)
        for f in answer.forecasts
    ]
    judged = answer.held_out
    held = pd.DataFrame({"C": [], "accuracy": []})
    if judged is not None:
        held = _runs("C", judged.C, judged.measured)
    most = max([float(data.C.max()), *[row[0] for row in targets], *held["C"]])
    x = np.geomspace(float(data.C.min()), most, N_LINE)
    drawn = [answer.model.at(Target(C)) for C in x.tolist()]
    means, measured = (np.stack(part, axis=1) for part in list(zip(*drawn, strict=True))[:2])
    return TaskData(
        "C",
        _runs("C", data.C, data.y),
        _line("C", x, means, measured, answer.level),
        pd.DataFrame(targets, columns=["C", *COLUMNS, "label"]),
        held,
    )


def _runs(name: str, x: FloatArray, y: FloatArray) -> pd.DataFrame:
    rows = thin(np.arange(len(x)), x, MAX_RUNS)
    return pd.DataFrame({name: rounded(x[rows]), "accuracy": rounded(y[rows])})


def _line(
    name: str, x: FloatArray, means: FloatArray, measured: FloatArray, level: float
) -> pd.DataFrame:
    tail = 0.5 * (1.0 - level)
    low, high = np.quantile(measured, [tail, 1.0 - tail], axis=0)
    centre = np.median(means, axis=0)
    columns = (centre, np.minimum(low, centre), np.maximum(high, centre))
    return pd.DataFrame(
        {name: rounded(x), **{k: rounded(v) for k, v in zip(COLUMNS, columns, strict=True)}}
    )


def accuracy_by_loss(
    answer: TaskAnswer, *, study: str = "", width: int = draw.WIDE
) -> alt.LayerChart:
    """Accuracy against the loss it is predicted from."""
    data, view = by_loss(answer), draw.view_of(width)
    ends = padded([*data.line["loss"], *data.targets["loss"]])
    axis = {**draw.loss_axis(ends, pixels=view.width), "title": answer.via}
    words = f"{answer.task.name} by {answer.via}"
    return _draw_task(data, answer, axis, draw.with_study(words, study), view)


def accuracy_by_compute(
    answer: TaskAnswer, *, study: str = "", width: int = draw.WIDE
) -> alt.LayerChart:
    """Accuracy against compute, at the best N and D."""
    data, view = by_compute(answer), draw.view_of(width)
    axis = draw.log_axis("C", padded([*data.line["C"]]), pixels=view.width)
    words = f"{answer.task.name} by compute"
    return _draw_task(data, answer, axis, draw.with_study(words, study), view)


def _draw_task(
    data: TaskData, answer: TaskAnswer, axis: Channel, heading: str, view: draw.View
) -> alt.LayerChart:
    x = field(data.x, axis)
    y = _accuracy_axis(data, view.height)
    where = {"x": x, "y": field("accuracy", y)}
    names = {data.x: "C" if data.x == "C" else answer.via, "accuracy": "accuracy"}
    layers = [
        layer(data.line, BAND, f"{percent(answer.level)} interval of a run", x=x, **span(y)),
        layer(data.runs, mark("point", "fitted-many"), "run", tooltip=names, **where),
        layer(data.line, LINE, "accuracy to expect", **where),
        layer(data.held_out, mark("point", "held-out"), "run held out", tooltip=names, **where),
        *draw.target_layers(data.targets, x, y, "accuracy"),
    ]
    lines = [f"from {rests_on(answer)}", chance_text(answer)]
    return view.chart(layers, heading, lines)


def _accuracy_axis(data: TaskData, pixels: int) -> Channel:
    """An axis of all that is drawn, the band included, within 0 and 1."""
    frames = (data.runs, data.line, data.targets, data.held_out)
    drawn = pd.concat([f[c] for f in frames for c in ("accuracy", "low", "high") if c in f])
    low, high = float(drawn.min()), float(drawn.max())
    room = ROOM * max(high - low, 0.02)
    domain = (max(low - room, 0.0), min(high + room, 1.0))
    return draw.linear_axis("Accuracy", domain, n_ticks=max(pixels // 45, 4))
