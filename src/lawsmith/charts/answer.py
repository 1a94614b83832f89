"""The answer chart: every run, the best loss by compute with its band, held-out runs, targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.answer import Answer
from lawsmith.answer.text import held_out_text, rests_on
from lawsmith.charts import draw
from lawsmith.charts.draw import BAND, LINE, WIDE, KeyEntry, field, layer, layer_if_any, mark, span
from lawsmith.charts.law import fence, loss_domain, target_layers
from lawsmith.charts.runs import (
    MAX_RUNS,
    ChartUnavailable,
    OffScale,
    called_in,
    column_names,
    columns,
    keep_first,
    off_scale,
    off_scale_text,
    short,
    tooltip_names,
    with_names,
)
from lawsmith.charts.ticks import padded
from lawsmith.datasets.records import Study, study_name
from lawsmith.formats import percent
from lawsmith.frontier import frontier
from lawsmith.grid import AnyArray, FloatArray, Grid, IntArray
from lawsmith.replay.answering import Answers
from lawsmith.replay.records import Trace
from lawsmith.replay.replayed import Replayed
from lawsmith.runs import Runs, State

N_LINE = 15  # computes at which the best loss is worked out: it bends slowly
RUN, BEST = "run", "best"
STYLES = {RUN: "run", BEST: "fitted"}


@dataclass(frozen=True, eq=False)
class Answered:
    """An answer and the runs it rests on: what its charts are made of.

    name    of the study, for titles
    whole   the answer of all runs of a pool of which only some were used
    called  (m,) what the runs of each configuration are called; empty where they have no names
    """

    name: str
    answer: Answer
    grid: Grid
    runs: Runs
    whole: Answer | None = None
    called: Sequence[str] = ()

    @property
    def loss(self) -> FloatArray:
        """(m,) of each configuration, NaN where it was not run."""
        return self.runs.config_loss(len(self.grid))


def answered_by(answer: Answer, study: Study, *, whole: Answer | None = None) -> Answered:
    """The answer by a study's runs, those that it kept out left out."""
    kept = ~np.isin(study.runs.index, answer.left_out)
    runs = study.runs
    used = Runs(runs.index[kept], runs.loss[kept], np.asarray(runs.state[kept]))
    return Answered(study_name(study), answer, study.grid, used, whole, called_in(study))


def answered_of(found: Answered | Answer | Replayed) -> Answered:
    """An answer with its runs: of `lawsmith.fit`, or of the runs that a replay chose."""
    if isinstance(found, Answered):
        return found
    if isinstance(found, Replayed):
        if found.answers is None:
            raise ChartUnavailable("the replay made too few runs for an answer")
        return answered_in(found.trace, found.study, found.answers)
    if found.origin is None:
        raise ChartUnavailable("the answer does not know its runs: make it with lawsmith.fit")
    return answered_by(found, found.origin.study)


def answered_in(trace: Trace, study: Study, answers: Answers) -> Answered:
    """The answer by the runs of a replay, the whole pool's behind it."""
    rows = trace.task.rows[[step.candidate for step in trace.steps]]
    runs = Runs.from_losses(rows, study.runs.config_loss(len(study.grid))[rows])
    name, called = study_name(study), called_in(study)
    return Answered(name, answers.chosen, study.grid, runs, answers.pool, called)


@dataclass(frozen=True)
class AnswerData(OffScale):
    """What the answer chart shows, all against compute C.

    runs       N, D, C, h0, …, loss, kind: RUN, or BEST where no cheaper run has less
    names      column of ``runs`` → its name in the study
    line       C, loss, low, high: the best loss and the interval of it
    reference  C, loss: the same by another answer, such as that of the whole pool; may be empty
    held_out   C, loss, predicted, low, high: of the best held-out runs; may be empty
    targets    C, loss, low, high, label: those that are a compute
    off_scale  runs without a place on the loss axis: columns of ``runs``, state
    top        the largest loss on the axis
    """

    runs: pd.DataFrame
    names: Mapping[str, str]
    line: pd.DataFrame
    reference: pd.DataFrame
    held_out: pd.DataFrame
    targets: pd.DataFrame
    off_scale: pd.DataFrame
    top: float


@lru_cache(maxsize=4)  # a chart is drawn at two widths
def answer_data(answered: Answered, *, max_runs: int = MAX_RUNS) -> AnswerData:
    """The answer chart's numbers."""
    answer, grid, whole, called = answered.answer, answered.grid, answered.whole, answered.called
    loss = answered.loss
    known = np.flatnonzero(np.isfinite(loss))
    if len(np.unique(grid.C[known])) < 2:
        raise ChartUnavailable("all runs have the same compute")
    kinds = _kinds(grid, loss, known)
    held_out = _held_out(answer)
    diverged = np.unique(answered.runs.of(State.DIVERGED).index)
    best = loss[kinds == BEST]
    top = max(fence(loss[known]), float(best.max()), *held_out["loss"])
    shown = known[loss[known] <= top]
    kept = keep_first(shown, first=kinds[shown] == BEST, by=grid.C[shown], n=max_runs)
    targets = _targets(answer)
    along = _computes(grid.C[known], held_out["C"], targets["C"])
    frame = with_names(columns(grid, kept, column_names(grid)), called)
    return AnswerData(
        runs=frame.assign(loss=short(loss[kept]), kind=kinds[kept]),
        names=tooltip_names(grid, called),
        line=_line(answer, along),
        reference=_line(whole, along)[["C", "loss"]] if whole is not None else _empty("C", "loss"),
        held_out=held_out,
        targets=targets,
        off_scale=off_scale(grid, diverged, loss, top, called),
        top=top,
    )


