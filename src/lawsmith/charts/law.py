"""The law chart: all runs, the fitted frontier, the law with its band, the targets.

The chart's x is the law's input. For a law of N and D it is compute, and the line of the law is its
loss at the compute-optimal N and D.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.analysis import Analysis, Prediction
from lawsmith.answer.text import loss_text
from lawsmith.charts import draw, runs, titles
from lawsmith.charts.draw import BAND, LINE, WIDE, Channel, field, layer, mark, span
from lawsmith.charts.runs import FITTED, HELD_OUT, MAX_RUNS, NOT_RUN, RUN, ChartUnavailable, RunRows
from lawsmith.charts.ticks import padded
from lawsmith.formats import interval, number, percent
from lawsmith.grid import FloatArray, Grid, IntArray
from lawsmith.laws.allocation import can_allocate, log_optimal_n
from lawsmith.laws.law import Law
from lawsmith.runs import State

N_LINE = 120
LABEL_SHARE = 0.07  # of the loss axis, kept free below the targets for their labels
NOUNS = {"C": "compute", "N": "parameters", "D": "tokens"}
NO_ROWS = pd.DataFrame({name: [] for name in ("C", "loss", "predicted", "low", "high")})


@dataclass(frozen=True)
class LossData:
    """The numbers of a chart of losses against one variable: the law chart or the answer chart.

    x          name of the horizontal variable
    column     its column in every frame
    runs       those within the loss axis
    line       x, loss, low, high; the last two are NaN without an uncertainty
    targets    x, loss, low, high, label
    off_scale  runs beyond the loss axis, see `off_scale`
    top        the largest loss on the axis
    reference  x, loss: another line to compare with; may be empty
    held_out   x, loss, predicted, low, high of held-out runs that are not in ``runs``; may be empty
    threshold  x from which runs are held out; NaN if the split is not by x
    """

    x: str
    column: str
    runs: RunRows
    line: pd.DataFrame
    targets: pd.DataFrame
    off_scale: pd.DataFrame
    top: float
    reference: pd.DataFrame
    held_out: pd.DataFrame
    threshold: float = np.nan

    @property
    def n_diverged(self) -> int:
        return int((self.off_scale["state"] == "diverged").sum())

    @property
    def n_above(self) -> int:
        return len(self.off_scale) - self.n_diverged


def law_data(analysis: Analysis, *, max_runs: int = MAX_RUNS) -> LossData:
    """The numbers of the law chart; ChartUnavailable if the law has no single horizontal axis."""
    x = x_variable(analysis.law)
    grid = analysis.study.grid
    values = grid.numbers(x)[np.isfinite(analysis.loss)]
    if values.min() == values.max():
        raise ChartUnavailable(f"all runs have one value of {x}")
    column = next(column for column, name in runs.column_names(grid).items() if name == x)
    targets = _targets(analysis.predictions, x).rename(columns={"x": column})
    top, hold_out = loss_top(analysis), analysis.options.hold_out
    by_x = hold_out if hold_out is not None and hold_out.name == x else None
    diverged = analysis.study.runs.of(State.DIVERGED).index
    names = runs.config_run_names(analysis.study)
    return LossData(
        x=x,
        column=column,
        runs=runs.run_rows(analysis, top=top, max_runs=max_runs),
        line=_line(analysis, values, targets[column].to_numpy()).rename(columns={"x": column}),
        targets=targets,
        off_scale=off_scale(grid, diverged, analysis.loss, top, names),
        top=top,
        reference=NO_ROWS,
        held_out=NO_ROWS,
        threshold=np.nan if by_x is None else by_x.threshold(grid),
    )


def off_scale(
    grid: Grid, diverged: IntArray, loss: FloatArray, top: float, run_names: Sequence[str]
) -> pd.DataFrame:
    """Runs beyond a loss axis: those that diverged, then those above ``top``.

    The columns of `run_frame`, with a loss of NaN for a run that diverged, and state.
    """
    above = np.flatnonzero(loss > top)
    known = np.full(len(loss), np.nan)
    known[above] = loss[above]
    frame = runs.run_frame(grid, np.concatenate([diverged, above]), known, run_names)
    return frame.assign(state=["diverged"] * len(diverged) + ["above"] * len(above))


def off_scale_text(data: LossData) -> str:
    """'106 diverged, 3 above 4.5'."""
    parts = [f"{data.n_diverged} diverged"] if data.n_diverged else []
    parts += [f"{data.n_above} above {number(data.top, 3)}"] if data.n_above else []
    return ", ".join(parts)


def x_variable(law: Law) -> str:
    """The horizontal variable of a law's charts."""
    if can_allocate(law):
        return "C"
    if len(law.inputs) == 1:
        return law.inputs[0]
    raise ChartUnavailable(f"a law of {', '.join(law.inputs)} has no single axis to draw it along")


