"""The numbers of the outlook chart: runs made, the mixed grid's envelope, its law with a band.

x is the law's own input, as in the law chart; for a law of N and D it is compute, and the line and
its band are read at the law's own best N and D.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lawsmith.charts.data.law import abscissa, fence, law_inputs, reach
from lawsmith.charts.data.runs import (
    MAX_RUNS,
    OffScale,
    column_names,
    columns,
    keep_first,
    short,
    tooltip_names,
    with_names,
)
from lawsmith.charts.unavailable import ChartUnavailable
from lawsmith.fantasies import mixed_losses
from lawsmith.formats import flops
from lawsmith.grid import FloatArray, Grid
from lawsmith.laws.law import Law
from lawsmith.outlook import Outlook
from lawsmith.replay.records import Task
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Posterior


@dataclass(frozen=True, eq=False)
class Seen:
    """An outlook and what it was made of.

    name    of the study, for titles
    grid    all candidates; runs and outlook count its rows
    task    of a replay, whose own law and held-out frontier the outlook can be held against
    called  (m,) what the runs of each candidate are called; empty where they have no names
    """

    name: str
    grid: Grid
    runs: Runs
    posterior: Posterior
    outlook: Outlook
    task: Task | None = None
    called: Sequence[str] = ()

    @property
    def mixed(self) -> FloatArray:
        """(m,) observed losses where there are any, fantasized ones elsewhere."""
        return mixed_losses(len(self.grid), self.runs, self.posterior)

    @property
    def spent(self) -> float:
        """FLOPs of the runs made, each at its own compute."""
        return float(self.grid.C[self.runs.index].sum())


@dataclass(frozen=True)
class OutlookData(OffScale):
    """What the outlook chart shows.

    x          name of the horizontal variable
    runs       x, N, D, C, h0, …, loss: finished runs off the envelope
    envelope   x, N, D, C, h0, …, loss, observed (bool): what the law is fitted to
    names      column of ``runs`` and ``envelope`` → its name in the study
    line       x, fitted, low, high: the law and the interval of the true loss
    targets    x, loss, low, high, label: the nearest only, farther ones would squeeze the runs
    reference  x, loss: the law of the whole pool, where it is known; else empty
    held_out   x, loss: the frontier that the law did not see; else empty
    off_scale  rows without a place on the loss axis: columns of ``runs``, state
    top        the largest loss on the axis
    """

    x: str
    runs: pd.DataFrame
    envelope: pd.DataFrame
    names: Mapping[str, str]
    line: pd.DataFrame
    targets: pd.DataFrame
    reference: pd.DataFrame
    held_out: pd.DataFrame
    off_scale: pd.DataFrame
    top: float


def outlook_data(seen: Seen, *, max_runs: int = MAX_RUNS) -> OutlookData:
    """The outlook chart's numbers; ChartUnavailable for a law without one horizontal axis."""
    law, grid = seen.outlook.law, seen.grid
    x = abscissa(law)
    values = grid.numbers(x)
    if values.min() == values.max():
        raise ChartUnavailable(f"all candidates have one value of {x}")
    loss = seen.runs.config_loss(len(grid))
    rows = seen.outlook.rows
    top = max(fence(loss), float(seen.mixed[rows].max()))
    targets = _targets(seen.outlook, x)
    along = reach(values, targets["x"].to_numpy())
    names = column_names(grid)
    known = np.setdiff1d(np.flatnonzero(loss <= top), rows)
    shown = keep_first(known, first=np.zeros(len(known), bool), by=values[known], n=max_runs)

    def placed(at: np.ndarray, height: FloatArray) -> pd.DataFrame:
        frame = columns(grid, at, names).assign(x=short(values[at]), loss=short(height))
        return with_names(frame, seen.called)

    return OutlookData(
        x=x,
        runs=placed(shown, loss[shown]),
        envelope=placed(rows, seen.mixed[rows]).assign(observed=seen.outlook.observed),
        names=tooltip_names(grid, seen.called),
        line=_line(seen.outlook, along),
        targets=targets,
        reference=_reference(seen.task, along),
        held_out=_held_out(seen.task, x),
        off_scale=_off_scale(seen, values, loss, top),
        top=top,
    )


def band(law: Law, phi: FloatArray, draws: FloatArray, x: FloatArray, level: float) -> FloatArray:
    """(3, n) the loss of the law ``phi`` (p,) along x, and the ends among ``draws`` (S, p)."""
    at = law.log_inputs(law_inputs(law, phi, x))
    fitted = np.exp(law.form.value(phi[None], at))[0]
    losses = np.exp(law.form.value(draws, at))
    low, high = np.quantile(losses, [0.5 - level / 2, 0.5 + level / 2], axis=0)
    return np.stack([fitted, low, high])


def _line(outlook: Outlook, x: FloatArray) -> pd.DataFrame:
    fitted, low, high = band(outlook.law, outlook.fit.phi, outlook.truth_phi, x, outlook.level)
    return pd.DataFrame({"x": x, "fitted": short(fitted), "low": short(low), "high": short(high)})


def _targets(outlook: Outlook, x: str) -> pd.DataFrame:
    rows = [
        (
            p.compute if x == "C" else p.inputs[x],
            p.loss,
            p.truth.low,
            p.truth.high,
            f"{flops(p.compute)} FLOPs",
        )
        for p in sorted(outlook.predictions, key=lambda p: p.compute)[:1]
    ]
    return pd.DataFrame(rows, columns=["x", "loss", "low", "high", "label"])


def _reference(task: Task | None, x: FloatArray) -> pd.DataFrame:
    if task is None:
        return pd.DataFrame({"x": [], "loss": []})
    fit = task.reference.validation
    return pd.DataFrame({"x": x, "loss": short(fit.predict(law_inputs(task.law, fit.phi, x)))})


def _held_out(task: Task | None, x: str) -> pd.DataFrame:
    if task is None:
        return pd.DataFrame({"x": [], "loss": []})
    inputs = task.held_out.inputs
    at = inputs[x] if x in inputs else 6 * inputs["N"] * inputs["D"]
    return pd.DataFrame({"x": short(at), "loss": short(task.held_out.loss)})


def _off_scale(seen: Seen, values: FloatArray, loss: FloatArray, top: float) -> pd.DataFrame:
    diverged = np.unique(seen.runs.of(State.DIVERGED).index)
    above = np.flatnonzero(loss > top)
    rows = np.concatenate([diverged, above])
    state = np.array(["diverged"] * len(diverged) + ["above"] * len(above), dtype=object)
    frame = with_names(columns(seen.grid, rows, column_names(seen.grid)), seen.called)
    return frame.assign(x=short(values[rows]), loss=short(loss[rows]), state=state)
