"""The result of `lawsmith fit`: read the runs, answer, describe them by a law."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from lawsmith import analysis
from lawsmith.analysis import Analysis, Comparison, Cut, FitOptions, Moved
from lawsmith.answer import Answer, HeldOutRuns, Target, default_target
from lawsmith.answer.batch import CriticalBatch, batch_of
from lawsmith.answer.next_runs import NextRun, next_runs
from lawsmith.answer.serving import Serving, serve
from lawsmith.arrays import FloatArray
from lawsmith.cli import options as read
from lawsmith.cli.commands import FitRequest
from lawsmith.cli.console import working
from lawsmith.curves import Along
from lawsmith.datasets import ReadOptions, Study
from lawsmith.errors import LawsmithError
from lawsmith.expressions import names
from lawsmith.laws.allocation import divides
from lawsmith.laws.catalogue import LAWS, get_law
from lawsmith.laws.diagnostics import Diagnostic, laws_disagree
from lawsmith.laws.uncertainty import Interval
from lawsmith.runs import State
from lawsmith.study.live import prior_from
from lawsmith.surface import Prior
from lawsmith.tasks import Task, TaskAnswer
from lawsmith.threads import one_thread

RISES = 0.5  # rank correlation with compute above which a column is no loss
SURFACE = "the answer"  # beside the names of laws


@dataclass(frozen=True)
class Decision:
    """Advice at a target about runs that are not made yet; empty or None if not requested."""

    target: Target
    runs: tuple[NextRun, ...]
    batch: CriticalBatch | None


@dataclass(frozen=True, eq=False)
class FitResult:
    """What `lawsmith fit` found.

    answer     None with the reason ``why_no_answer``
    analysis   the law that describes the runs; None with the reason ``why_no_law``
    warnings   about laws: those of the analysis, and where laws and the answer disagree
    cuts       the rolling hold-outs of a comparison; ``surface_cuts`` the surface's on each
    serving    the cheapest model for training and serving, at each target that is a compute
    decisions  further runs and critical batches, at each target
    moved      each target with N counted in another way
    along      the curves beside the runs; None without any
    """

    study: Study
    request: FitRequest
    answer: Answer | None
    why_no_answer: str
    analysis: Analysis | None
    why_no_law: str
    along: Along | None
    warnings: tuple[Diagnostic, ...] = ()
    compared: tuple[Comparison, ...] = ()
    cuts: tuple[Cut, ...] = ()
    surface_cuts: tuple[HeldOutRuns | None, ...] = ()
    serving: tuple[Serving, ...] = ()
    decisions: tuple[Decision, ...] = ()
    moved: tuple[Moved, ...] = ()

    def claims(self) -> dict[str, dict[str, Interval]]:
        """The label of a target → the answer and each law → the loss; NaN without an interval."""
        claims: dict[str, dict[str, Interval]] = {}
        for forecast in self.answer.forecasts if self.answer is not None else ():
            loss = Interval(forecast.loss, forecast.low, forecast.high)
            claims[forecast.target.label] = {SURFACE: loss}
        laws = {one.law.name: one.predictions for one in self.compared}
        if self.analysis is not None:
            laws.setdefault(self.analysis.law.name, self.analysis.predictions)
        for name, predictions in laws.items():
            for p in predictions:
                loss = p.interval or Interval(p.loss, np.nan, np.nan)
                claims.setdefault(p.target.label, {})[name] = loss
        return claims


def fit_runs(request: FitRequest) -> FitResult:
    """Read the runs, answer, and describe them by a law."""
    study, along, targets = read.read_runs(request, request.table, _reading(request))
    with working("learning from earlier studies"):
        prior = prior_from(request.learn_from or ())
    answer_study = partial(
        analysis.answer_study, level=request.level, hold_out=request.hold_out, prior=prior
    )
    has_default = study.has_compute and len(study.runs.of(State.DONE))
    wanted = targets or ((default_target(study.grid, study.runs),) if has_default else ())
    # First, so that an error in the options of the law is reported before the work.
    law, why_no_law = _law(study, request, targets, wanted)
    answer, why_no_answer = None, ""
    try:
        answer = answer_study(study, wanted, curves=along)
    except LawsmithError as error:
        if targets and error.where == "target":
            raise
        why_no_answer = str(error)
    if why_no_law is not None and not (answer and answer.forecasts):
        raise why_no_law  # neither a law nor a loss anywhere: there is nothing to show
    result = FitResult(study, request, answer, why_no_answer, law, str(why_no_law or ""), along)
    if answer is not None:
        result = replace(
            result,
            serving=_serving(answer, request),
            moved=_moved(study, answer, request, answer_study),
            decisions=_decisions(answer, request),
        )
    elif any((request.inference_tokens, request.other_n, request.n_next, request.critical_batch)):
        raise LawsmithError(why_no_answer)
    if request.compare:
        result = _with_comparison(result, wanted, prior)
    return replace(result, warnings=_warnings(result))


def _reading(request: FitRequest) -> ReadOptions:
    """How to read the table: with the columns that --other-n is counted from."""
    reading = read.reading(request)
    if request.other_n is None:
        return reading
    known = {"N", "D", "C", "loss", *reading.columns}
    more = tuple(name for name in names(request.other_n) if name not in known)
    return replace(reading, metrics=(*reading.metrics, *more))


def _serving(answer: Answer, request: FitRequest) -> tuple[Serving, ...]:
    """The cheapest model for training and serving, at each target that is a compute."""
    if request.inference_tokens is None:
        return ()
    computes = [f.compute for f in answer.forecasts if not f.target.sized]
    if not computes:
        want = "a --target, whose loss is to be reached"
        raise LawsmithError("--inference-tokens", got="no compute", want=want)
    return tuple(serve(answer.surface, C, request.inference_tokens) for C in computes)


def _moved(
    study: Study, answer: Answer, request: FitRequest, answer_study: Callable[..., Answer]
) -> tuple[Moved, ...]:
    """Each target with N counted as --other-n says."""
    if request.other_n is None:
        return ()
    if "N" not in study.grid.names or request.curves is not None:
        got = "curves" if request.curves is not None else "a study without N"
        raise LawsmithError("--other-n", got=got, want="a table of runs with N, without curves")
    other = analysis.recounted(study, analysis.other_n(study, request.other_n))
    targets = tuple(forecast.target for forecast in answer.forecasts)
    with working("counting N in another way"):
        return analysis.moved(request.other_n, answer, answer_study(other, targets))


def _decisions(answer: Answer, request: FitRequest) -> tuple[Decision, ...]:
    """The next runs and the critical batch, at each target."""
    n, level = request.n_next, request.level
    if not n and not request.critical_batch:
        return ()
    if n and all(forecast.target.sized for forecast in answer.forecasts):
        want = "a --target, whose interval is to be narrowed"
        raise LawsmithError("--next", got="no compute", want=want)
    surface, decisions = answer.surface, []
    with working("weighing further runs"), one_thread():
        for forecast in answer.forecasts:
            ranked = n and not forecast.target.sized
            runs = next_runs(surface, forecast.compute, n, level=level) if ranked else ()
            batch = batch_of(surface, forecast, level) if request.critical_batch else None
            decisions.append(Decision(forecast.target, runs, batch))
    return tuple(decisions)


def _with_comparison(result: FitResult, targets: tuple[Target, ...], prior: Prior) -> FitResult:
    """Every law beside the answer, and all of them on the same hold-outs."""
    study, request, described = result.study, result.request, result.analysis
    usual = FitOptions(get_law("LC"), request.hold_out, level=request.level)
    options = replace(usual if described is None else described.options, targets=targets)
    laws = analysis.laws_for(study)
    if options.law.name not in LAWS:
        laws = (*laws, options.law)  # a law of the user's own is compared too
    with working("comparing laws"):
        cuts = analysis.rolling_cuts(study, options)
        compared = analysis.compare_laws(study, options, laws)
        surface_cuts = analysis.surface_on_cuts(study, cuts, options.level, prior)
    return replace(result, compared=compared, cuts=cuts, surface_cuts=surface_cuts)


def _warnings(result: FitResult) -> tuple[Diagnostic, ...]:
    """Warnings about laws, and targets at which two intervals do not overlap."""
    warnings = list(result.analysis.warnings) if result.analysis is not None else []
    warnings += [w for one in result.compared for w in one.warnings if w not in warnings]
    for label, claims in result.claims().items():
        known = {name: loss for name, loss in claims.items() if not np.isnan(loss.low)}
        warning = laws_disagree(label, known, result.request.level)
        warnings += [] if warning is None else [warning]
    return tuple(warnings)


def _law(
    study: Study, request: FitRequest, targets: tuple[Target, ...], wanted: tuple[Target, ...]
) -> tuple[Analysis | None, LawsmithError | None]:
    """The fit of the law that was named, or of the usual one, or why there is none.

    An error in fitting a law that was named, or with options of its own, is raised.
    """
    try:
        law = read.law_for(study, request.law)
        of_compute = law.inputs == ("C",) or divides(law)
        options = replace(
            read.law_options(study, request, wanted if of_compute else targets),
            objective=read.objective(request.objective, request.delta, law),
            fixed=read.fixed(request.fix or (), law),
        )
        return analysis.analyse(study, options), None
    except LawsmithError as error:
        named = (request.law, request.fix, request.objective, request.force)
        if any(named) or request.delta is not None:
            raise
        return None, error


def answer_losses(request: FitRequest) -> tuple[Study, dict[str, Answer]]:
    """An answer for each column of --metrics, and the study of the last."""
    studies: dict[str, Study] = {}
    columns = read.names(request.metrics or (), "--metrics")
    for name in columns:
        reading = analysis.reading_of(name, columns, read.reading(request))
        studies[name] = study = read.load_study(request.table, reading)
        check_is_loss(study, "--metrics", name)
    targets = read.targets(request.targets, list(study.grid.hp))
    level, hold_out = request.level, request.hold_out
    with working("Working out the answers"):
        return study, analysis.answer_losses(studies, targets, level=level, hold_out=hold_out)


def answer_tasks(request: FitRequest, tasks: Sequence[Task]) -> tuple[Study, list[TaskAnswer]]:
    """The study with the columns of the tasks, and an answer for each."""
    via, level, hold_out = request.via or "", request.level, request.hold_out
    reading = read.with_tasks(read.reading(request), tasks, request.via)
    if not via:  # accuracy takes the place of the loss
        columns = {**reading.columns, "loss": tasks[0].name}
        reading = replace(reading, columns=columns, loss_sign="any")
    study = read.load_study(request.table, reading)
    targets = read.targets(request.targets, list(study.grid.hp))
    if via:
        check_is_loss(study, "--via", via)
    with working("Working out the answer"):
        return study, analysis.answer_tasks(
            study, tasks, targets, via=via, level=level, hold_out=hold_out
        )


def check_is_loss(study: Study, option: str, name: str) -> None:
    """Refuse a column that rises with compute: it is no loss."""
    done = study.runs.of(State.DONE)
    C = study.grid.C[done.index]
    if len(done) > 3 and len(np.unique(C)) > 1 and len(np.unique(done.loss)) > 1:
        rank = float(np.corrcoef(_rank(C), _rank(done.loss))[0, 1])
        if rank > RISES:
            got = f"{name}, which rises with compute (rank correlation {rank:.2f})"
            hint = f"for an accuracy: --metric {name}"
            raise LawsmithError(option, got=got, want="a loss", hint=hint)


def _rank(values: FloatArray) -> FloatArray:
    """Place of each value in their order, the same for equal ones."""
    return np.unique(values, return_inverse=True)[1].astype(np.float64)
