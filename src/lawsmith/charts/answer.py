"""The answer chart: every run, the best loss by compute with its band, held-out runs, targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.answer import Answer
from lawsmith.answer.text import held_out_text, rests_on
from lawsmith.charts import runs
from lawsmith.charts.draw import WIDE
from lawsmith.charts.law import NONE, LossData, draw_losses, fence, off_scale
from lawsmith.charts.runs import FITTED, HELD_OUT, MAX_RUNS, NOT_RUN, RUN, ChartUnavailable, short
from lawsmith.datasets.records import Study, study_name
from lawsmith.formats import percent
from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray, Grid, IntArray
from lawsmith.replay import Answers, Replayed, Trace
from lawsmith.runs import Runs, State
from lawsmith.surface.surface import FEW_RATIOS

N_LINE = 15  # computes at which the best loss is worked out: it bends slowly


@dataclass(frozen=True, eq=False)
class Answered:
    """An answer and the runs it rests on: what its charts are made of.

    name    of the study, for titles
    whole   the answer of all runs of a pool of which only some were used
    rest    the runs of that pool that were not used
    called  (m,) what the runs of each configuration are called; empty where they have no names
    """

    name: str
    answer: Answer
    grid: Grid
    runs: Runs
    whole: Answer | None = None
    rest: Runs | None = None
    called: Sequence[str] = ()

    @property
    def loss(self) -> FloatArray:
        """(m,) of each configuration, NaN where it was not run."""
        return self.runs.config_loss(len(self.grid))

    @property
    def best(self) -> IntArray:
        """Rows of the best runs so far: no cheaper one has a lower loss."""
        known = np.flatnonzero(np.isfinite(self.loss))
        return known[frontier(self.grid.subset(known), self.loss[known], ("C",))]


def answered_by(answer: Answer, study: Study) -> Answered:
    """The answer by a study's runs, those that it kept out left out."""
    made = study.runs
    kept = ~np.isin(made.index, answer.left_out)
    used = Runs(made.index[kept], made.loss[kept], np.asarray(made.state[kept]))
    return Answered(study_name(study), answer, study.grid, used, called=runs.called_in(study))


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
    """The answer by the runs of a replay, behind it the whole pool and its answer."""
    pool, loss = trace.task.rows, study.runs.config_loss(len(study.grid))
    rows = pool[[step.candidate for step in trace.steps]]
    others = np.setdiff1d(pool, rows)
    made, rest = (Runs.from_losses(some, loss[some]) for some in (rows, others))
    name, called = study_name(study), runs.called_in(study)
    return Answered(name, answers.chosen, study.grid, made, answers.pool, rest, called)


@lru_cache(maxsize=4)  # a chart is drawn at two widths
def answer_data(answered: Answered, *, max_runs: int = MAX_RUNS) -> LossData:
    """The answer chart's numbers; of the runs, those that no cheaper one beats are FITTED."""
    answer, grid, called, loss = answered.answer, answered.grid, answered.called, answered.loss
    known = np.flatnonzero(np.isfinite(loss))
    if len(np.unique(grid.C[known])) < 2:
        raise ChartUnavailable("all runs have the same compute")
    best, kinds = answered.best, np.full(len(grid), NOT_RUN, dtype=object)
    kinds[known], kinds[best] = RUN, FITTED
    drawn = loss if answered.rest is None else np.fmax(loss, answered.rest.config_loss(len(grid)))
    held_out, targets = _held_out(answer), _targets(answer)
    top = max(fence(drawn), float(loss[best].max()), *held_out["loss"])
    along = _computes(grid.C[known], held_out["C"], targets["C"])
    diverged = np.unique(answered.runs.of(State.DIVERGED).index)
    return LossData(
        x="C",
        column="C",
        runs=runs.rows_of(grid, drawn, kinds, called, top=top, max_runs=max_runs),
        line=_line(answer, along),
        targets=targets,
        off_scale=off_scale(grid, diverged, loss, top, called),
        top=top,
        threshold=np.nan,
        reference=NONE if answered.whole is None else _line(answered.whole, along)[["C", "loss"]],
        held_out=held_out,
    )


def _held_out(answer: Answer) -> pd.DataFrame:
    judged = answer.held_out
    if judged is None:
        return NONE
    columns = (judged.C, judged.measured, judged.predicted, judged.low, judged.high)
    return pd.DataFrame({k: short(v) for k, v in zip(NONE, columns, strict=True)})


def _targets(answer: Answer) -> pd.DataFrame:
    rows = [
        (f.compute, f.loss, f.low, f.high, f.target.label)
        for f in answer.forecasts
        if not f.target.sized and np.isfinite(f.compute)
    ]
    return pd.DataFrame(rows, columns=["C", "loss", "low", "high", "label"])


def _computes(
    made: FloatArray, held_out: pd.Series[float], targets: pd.Series[float]
) -> FloatArray:
    """From the least compute to the nearest target beyond the runs, or a decade beyond them.

    A far target would squeeze the runs into a corner.
    """
    most = float(max([made.max(), *held_out]))
    beyond = [C for C in targets if most < C]
    return np.geomspace(made.min(), min(beyond, default=10 * most), N_LINE)


def _line(answer: Answer, C: FloatArray) -> pd.DataFrame:
    tail = 0.5 * (1.0 - answer.level)
    # The end, where the answer is marked, is as exact as the answer.
    surface = answer.surface
    few = [surface.mixture_best(x, FEW_RATIOS) for x in C[:-1].tolist()]
    mixtures = [*few, surface.mixture_best(float(C[-1]))]
    ends = {
        name: short(np.exp([m.quantile(p, run=False) for m in mixtures]))
        for name, p in (("loss", 0.5), ("low", tail), ("high", 1.0 - tail))
    }
    return pd.DataFrame({"C": short(C), **ends})


def answer(found: Answered | Answer | Replayed, *, width: int = WIDE) -> alt.LayerChart:
    """Loss against compute: what was run, and the best loss to expect with its interval."""
    answered = answered_of(found)
    judged = held_out_text(answered.answer)
    means = {
        NOT_RUN: "not run",
        FITTED: "best run so far",
        HELD_OUT: "best run held out",
        "line": "best loss to expect",
        "band": f"{percent(answered.answer.level)} interval",
        "reference": "best loss from the whole pool",
    }
    lines = [f"from {rests_on(answered.answer)}", *([judged] if judged else [])]
    heading = f"Best loss by compute: {answered.name}"
    return draw_losses(answer_data(answered), means, heading, lines, width=width)
