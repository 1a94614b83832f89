"""The choices chart: the pool, the runs a replay chose by when it did, the laws it found.

As in the law chart, x is the law's own input; for a law of N and D it is compute, and a law's line
is the loss at its best N and D.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.charts import draw, titles
from lawsmith.charts.draw import WIDE, Channel, layer, layers_by, mark
from lawsmith.charts.law import N_LINE, abscissa, fence, law_inputs
from lawsmith.charts.runs import (
    MAX_RUNS,
    ChartUnavailable,
    OffScale,
    column_names,
    columns,
    even,
    off_scale_text,
    short,
)
from lawsmith.formats import flops, percent
from lawsmith.grid import FloatArray, IntArray
from lawsmith.replay.records import Task, Trace

REFERENCE, FANTASIZED, OBSERVED = "reference", "fantasized", "observed"
# The pool's law lies broad below the found ones, so that they can be seen to agree.
LINES = {
    REFERENCE: ("law-behind", "law of the whole pool"),
    FANTASIZED: ("series-1", "law found: observed + fantasized"),
    OBSERVED: ("series-1-dashed", "law found: observed only"),
}


@dataclass(frozen=True)
class ChoicesData(OffScale):
    """What the choices chart shows.

    x          name of the horizontal variable
    pool       x, loss: configurations never run
    chosen     x, N, D, C, h0, …, loss, iteration, initial (bool), in the order they were run
    names      column of ``chosen`` → its name in the study
    envelope   x, loss, run (bool): the pool's true envelope, and whether each point was run
    held_out   x, loss: the frontier on which laws are judged
    lines      x, loss, law: 'reference', and 'fantasized' and 'observed' as found at the end
    off_scale  rows of ``chosen`` that diverged or lie above ``top``, with a column state
    """

    x: str
    pool: pd.DataFrame
    chosen: pd.DataFrame
    names: Mapping[str, str]
    envelope: pd.DataFrame
    held_out: pd.DataFrame
    lines: pd.DataFrame
    off_scale: pd.DataFrame
    top: float


def choices_data(trace: Trace, *, max_runs: int = MAX_RUNS) -> ChoicesData:
    """The choices chart's numbers; ChartUnavailable without a run or one horizontal axis."""
    task = trace.task
    x = abscissa(task.law)
    values = task.pool.numbers(x)
    if not trace.steps:
        raise ChartUnavailable("no run was replayed")
    if values.min() == values.max():
        raise ChartUnavailable(f"all runs have one value of {x}")
    envelope = task.reference.envelope
    top = max(fence(task.loss), float(task.loss[envelope].max()))
    rows = np.array([step.candidate for step in trace.steps])
    chosen = _chosen(trace, rows, values)
    on_axis = task.loss[rows] <= top  # not the rounded losses: the largest may be rounded up
    state = np.where(np.isnan(task.loss[rows]), "diverged", "above")
    return ChoicesData(
        x=x,
        pool=_pool(task, rows, values, top, max_runs=max_runs),
        chosen=chosen[on_axis],
        names=column_names(task.pool),
        envelope=_xy(values[envelope], task.loss[envelope]).assign(run=np.isin(envelope, rows)),
        held_out=_held_out(task, x),
        lines=_lines(trace, values, _held_out(task, x)["x"].to_numpy()),
        off_scale=chosen.assign(state=state)[~on_axis],
        top=top,
    )


def _chosen(trace: Trace, rows: IntArray, values: FloatArray) -> pd.DataFrame:
    grid = trace.task.pool
    frame = columns(grid, rows, column_names(grid)).reset_index(drop=True)
    return frame.assign(
        x=short(values[rows]),
        loss=short(step.loss for step in trace.steps),
        iteration=[step.iteration for step in trace.steps],
        # The initial design is chosen without a window.
        initial=[bool(np.isnan(step.window)) for step in trace.steps],
    )


def _pool(
    task: Task, run: IntArray, values: FloatArray, top: float, *, max_runs: int
) -> pd.DataFrame:
    rest = np.setdiff1d(np.flatnonzero(task.loss <= top), run)
    kept = even(rest, values[rest], max_runs)
    return _xy(values[kept], task.loss[kept])


