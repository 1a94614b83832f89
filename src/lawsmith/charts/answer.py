"""The answer chart: all runs, the best loss by compute with its band, held-out runs, targets."""

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
from lawsmith.charts.law import NO_ROWS, LossData, draw_losses, off_scale, outlier_fence
from lawsmith.charts.runs import FITTED, HELD_OUT, MAX_RUNS, NOT_RUN, RUN, ChartUnavailable, rounded
from lawsmith.datasets.records import Study, study_name
from lawsmith.formats import percent
from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray, Grid, IntArray
from lawsmith.replay import Answers, Replayed, Trace
from lawsmith.runs import Runs, State
from lawsmith.surface.surface import FEW_RATIOS

N_LINE = 15  # computes at which the best loss is computed: its curve is smooth


@dataclass(frozen=True, eq=False)
class AnswerWithRuns:
    """An answer and the runs it is from: the input of its charts.

    name         of the study, for titles
    pool_answer  the answer of a whole pool, if only some of its runs were used
    unused_runs  the other runs of that pool
    run_names    `config_run_names`
    """

    name: str
    answer: Answer
    grid: Grid
    runs: Runs
    pool_answer: Answer | None = None
    unused_runs: Runs | None = None
    run_names: Sequence[str] = ()

    @property
    def loss(self) -> FloatArray:
        """(m,) the loss of each configuration, NaN where it was not run."""
        return self.runs.config_loss(len(self.grid))

    @property
    def best(self) -> IntArray:
        """Rows of the best runs: those with a lower loss than all cheaper ones."""
        known = np.flatnonzero(np.isfinite(self.loss))
        return known[frontier(self.grid.subset(known), self.loss[known], ("C",))]


def answer_with_runs(answer: Answer, study: Study) -> AnswerWithRuns:
    """An answer with the runs of its study; without those it held out."""
    used = study.runs.take(~np.isin(study.runs.index, answer.left_out))
    names = runs.config_run_names(study)
    return AnswerWithRuns(study_name(study), answer, study.grid, used, run_names=names)


def as_answer_with_runs(result: AnswerWithRuns | Answer | Replayed) -> AnswerWithRuns:
    """A result of `lawsmith.fit`, or of a replay, with its runs."""
    if isinstance(result, AnswerWithRuns):
        return result
    if isinstance(result, Replayed):
        if result.answers is None:
            raise ChartUnavailable("the replay made too few runs for an answer")
        return replay_with_runs(result.trace, result.study, result.answers)
    if result.origin is None:
        raise ChartUnavailable("the answer does not know its runs: make it with lawsmith.fit")
    return answer_with_runs(result, result.origin.study)


def replay_with_runs(trace: Trace, study: Study, answers: Answers) -> AnswerWithRuns:
    """The answer of a replay with its runs, and that of the whole pool with the other runs."""
    pool, loss = trace.task.rows, study.runs.config_loss(len(study.grid))
    rows = pool[[step.candidate for step in trace.steps]]
    others = np.setdiff1d(pool, rows)
    made, unused = (Runs.from_losses(some, loss[some]) for some in (rows, others))
    names = runs.config_run_names(study)
    return AnswerWithRuns(
        study_name(study), answers.chosen, study.grid, made, answers.pool, unused, names
    )


@lru_cache(maxsize=4)  # each chart is drawn at two widths
def answer_data(answered: AnswerWithRuns, *, max_runs: int = MAX_RUNS) -> LossData:
    """The numbers of the answer chart; the kind of the best runs is FITTED."""
    answer, grid, names, loss = answered.answer, answered.grid, answered.run_names, answered.loss
    known = np.flatnonzero(np.isfinite(loss))
    if len(np.unique(grid.C[known])) < 2:
        raise ChartUnavailable("all runs have the same compute")
    best, kinds = answered.best, np.full(len(grid), NOT_RUN, dtype=object)
    kinds[known], kinds[best] = RUN, FITTED
    unused = answered.unused_runs
    drawn = loss if unused is None else np.fmax(loss, unused.config_loss(len(grid)))
    held_out, targets, pool = _held_out(answer), _targets(answer), answered.pool_answer
    top = max(outlier_fence(drawn), float(loss[best].max()), *held_out["loss"])
    along = _computes(grid.C[known], held_out["C"], targets["C"])
    diverged = np.unique(answered.runs.of(State.DIVERGED).index)
    return LossData(
        x="C",
        column="C",
        runs=runs.select_runs(grid, drawn, kinds, names, top=top, max_runs=max_runs),
        line=_line(answer, along),
        targets=targets,
        off_scale=off_scale(grid, diverged, loss, top, names),
        top=top,
        reference=NO_ROWS if pool is None else _line(pool, along)[["C", "loss"]],
        held_out=held_out,
    )


def _held_out(answer: Answer) -> pd.DataFrame:
    judged = answer.held_out
    if judged is None:
        return NO_ROWS
    columns = (judged.C, judged.measured, judged.predicted, judged.low, judged.high)
    return pd.DataFrame({k: rounded(v) for k, v in zip(NO_ROWS, columns, strict=True)})


def _targets(answer: Answer) -> pd.DataFrame:
    rows = [
        (f.compute, f.loss, f.low, f.high, f.target.label)
        for f in answer.forecasts
        if not f.target.sized and np.isfinite(f.compute)
    ]
    return pd.DataFrame(rows, columns=["C", "loss", "low", "high", "label"])


def _computes(run: FloatArray, held_out: pd.Series[float], targets: pd.Series[float]) -> FloatArray:
    """From the smallest compute to the nearest target beyond the runs, or a decade beyond them.

    With a line to a far target, the runs would fill only a corner of the chart.
    """
    largest = float(max([run.max(), *held_out]))
    beyond = [C for C in targets if largest < C]
    return np.geomspace(run.min(), min(beyond, default=10 * largest), N_LINE)


def _line(answer: Answer, C: FloatArray) -> pd.DataFrame:
    tail = 0.5 * (1.0 - answer.level)
    # The end, where the answer is marked, is as accurate as the answer.
    surface = answer.surface
    few = [surface.mixture_best(x, FEW_RATIOS) for x in C[:-1].tolist()]
    mixtures = [*few, surface.mixture_best(float(C[-1]))]
    ends = {
        name: rounded(np.exp([m.quantile(p, run=False) for m in mixtures]))
        for name, p in (("loss", 0.5), ("low", tail), ("high", 1.0 - tail))
    }
    return pd.DataFrame({"C": rounded(C), **ends})


def answer(result: AnswerWithRuns | Answer | Replayed, *, width: int = WIDE) -> alt.LayerChart:
    """Loss against compute: all runs, and the best loss to expect with its interval."""
    answered = as_answer_with_runs(result)
    held_out = held_out_text(answered.answer)
    labels = {
        NOT_RUN: "not run",
        FITTED: "best run so far",
        HELD_OUT: "best run held out",
        "line": "best loss to expect",
        "band": f"{percent(answered.answer.level)} interval",
        "reference": "best loss from the whole pool",
    }
    lines = [f"from {rests_on(answered.answer)}", *([held_out] if held_out else [])]
    heading = f"Best loss by compute: {answered.name}"
    return draw_losses(answer_data(answered), labels, heading, lines, width=width)