def law_inputs(law: Law, phi: FloatArray, x: FloatArray) -> Mapping[str, FloatArray]:
    """The inputs of the law with parameters ``phi`` (p,) at each horizontal value."""
    if not can_allocate(law):
        return {law.inputs[0]: x}
    N = np.exp(log_optimal_n(law, phi[None], x)[0])
    return {"N": N, "D": x / (6 * N)}


def _line(analysis: Analysis, values: FloatArray, targets: FloatArray) -> pd.DataFrame:
    """From the smallest value to the farthest target, or a decade beyond the values."""
    end = max(values.max(), targets.max()) if len(targets) else 10 * values.max()
    x = np.geomspace(values.min(), end, N_LINE)
    inputs = law_inputs(analysis.law, analysis.fit.phi, x)
    line = pd.DataFrame({"x": x, "loss": analysis.fit.predict(inputs)})
    if analysis.uncertainty is None:
        return line.assign(low=np.nan, high=np.nan)
    band = analysis.uncertainty.loss(inputs, analysis.options.level)
    return line.assign(low=band.low, high=band.high)


def _targets(predictions: tuple[Prediction, ...], x: str) -> pd.DataFrame:
    rows = []
    for p in predictions:
        at = p.target.C if x == "C" else p.inputs[x]
        ends = (np.nan, np.nan) if p.interval is None else (p.interval.low, p.interval.high)
        rows.append((at, p.loss, *ends, p.target.label))
    return pd.DataFrame(rows, columns=["x", "loss", "low", "high", "label"])


def loss_top(analysis: Analysis) -> float:
    """The top of the loss axis: the largest loss within `outlier_fence` or on a frontier."""
    scored = analysis.score.measured if analysis.score is not None else np.empty(0)
    points = np.concatenate([analysis.loss[analysis.frontier], scored])
    return max(outlier_fence(analysis.loss), float(points.max()))


def outlier_fence(loss: FloatArray) -> float:
    """The largest known loss within Tukey's far fence of log loss.

    With runs that almost diverged on the axis, all others would lie on one line.
    """
    known = np.log(loss[np.isfinite(loss)])
    quarter, three = np.quantile(known, [0.25, 0.75])
    return float(np.exp(known[known <= three + 3 * (three - quarter)].max()))


def law(analysis: Analysis, *, width: int = WIDE) -> alt.LayerChart:
    """Loss against the law's input (compute for laws of N and D), with runs, band and targets."""
    data, point = law_data(analysis), titles.point_name(analysis)
    one = len(analysis.law.inputs) == 1
    labels = {
        FITTED: f"fitted: {point}",
        HELD_OUT: f"held out: {point}",
        "line": "fitted law" if one else "law at its best N and D",
        "band": f"{percent(analysis.options.level)} interval",
    }
    heading = titles.heading(f"Loss against {NOUNS.get(data.x, data.x)}", analysis)
    return draw_losses(data, labels, heading, [titles.basis(analysis)], width=width)