def _xy(x: FloatArray, loss: FloatArray) -> pd.DataFrame:
    return pd.DataFrame({"x": short(x), "loss": short(loss)})


def _held_out(task: Task, x: str) -> pd.DataFrame:
    inputs = task.held_out.inputs
    at = inputs[x] if x in inputs else 6 * inputs["N"] * inputs["D"]
    return _xy(at, task.held_out.loss)


def _lines(trace: Trace, values: FloatArray, held_out: FloatArray) -> pd.DataFrame:
    """Every law from the pool's least x to the largest held-out one."""
    last = trace.steps[-1]
    x = np.geomspace(values.min(), max([values.max(), *held_out]), N_LINE)
    found = {REFERENCE: trace.task.reference.validation.params}
    for name, scores in ((FANTASIZED, last.fantasized), (OBSERVED, last.observed)):
        if scores is not None:
            found[name] = dict(scores.params)
    frames = [
        pd.DataFrame({"x": short(x), "loss": short(_predict(trace, params, x)), "law": name})
        for name, params in found.items()
    ]
    return pd.concat(frames, ignore_index=True)


def _predict(trace: Trace, params: Mapping[str, float], x: FloatArray) -> FloatArray:
    law = trace.task.law
    return law.predict(params, law_inputs(law, law.phi(params), x))


def choices(trace: Trace, *, width: int = WIDE) -> alt.LayerChart:
    """Loss against the law's input: what the pool held, what was run and when, what was found."""
    data = choices_data(trace)
    room = draw.view_of(width, legend=True)
    x = room.log_x(data.x, [*data.lines["x"], *data.pool["x"]], column="x")
    frames = (data.pool, data.chosen, data.envelope, data.held_out)
    where = {"x": x, "y": room.loss_y(loss for frame in frames for loss in frame["loss"])}
    lines = {law: (mark("line", style, clip=True), text) for law, (style, text) in LINES.items()}
    reference, fantasized, observed = layers_by(data.lines, "law", lines, **where)
    names, envelope = {"iteration": "run", **data.names}, data.envelope.drop(columns="run")
    off = data.off_scale.drop(columns="initial")
    layers = [
        layer(data.pool, mark("point", "run"), "not run", **where),
        reference,
        draw.edge_ticks(off, names, x, means=off_scale_text(data)),
        *layers_by(
            data.chosen,
            "initial",
            {
                True: (mark("point", "cell-square"), "initial design"),
                False: (mark("point", "cell"), "run"),
            },
            tooltip={**names, "loss": "loss"},
            color=_color(data, beside=room.legend > 0),
            **where,
        ),
        layer(envelope, mark("point", "envelope"), "true envelope of the pool", **where),
        observed,
        fantasized,
        layer(data.held_out, mark("point", "target"), "held-out frontier", **where),
    ]
    heading = titles.task_heading("Runs chosen", trace.task)
    return room.chart(layers, heading, _subtitle(data, trace))


def _color(data: ChoicesData, *, beside: bool) -> Channel:
    """When a run was chosen; linear, as runs are equally many everywhere along it."""
    last = int(max([*data.chosen["iteration"], *data.off_scale["iteration"]]))
    scale = {"domain": [1, max(last, 2)]}
    return draw.gradient("iteration", scale, {"title": "n-th run"}, beside=beside)


def _subtitle(data: ChoicesData, trace: Trace) -> list[str]:
    last = trace.steps[-1]
    run = f"{last.iteration} of the pool's {len(trace.task.pool)} runs"
    spent = f"{percent(last.cost_fraction)} of {flops(trace.task.total_compute)} FLOPs"
    found = f"{int(data.envelope['run'].sum())} of {len(data.envelope)} envelope points run"
    lines = [f"{trace.policy}, seed {trace.seed} · {run}, {spent} · {found}"]
    return lines if len(trace.task.law.inputs) == 1 else [*lines, "laws at their best N and D"]
