"""The law chart: every run, the fitted frontier, the law with its band, the targets.

The chart's x is the law's own input; for a law of N and D it is compute, and the law's line is the
loss at the compute-optimal N and D.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.analysis import Analysis, Prediction
from lawsmith.charts import draw, titles
from lawsmith.charts.draw import BAND, LINE, WIDE, Channel, KeyEntry, field, layer, mark, span
from lawsmith.charts.runs import (
    FITTED,
    HELD_OUT,
    MAX_RUNS,
    RUN,
    ChartUnavailable,
    OffScale,
    RunRows,
    called_in,
    even,
    off_scale,
    off_scale_text,
    run_rows,
    short,
)
from lawsmith.charts.ticks import padded
from lawsmith.formats import percent
from lawsmith.grid import FloatArray
from lawsmith.laws.allocation import can_allocate, log_optimal_n
from lawsmith.laws.fit import LawFit
from lawsmith.laws.law import Law
from lawsmith.runs import State

N_LINE = 120
LABEL_SHARE = 0.07  # of the loss axis, kept below the targets for their labels
NOUNS = {"C": "compute", "N": "parameters", "D": "tokens"}


@dataclass(frozen=True)
class LawData(OffScale):
    """What the law chart shows.

    x          name of the horizontal variable
    runs       on the axis, with a column x
    line       x, fitted, low, high; the last two NaN without an uncertainty
    targets    x, loss, low, high, label
    off_scale  rows without a place on the loss axis: columns of ``runs``, state
    top        the largest loss on the axis
    threshold  x from which runs are held out; NaN where the split is not in x
    """

    x: str
    runs: RunRows
    line: pd.DataFrame
    targets: pd.DataFrame
    off_scale: pd.DataFrame
    top: float
    threshold: float


def law_data(analysis: Analysis, *, max_runs: int = MAX_RUNS) -> LawData:
    """The law chart's numbers; raises ChartUnavailable for a law without one horizontal axis."""
    x = abscissa(analysis.law)
    grid = analysis.study.grid
    values = grid.numbers(x)[np.isfinite(analysis.loss)]
    if values.min() == values.max():
        raise ChartUnavailable(f"all runs have one value of {x}")
    targets = _targets(analysis.predictions, x)
    line = _line(analysis, values, targets["x"].to_numpy())
    top = loss_top(analysis)
    rows = run_rows(analysis, max_runs=max_runs)
    shown = rows.frame[analysis.loss[rows.frame.index] <= top]
    diverged = analysis.study.runs.of(State.DIVERGED).index
    off = off_scale(grid, diverged, analysis.loss, top, called_in(analysis.study))
    n_shown = rows.n_known - int((analysis.loss > top).sum())
    return LawData(
        x=x,
        runs=RunRows(shown.assign(x=short(grid.numbers(x)[shown.index])), rows.names, n_shown),
        line=line,
        targets=targets,
        off_scale=off.assign(x=short(grid.numbers(x)[off.index])),
        top=top,
        threshold=_threshold(analysis, x),
    )


def abscissa(law: Law) -> str:
    """The horizontal variable of a law's charts."""
    if can_allocate(law):
        return "C"
    if len(law.inputs) == 1:
        return law.inputs[0]
    raise ChartUnavailable(f"a law of {', '.join(law.inputs)} has no single axis to draw it along")


def inputs_along(fit: LawFit, x: FloatArray) -> Mapping[str, FloatArray]:
    """The law's inputs at each value of its horizontal variable."""
    return law_inputs(fit.law, fit.phi, x)


def law_inputs(law: Law, phi: FloatArray, x: FloatArray) -> Mapping[str, FloatArray]:
    """The inputs at each horizontal value of the law with parameters ``phi`` (p,)."""
    if not can_allocate(law):
        return {law.inputs[0]: x}
    N = np.exp(log_optimal_n(law, phi[None], x)[0])
    return {"N": N, "D": x / (6 * N)}


def reach(values: FloatArray, targets: FloatArray) -> FloatArray:
    """Evenly spaced (in logs) from the least value to the farthest target, or a decade beyond."""
    end = max(values.max(), targets.max()) if len(targets) else 10 * values.max()
    return np.geomspace(values.min(), end, N_LINE)


def _line(analysis: Analysis, values: FloatArray, targets: FloatArray) -> pd.DataFrame:
    x = reach(values, targets)
    inputs = inputs_along(analysis.fit, x)
    line = pd.DataFrame({"x": x, "fitted": analysis.fit.predict(inputs)})
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
    """The largest loss worth room on an axis: of the runs inside their fence, and of Π."""
    scored = analysis.score.loss if analysis.score is not None else np.empty(0)
    points = np.concatenate([analysis.loss[analysis.frontier], scored])
    return max(fence(analysis.loss), float(points.max()))


def fence(loss: FloatArray) -> float:
    """The largest known loss inside Tukey's far fence of log loss.

    Runs that all but diverged would squeeze the others into a line.
    """
    known = np.log(loss[np.isfinite(loss)])
    quarter, three = np.quantile(known, [0.25, 0.75])
    return float(np.exp(known[known <= three + 3 * (three - quarter)].max()))


def _threshold(analysis: Analysis, x: str) -> float:
    hold_out = analysis.options.hold_out
    if hold_out is None or hold_out.name != x:
        return float("nan")
    return hold_out.threshold(analysis.study.grid)