def _kinds(grid: Grid, loss: FloatArray, known: IntArray) -> AnyArray:
    """(m,) what each configuration is."""
    kinds = np.full(len(grid), RUN, dtype=object)
    kinds[known[frontier(grid.subset(known), loss[known], ("C",))]] = BEST
    return kinds


def _held_out(answer: Answer) -> pd.DataFrame:
    judged = answer.held_out
    if judged is None:
        return _empty("C", "loss", "predicted", "low", "high")
    names = ("C", "loss", "predicted", "low", "high")
    return pd.DataFrame({name: short(getattr(judged, name)) for name in names})


def _targets(answer: Answer) -> pd.DataFrame:
    rows = [
        (f.compute, f.loss, f.low, f.high, f.target.label)
        for f in answer.forecasts
        if not f.target.sized and np.isfinite(f.compute)
    ]
    return pd.DataFrame(rows, columns=["C", "loss", "low", "high", "label"])


def _computes(
    runs: FloatArray, held_out: pd.Series[float], targets: pd.Series[float]
) -> FloatArray:
    """From the least compute to the nearest target beyond the runs, or a decade beyond them.

    A far target would squeeze the runs into a corner.
    """
    most = float(max([runs.max(), *held_out]))
    beyond = [C for C in targets if most < C]
    return np.geomspace(runs.min(), min(beyond, default=10 * most), N_LINE)


def _line(answer: Answer, C: FloatArray) -> pd.DataFrame:
    tail = 0.5 * (1.0 - answer.level)
    # The end, where the answer is marked, is as exact as the answer.
    mixtures = [*answer.surface.mixtures_best(C[:-1]), answer.surface.mixture_best(C[-1])]
    ends = {
        name: short(np.exp([m.quantile(p, run=False) for m in mixtures]))
        for name, p in (("loss", 0.5), ("low", tail), ("high", 1.0 - tail))
    }
    return pd.DataFrame({"C": short(C), **ends})


def _empty(*names: str) -> pd.DataFrame:
    return pd.DataFrame({name: [] for name in names})


def answer(found: Answered | Answer | Replayed, *, width: int = WIDE) -> alt.LayerChart:
    """Loss against compute: what was run, and the best loss to expect with its interval."""
    return draw_answer(answered_of(found), width=width)


def draw_answer(answered: Answered, *, width: int) -> alt.LayerChart:
    data, found = answer_data(answered), answered.answer
    room = draw.view_of(width)
    x = field("C", draw.log_axis("C", padded([*data.line["C"]]), pixels=room.width))
    frames = (data.runs, data.held_out, data.reference, data.line)
    drawn = [loss for frame in frames for loss in frame["loss"]]
    domain = loss_domain(drawn, data.line["low"], data.line["high"], targets=data.targets)
    y = draw.loss_axis(domain, pixels=room.height)
    where = {"x": x, "y": field("loss", y)}
    marks = {kind: mark("point", _style(data, kind)) for kind in (RUN, BEST)}
    held_out, tooltip = mark("point", "held-out"), _held_out_names(found)
    layers = [
        layer(data.line, BAND, x=x, **span(y)),
        *layer_if_any(data.reference, mark("line", "law-behind", clip=True), **where),
        *draw.edge_ticks(data.off_scale, data.names, x),
        *draw.layers_by(data.runs, "kind", marks, tooltip={**data.names, "loss": "loss"}, **where),
        layer(data.line, LINE, **where),
        *layer_if_any(data.held_out, held_out, tooltip=tooltip, **where),
        *target_layers(_near(data), x, y, domain),
    ]
    judged = held_out_text(found)
    lines = [f"from {rests_on(found)}", *([judged] if judged else [])]
    heading = f"Best loss by compute: {answered.name}"
    return room.chart(layers, heading, lines, key_entries(data, found))


def _near(data: AnswerData) -> pd.DataFrame:
    """The targets that the axis reaches."""
    reached: pd.DataFrame = data.targets[data.targets["C"] <= data.line["C"].max() * (1 + 1e-6)]
    return reached


def _style(data: AnswerData, kind: str) -> str:
    many = kind == BEST and (data.runs["kind"] == BEST).sum() > draw.MANY
    return "fitted-many" if many else STYLES[kind]


def _held_out_names(found: Answer) -> dict[str, str]:
    interval = {"low": f"{percent(found.level)} interval from", "high": "to"}
    return {"C": "C", "loss": "loss of the run", "predicted": "predicted", **interval}


def key_entries(data: AnswerData, found: Answer) -> list[KeyEntry]:
    """What the chart's marks mean, only those that it has."""
    kinds = set(data.runs["kind"])
    return draw.present(
        {
            KeyEntry("point", "run", "run"): RUN in kinds,
            KeyEntry("point", _style(data, BEST), "best run so far"): BEST in kinds,
            KeyEntry("point", "held-out", "best run held out"): len(data.held_out) > 0,
            KeyEntry("line", "law", "best loss to expect"): True,
            KeyEntry("line", "law-behind", "the same from all runs"): len(data.reference) > 0,
            KeyEntry("area", "band", f"{percent(found.level)} interval"): True,
            KeyEntry("point", "target", "target"): len(_near(data)) > 0,
            KeyEntry("tick", "off-scale", off_scale_text(data)): len(data.off_scale) > 0,
        }
    )