def draw_losses(
    data: LossData, labels: Mapping[str, str], heading: str, lines: Sequence[str], *, width: int
) -> alt.LayerChart:
    """The chart; ``labels`` has the texts of the key for kinds of runs and the lines."""
    view = draw.view_of(width)
    along = data.line[data.column]
    x = view.log_x(data.x, along, column=data.column)
    targets = data.targets[data.targets[data.column] <= along.max() * (1 + 1e-6)]
    domain = _loss_domain(data, targets)
    y = draw.loss_axis(domain, pixels=view.height)
    where = {"x": x, "y": field("loss", y)}
    off = data.off_scale
    off = off.iloc[runs.thin(np.arange(len(off)), off["C"].to_numpy(), MAX_RUNS)]
    many = len(data.runs.of(FITTED)) > draw.MANY
    styles = {
        NOT_RUN: "run",
        RUN: "run" if data.runs.of(NOT_RUN).empty else "chosen",
        FITTED: "fitted-many" if many else "fitted",
        HELD_OUT: "held-out",
    }
    names = data.runs.names
    marks = {kind: (mark("point", style), labels.get(kind, kind)) for kind, style in styles.items()}
    *points, held_out = draw.layers_by(data.runs.frame, "kind", marks, tooltip=names, **where)
    tick = mark("tick", "off-scale", orient="vertical", size=9)
    edge = {"tooltip": {**names, "state": "state"}, "x": x, "y": {"value": 4}}
    unseen = {"C": "C", "loss": "loss of the run", "predicted": "predicted"}
    unseen |= {"low": f"{labels['band']} from", "high": "to"}
    behind, star = mark("line", "law-behind", clip=True), mark("point", "held-out")
    layers = [
        layer(data.line.dropna(), BAND, labels["band"], x=x, **span(y)),
        layer(data.reference, behind, labels.get("reference", ""), **where),
        *_threshold_layers(data, x),
        layer(off, tick, off_scale_text(data), **edge),
        *points,
        layer(data.line, LINE, labels["line"], **where),
        held_out,
        layer(data.held_out, star, labels.get(HELD_OUT, ""), tooltip=unseen, **where),
        *draw.target_layers(targets, x, y),
        _label_layer(targets, x, y, domain),
    ]
    if data.runs.thinned:
        shown = f"{len(data.runs.frame)} of {data.runs.n_known} configurations drawn"
        lines = [*lines, f"{shown}, grey ones thinned evenly"]
    return view.chart(layers, heading, lines)


def _loss_domain(data: LossData, targets: pd.DataFrame) -> tuple[float, float]:
    """The range of the loss axis: points, lines, as much of the band as fits, room for labels."""
    frames = (data.runs.frame, data.line, data.reference, data.held_out, targets)
    drawn = [loss for frame in frames for loss in frame["loss"]]
    low, high = ([*data.line[end], *targets[end]] for end in ("low", "high"))
    ends = draw.band_range(drawn, low, high)
    below = LABEL_SHARE if len(targets) else 0.03
    return padded(ends, share=below)[0], padded(ends)[1]


def _threshold_layers(data: LossData, x: Channel) -> list[alt.Chart]:
    """The line from which runs are held out."""
    frame = pd.DataFrame({data.column: [data.threshold]}).dropna()
    note = mark("text", "note", text="held out", dx=5)
    return [
        layer(frame, mark("rule", "threshold"), x=x),
        layer(frame, note, x=x, y={"value": 18}),
    ]


def _label_layer(
    targets: pd.DataFrame, x: Channel, y: Channel, domain: tuple[float, float]
) -> alt.Chart:
    """The loss and interval of each target as text, below the interval but in the loss domain."""
    bottom, top = domain
    place = targets[["loss", "low"]].min(axis=1)
    labels = targets.assign(
        text=[target_text(*row) for row in targets[["loss", "low", "high"]].to_numpy()],
        place=place.clip(lower=bottom * (top / bottom) ** LABEL_SHARE),
    )
    # Below and to the left, where a falling law leaves room.
    note = mark("text", "note-ink", align="right", dx=-4, dy=13)
    text = {"field": "text", "type": "nominal"}
    return layer(labels, note, x=x, y=field("place", y), text=text)


def target_text(loss: float, low: float, high: float) -> str:
    """'1.696 [1.714, 1.759]': the loss of the fitted law and its interval."""
    ends = f" {interval(low, high, loss_text)}" if np.isfinite(low) else ""
    return f"{loss_text(loss)}{ends}"
