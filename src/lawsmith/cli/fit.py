"""What `lawsmith fit` works out: read the runs, answer, describe them by a law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lawsmith import analysis
from lawsmith.analysis import Analysis, Comparison, Cut, FitOptions, Moved, Prediction
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


@dataclass(frozen=True)
class Decided:
    """What a target says of runs that are not made yet; None where it was not asked for."""

    target: Target
    runs: tuple[NextRun, ...]
    batch: CriticalBatch | None


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit found.

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
    warnings: tuple[Diagnostic, ...] = ()
    compared: tuple[Comparison, ...] = ()
    cuts: tuple[Cut, ...] = ()
    surface_cuts: tuple[HeldOutRuns | None, ...] = ()
    serving: tuple[Serving, ...] = ()
    decisions: tuple[Decided, ...] = ()
    moved: tuple[Moved, ...] = ()
    along: Along | None = None


def work_out(request: FitRequest) -> Fitted:
    """Read, answer, fit."""
    study, along, targets = read.read_runs(request, request.table, _reading(request))
    with working("learning from earlier studies"):
        prior = prior_from(request.learn_from or ())
    usual = study.has_compute and len(study.runs.of(State.DONE))
    wanted = targets or ((default_target(study.grid, study.runs),) if usual else ())
    # First, so that an error in what was asked of the law is reported before the work.
    described, why_no_law = _law(study, request, targets, wanted)
    found, why_no_answer = None, ""
    try:
        level, held = request.level, request.hold_out
        found = analysis.answer_study(
            study, wanted, level=level, hold_out=held, prior=prior, curves=along
        )
    except LawsmithError as error:
        if targets and error.where == "target":
            raise
        why_no_answer = str(error)
    if why_no_law is not None and not (found and found.forecasts):
        raise why_no_law  # neither a law nor a loss anywhere: there is nothing to show
    fitted = Fitted(study, request, found, why_no_answer, described, str(why_no_law or ""))
    fitted = replace(fitted, along=along)
    scaled = request.inference_tokens is not None or request.other_n is not None
    if scaled or request.n_next or request.critical_batch:
        if found is None:
            raise LawsmithError(why_no_answer)
        fitted = replace(
            fitted,
            serving=_serving(found, request),
            moved=_moved(study, found, request, prior),
            decisions=_decisions(found, request),
        )
    if request.compare:
        fitted = _with_comparison(fitted, wanted, prior)
    return replace(fitted, warnings=_warnings(fitted))


def _serving(found: Answer, request: FitRequest) -> tuple[Serving, ...]:
    """At each target that is a compute."""
    if request.inference_tokens is None:
        return ()
    computes = [f.compute for f in found.forecasts if not f.target.sized]
    if not computes:
        want = "a --target, whose loss is to be reached"
        raise LawsmithError("--inference-tokens", got="no compute", want=want)
    return tuple(serve(found.surface, C, request.inference_tokens) for C in computes)


def _reading(request: FitRequest) -> ReadOptions:
    """How to read the table: with the columns of numbers that another N is counted from."""
    reading = read.reading(request)
    if request.other_n is None:
        return reading
    own = {"N", "D", "C", "loss", *reading.columns}
    more = tuple(name for name in names(request.other_n) if name not in own)
    return replace(reading, metrics=(*reading.metrics, *more))


def _moved(study: Study, found: Answer, request: FitRequest, prior: Prior) -> tuple[Moved, ...]:
    """Each target with the other N."""
    if request.other_n is None:
        return ()
    if "N" not in study.grid.names or request.curves is not None:
        got = "curves" if request.curves is not None else "a study without N"
        raise LawsmithError("--other-n", got=got, want="a table of runs with N, without curves")
    other = analysis.recounted(study, analysis.other_n(study, request.other_n))
    targets = tuple(forecast.target for forecast in found.forecasts)
    with working("counting N in another way"):
        held = request.hold_out
        again = analysis.answer_study(
            other, targets, level=request.level, hold_out=held, prior=prior
        )
    return analysis.moved(request.other_n, found, again)


def _decisions(found: Answer, request: FitRequest) -> tuple[Decided, ...]:
    """At each target."""
    surface, n = found.surface, request.n_next
    if not n and not request.critical_batch:
        return ()
    if n and all(forecast.target.sized for forecast in found.forecasts):
        want = "a --target, whose interval is to be narrowed"
        raise LawsmithError("--next", got="no compute", want=want)
    decided = []
    with working("weighing further runs"), one_thread():
        for forecast in found.forecasts:
            narrows = n and not forecast.target.sized
            runs = next_runs(surface, forecast.compute, n, level=request.level) if narrows else ()
            batch = batch_of(surface, forecast, request.level) if request.critical_batch else None
            decided.append(Decided(forecast.target, runs, batch))
    return tuple(decided)


def _with_comparison(fitted: Fitted, targets: tuple[Target, ...], prior: Prior) -> Fitted:
    """Every law beside the answer, and all of them on the same hold-outs."""
    study, request, described = fitted.study, fitted.request, fitted.analysis
    usual = FitOptions(get_law("LC"), request.hold_out, level=request.level)
    options = replace(usual if described is None else described.options, targets=targets)
    laws = analysis.laws_for(study)
    if options.law.name not in LAWS:
        laws = (*laws, options.law)  # a law of the user's own is compared too
    with working("comparing laws"):
        cuts = analysis.rolling_cuts(study, options)
        compared = analysis.compare_laws(study, options, laws)
        surface = analysis.surface_on_cuts(study, cuts, options.level, prior)
    return replace(fitted, compared=compared, cuts=cuts, surface_cuts=surface)


def _warnings(fitted: Fitted) -> tuple[Diagnostic, ...]:
    """Those about the law, and where intervals of one loss do not overlap."""
    answer, described, compared = fitted.answer, fitted.analysis, fitted.compared
    found = list(described.warnings) if described is not None else []
    found += [w for c in compared for w in c.warnings if w not in found]
    said: dict[str, Sequence[Prediction]] = {c.law.name: c.predictions for c in compared}
    if described is not None:
        said[described.law.name] = described.predictions
    claims: dict[str, dict[str, Interval]] = {}
    for forecast in answer.forecasts if answer is not None else ():
        mine = Interval(forecast.loss, forecast.low, forecast.high)
        claims[forecast.target.label] = {"the answer": mine}
    for name, predictions in said.items():
        for p in predictions:
            if p.interval is not None:
                claims.setdefault(p.target.label, {})[name] = p.interval
    apart = (laws_disagree(label, each, fitted.request.level) for label, each in claims.items())
    return (*found, *(warning for warning in apart if warning is not None))


def _law(
    study: Study, request: FitRequest, targets: tuple[Target, ...], wanted: tuple[Target, ...]
) -> tuple[Analysis | None, LawsmithError | None]:
    """The law asked for, which must fit; else the study's usual one, or why there is none."""
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
        about = (request.law, request.fix, request.objective, request.force)
        if any(about) or request.delta is not None:
            raise
        return None, error


