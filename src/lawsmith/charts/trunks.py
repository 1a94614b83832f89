"""The trunks chart: losses along runs with their branches, and predicted ends with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.answer import Answer
from lawsmith.answer.text import rests_on
from lawsmith.charts import draw
from lawsmith.charts.draw import WIDE, field, layer, mark, span
from lawsmith.charts.runs import ChartUnavailable, rounded
from lawsmith.charts.ticks import padded
from lawsmith.curves import Along
from lawsmith.datasets.records import Study, study_name
from lawsmith.formats import plural
from lawsmith.grid import Grid
from lawsmith.runs import Runs, State
from lawsmith.trajectory import Curve

MAX_CURVES = 12  # more lines cannot be told apart
EARLY = 30.0  # factor in D below the end of the longest curve from where curves are drawn


@dataclass(frozen=True, eq=False)
class AnswerWithCurves:
    """Losses along the runs of a study, and the answer that used them."""

    name: str
    along: Along
    grid: Grid
    runs: Runs
    answer: Answer


@dataclass(frozen=True)
class TrunksData:
    """The numbers of the trunks chart.

    lines      run, N, D, loss: along trunks and scheduled runs
    branches   branch, run, N, D, loss: two rows per branch, on its trunk and at its end
    ends       run, N, D, loss, low, high: predicted, with the interval of a further run
    n_hidden   number of curves that are not shown
    """

    lines: pd.DataFrame
    branches: pd.DataFrame
    ends: pd.DataFrame
    n_hidden: int


def answer_with_curves(answer: Answer, study: Study, along: Along) -> AnswerWithCurves:
    return AnswerWithCurves(study_name(study), along, study.grid, study.runs, answer)


def trunks_data(curved: AnswerWithCurves) -> TrunksData:
    """The numbers of the trunks chart; ChartUnavailable if no curve has an N."""
    sized = [i for i, c in enumerate(curved.along.curves) if np.isfinite(c.N) and len(c.D)]
    if not sized:
        raise ChartUnavailable("no curve whose N is known")
    shown = _some(sized, curved.along.curves)
    longest = max(curved.along.curves[i].reached for i in shown)
    lines = pd.concat([_line(curved.along.curves[i], longest) for i in shown], ignore_index=True)
    branches = _branches(curved, shown, longest)
    names = {curved.along.curves[i].run for i in shown}
    return TrunksData(lines, branches, _end_rows(curved, names), len(sized) - len(shown))


def _some(rows: list[int], curves: tuple[Curve, ...]) -> list[int]:
    """At most MAX_CURVES rows: the lowest curve of each N, then the second of each, and so on.

    If there are more sizes than that, some of them, evenly spaced in order of N.
    """
    sizes: dict[float, list[int]] = {}
    for i in sorted(rows, key=lambda i: (curves[i].N, float(curves[i].loss[-1]), i)):
        sizes.setdefault(curves[i].N, []).append(i)
    groups = list(sizes.values())
    if len(groups) > MAX_CURVES:
        picked = np.linspace(0, len(groups) - 1, MAX_CURVES).round().astype(int)
        groups = [groups[i] for i in picked]
    ranked = [i for rank in zip_longest(*groups) for i in rank if i is not None]
    return sorted(ranked[:MAX_CURVES], key=lambda i: (curves[i].N, i))


def _line(curve: Curve, longest: float) -> pd.DataFrame:
    late = longest <= curve.D * EARLY
    columns = {"D": rounded(curve.D[late]), "loss": rounded(curve.loss[late])}
    return pd.DataFrame({"run": curve.run, "N": curve.N, **columns})


def _branches(curved: AnswerWithCurves, shown: list[int], longest: float) -> pd.DataFrame:
    along, runs, finding = curved.along, curved.runs, curved.answer.curves
    share = 0.0 if finding is None else finding.share
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


def _end_rows(curved: AnswerWithCurves, names: set[str]) -> pd.DataFrame:
    finding = curved.answer.curves
    rows = [
        (end.run, end.N, end.D, end.loss, end.run_low, end.run_high)
        for end in (finding.ends if finding is not None else ())
        if end.run in names
    ]
    return pd.DataFrame(rows, columns=["run", "N", "D", "loss", "low", "high"])


def trunks(curved: AnswerWithCurves, *, width: int = WIDE) -> alt.LayerChart:
    """Loss along runs against tokens, with branches of trunks and predicted ends of curves."""
    data = trunks_data(curved)
    view = draw.view_of(width, legend=True)
    ends, last = data.ends, data.branches.iloc[1::2].drop(columns="branch")
    losses = [*data.lines["loss"], *data.branches["loss"], *ends["low"], *ends["high"]]
    y = draw.loss_axis(padded(losses), pixels=view.height)
    where = {
        "x": view.log_x("D", [*data.lines["D"], *data.branches["D"], *ends["D"]]),
        "y": field("loss", y),
        "color": draw.scale_color("N", data.lines["N"], beside=view.legend > 0),
    }
    run, branch = ({"field": name, "type": "nominal"} for name in ("run", "branch"))
    names = {"N": "N", "D": "D"}
    decayed = {"run": "trunk", **names, "loss": "loss"}
    predicted = {"run": "run", **names, "loss": "predicted", "low": "from", "high": "to"}
    star, text = mark("point", "cell-star"), "predicted end, interval of a run"
    layers = [
        layer(data.lines, mark("line", "curve"), "along a run", detail=run, **where),
        layer(data.branches, mark("line", "curve-dashed"), detail=branch, **where),
        layer(last, mark("point", "cell"), "after a decay", tooltip=decayed, **where),
        layer(ends, mark("rule", "target-bar", clip=True), **{**where, **span(y)}),
        layer(ends, star, text, tooltip=predicted, **where),
    ]
    lines = [f"from {rests_on(curved.answer)}"]
    lines += [f"{plural(data.n_hidden, 'curve')} not shown"] if data.n_hidden else []
    return view.chart(layers, f"Losses along runs: {curved.name}", lines)