def law(analysis: Analysis, *, width: int = WIDE) -> alt.LayerChart:
    """Loss against the law's input (compute for laws of N and D), with runs, band and targets."""
    data = law_data(analysis)
    room = draw.view_of(width)
    ends = [data.line["x"].min(), data.line["x"].max()]
    x = field("x", draw.log_axis(data.x, padded(ends), pixels=room.width))
    domain = _y_domain(data)
    y = draw.loss_axis(domain, pixels=room.height)
    where = {"x": x, "y": field("loss", y)}
    edge = even(np.arange(len(data.off_scale)), data.off_scale["C"].to_numpy(), MAX_RUNS)
    kinds = {kind: _points(data, kind, where) for kind in (RUN, FITTED, HELD_OUT)}
    layers = [
        *([] if data.line["low"].isna().all() else [layer(data.line, BAND, x=x, **span(y))]),
        *_threshold_layers(data, x),
        *draw.edge_ticks(data.off_scale.iloc[edge], data.runs.names, x),
        *kinds[RUN],
        *kinds[FITTED],
        layer(data.line, LINE, x=x, y=field("fitted", y)),
        *kinds[HELD_OUT],
        *target_layers(data.targets, x, y, domain),
    ]
    heading = titles.heading(f"Loss against {NOUNS.get(data.x, data.x)}", analysis)
    return room.chart(layers, heading, subtitle(data, analysis), key_entries(data, analysis))


def _y_domain(data: LawData) -> tuple[float, float]:
    drawn = [*data.runs.frame["loss"], *data.line["fitted"], *data.targets["loss"]]
    low = [*data.line["low"], *data.targets["low"]]
    high = [*data.line["high"], *data.targets["high"]]
    return loss_domain(drawn, low, high, targets=data.targets)


def loss_domain(
    drawn: Iterable[float], low: Iterable[float], high: Iterable[float], *, targets: pd.DataFrame
) -> tuple[float, float]:
    """Of a loss axis: every point and line, of the band what does not dwarf them, labels below."""
    ends = draw.band_range(drawn, low, high)
    below = LABEL_SHARE if len(targets) else 0.03
    return padded(ends, share=below)[0], padded(ends)[1]


def _points(data: LawData, kind: str, where: Mapping[str, Channel]) -> list[alt.Chart]:
    what = mark("point", fitted_style(data) if kind == FITTED else kind)
    names = {**data.runs.names, "loss": "loss"}
    return draw.layers_by(data.runs.frame, "kind", {kind: what}, tooltip=names, **where)


def _threshold_layers(data: LawData, x: Channel) -> list[alt.Chart]:
    """The line from which runs are held out."""
    if not np.isfinite(data.threshold):
        return []
    frame = pd.DataFrame({"x": [data.threshold]})
    note = mark("text", "note", text="held out", dx=5)
    return [
        layer(frame, mark("rule", "threshold"), x=x),
        layer(frame, note, x=x, y={"value": 18}),
    ]


def fitted_style(data: LawData) -> str:
    return "fitted-many" if len(data.runs.of(FITTED)) > draw.MANY else "fitted"


def target_layers(
    targets: pd.DataFrame, x: Channel, y: Channel, domain: tuple[float, float]
) -> list[alt.Chart]:
    """Each target's interval, its loss and their numbers; ``domain`` is that of the loss axis."""
    if targets.empty:
        return []
    names = {"label": "target", "loss": "loss", "low": "from", "high": "to"}
    labels = target_labels(targets, domain)
    bar = mark("rule", "target-bar", clip=True)
    # Below and to the left: a falling law leaves that corner free.
    note = mark("text", "note-ink", align="right", dx=-4, dy=13)
    return [
        layer(targets, bar, x=x, **span(y)),
        layer(targets, mark("point", "target"), tooltip=names, x=x, y=field("loss", y)),
        layer(labels, note, x=x, y=field("place", y), text={"field": "text", "type": "nominal"}),
    ]


def target_labels(targets: pd.DataFrame, domain: tuple[float, float]) -> pd.DataFrame:
    """Targets with their text and its place below the interval, but inside the loss axis."""
    bottom, top = domain
    place = targets[["loss", "low"]].min(axis=1)
    return targets.assign(
        text=[target_text(*row) for row in targets[["loss", "low", "high"]].to_numpy()],
        place=place.clip(lower=bottom * (top / bottom) ** LABEL_SHARE),
    )


def target_text(loss: float, low: float, high: float) -> str:
    """'1.696 [1.714, 1.759]': the law as fitted and its interval."""
    if not np.isfinite(low):
        return f"{loss:#.4g}"
    return f"{loss:#.4g} [{low:#.4g}, {high:#.4g}]"


def key_entries(data: LawData, analysis: Analysis) -> list[KeyEntry]:
    """What the chart's marks mean, only those that it has."""
    kinds, point = set(data.runs.frame["kind"]), titles.point_name(analysis)
    one, level = len(analysis.law.inputs) == 1, percent(analysis.options.level)
    return draw.present(
        {
            KeyEntry("point", "run", "run"): RUN in kinds,
            KeyEntry("point", fitted_style(data), f"fitted: {point}"): True,
            KeyEntry("point", "held-out", f"held out: {point}"): HELD_OUT in kinds,
            KeyEntry("line", "law", "law, as fitted" if one else "law at its best N and D"): True,
            KeyEntry("area", "band", f"{level} interval"): data.line["low"].notna().any(),
            KeyEntry("point", "target", "target"): len(data.targets) > 0,
            KeyEntry("tick", "off-scale", off_scale_text(data)): len(data.off_scale) > 0,
        }
    )


def subtitle(data: LawData, analysis: Analysis) -> list[str]:
    lines = [titles.basis(analysis)]
    if data.runs.thinned:
        shown = f"{len(data.runs.frame)} of {data.runs.n_known} configurations drawn"
        lines.append(f"{shown}, thinned evenly, fitted ones first")
    return lines