def answer_losses(request: FitRequest) -> tuple[Study, dict[str, Answer]]:
    """Each column of --metrics as the loss, and its answer."""
    studies: dict[str, Study] = {}
    names = read.names(request.metrics or (), "--metrics")
    for name in names:
        reading = analysis.reading_of(name, names, read.reading(request))
        studies[name] = study = read.load_study(request.table, reading)
        check_is_loss(study, "--metrics", name)
    targets = read.targets(request.targets, list(study.grid.hp))
    with working("Working out the answers"):
        found = analysis.answer_losses(
            studies, targets, level=request.level, hold_out=request.hold_out
        )
    return study, found


def answer_tasks(request: FitRequest, tasks: Sequence[Task]) -> tuple[Study, list[TaskAnswer]]:
    """The columns of the tasks, and an answer for each."""
    via, rule, level = request.via or "", request.hold_out, request.level
    reading = read.with_tasks(read.reading(request), tasks, request.via)
    if not via:  # accuracy is in the place of the loss
        columns = {**reading.columns, "loss": tasks[0].name}
        reading = replace(reading, columns=columns, loss_sign="any")
    study = read.load_study(request.table, reading)
    targets = read.targets(request.targets, list(study.grid.hp))
    if via:
        check_is_loss(study, "--via", via)
    with working("Working out the answer"):
        return study, analysis.answer_tasks(
            study, tasks, targets, via=via, level=level, hold_out=rule
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
