"""The numbers of the trunks chart: losses along runs, their branches, predicted ends with bands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lawsmith.answer import Answer
from lawsmith.charts.data.runs import short
from lawsmith.charts.unavailable import ChartUnavailable
from lawsmith.curves import Along
from lawsmith.datasets.records import Study, study_name
from lawsmith.grid import Grid
from lawsmith.runs import Runs, State
from lawsmith.trajectory import Curve

MAX_CURVES = 12  # more lines than that cannot be told apart
EARLY = 30.0  # what lies so many times before the end of the longest curve is not shown


@dataclass(frozen=True, eq=False)
class Curved:
    """Curves beside the runs of a study, and the answer that used them."""

    name: str
    along: Along
    grid: Grid
    runs: Runs
    answer: Answer


@dataclass(frozen=True)
class TrunksData:
    """What the trunks chart shows.

    lines      run, N, D, loss: along trunks and scheduled runs
    branches   branch, run, N, D, loss: two rows a branch, on its trunk and at its end
    ends       run, N, D, loss, low, high: predicted, with the interval of a further run
    n_left     curves that are not shown
    """

    lines: pd.DataFrame
    branches: pd.DataFrame
    ends: pd.DataFrame
    n_left: int


def curved_by(answer: Answer, study: Study, along: Along) -> Curved:
    return Curved(study_name(study), along, study.grid, study.runs, answer)


def trunks_data(curved: Curved) -> TrunksData:
    """The chart's numbers; ChartUnavailable where no curve has a size."""
    sized = [i for i, c in enumerate(curved.along.curves) if np.isfinite(c.N) and len(c.D)]
    if not sized:
        raise ChartUnavailable("no curve whose N is known")
    shown = _some(sized, curved.along.curves)
    longest = max(curved.along.curves[i].reached for i in shown)
    lines = pd.concat([_line(curved.along.curves[i], longest) for i in shown], ignore_index=True)
    branches = _branches(curved, shown, longest)
    names = {curved.along.curves[i].run for i in shown}
    return TrunksData(lines, branches, _ends(curved, names), len(sized) - len(shown))


def _some(rows: list[int], curves: tuple[Curve, ...]) -> list[int]:
    """All, or MAX_CURVES of them, even in N."""
    rows = sorted(rows, key=lambda i: (curves[i].N, i))
    if len(rows) <= MAX_CURVES:
        return rows
    return [rows[i] for i in np.linspace(0, len(rows) - 1, MAX_CURVES).round().astype(int)]


def _line(curve: Curve, longest: float) -> pd.DataFrame:
    late = longest <= curve.D * EARLY
    columns = {"D": short(curve.D[late]), "loss": short(curve.loss[late])}
    return pd.DataFrame({"run": curve.run, "N": curve.N, **columns})


def _branches(curved: Curved, shown: list[int], longest: float) -> pd.DataFrame:
    along, runs, found = curved.along, curved.runs, curved.answer.curves
    share = 0.0 if found is None else found.share
    done = (runs.state == State.DONE.value) & np.isin(along.parent, shown)
    parts = []
    for k in np.flatnonzero(done).tolist():
        curve = along.curves[int(along.parent[k])]
        D = float(curved.grid.D[runs.index[k]])
        start = float(along.at[k]) if np.isfinite(along.at[k]) else D * (1.0 - share)
        if longest > D * EARLY:
            continue
        on_trunk = float(np.exp(np.interp(np.log(start), np.log(curve.D), np.log(curve.loss))))
        ends = {"D": [start, D], "loss": [on_trunk, float(runs.loss[k])]}
        parts.append(pd.DataFrame({"branch": k, "run": curve.run, "N": curve.N, **ends}))
    if not parts:
        return pd.DataFrame(columns=["branch", "run", "N", "D", "loss"])
    return pd.concat(parts, ignore_index=True)


def _ends(curved: Curved, names: set[str]) -> pd.DataFrame:
    found = curved.answer.curves
    rows = [
        (end.run, end.N, end.D, end.loss, end.run_low, end.run_high)
        for end in (found.ends if found is not None else ())
        if end.run in names
    ]
    return pd.DataFrame(rows, columns=["run", "N", "D", "loss", "low", "high"])
