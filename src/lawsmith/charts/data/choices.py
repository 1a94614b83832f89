"""The numbers of the choices chart: which runs of the pool a replay chose, and the laws it found.

As in the law chart, x is the law's own input; for a law of N and D it is compute, and a law's line
is the loss at its best N and D.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lawsmith.charts.data.law import N_LINE, abscissa, fence, law_inputs
from lawsmith.charts.data.runs import (
    MAX_RUNS,
    OffScale,
    column_names,
    columns,
    even,
    short,
)
from lawsmith.charts.unavailable import ChartUnavailable
from lawsmith.grid import FloatArray, IntArray
from lawsmith.replay.records import Task, Trace

REFERENCE, FANTASIZED, OBSERVED = "reference", "fantasized", "observed"


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
        envelope=_points(values[envelope], task.loss[envelope]).assign(run=np.isin(envelope, rows)),
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
    return _points(values[kept], task.loss[kept])


def _points(x: FloatArray, loss: FloatArray) -> pd.DataFrame:
    return pd.DataFrame({"x": short(x), "loss": short(loss)})


def _held_out(task: Task, x: str) -> pd.DataFrame:
    inputs = task.held_out.inputs
    at = inputs[x] if x in inputs else 6 * inputs["N"] * inputs["D"]
    return _points(at, task.held_out.loss)


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
