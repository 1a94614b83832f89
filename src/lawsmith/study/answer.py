"""What a live study knows by now: its answer, its tasks, whether to stop, and all at a glance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lawsmith.answer import Answer, Target, answer
from lawsmith.answer.text import FORMS
from lawsmith.curves.trunks import usable
from lawsmith.errors import LawsmithError
from lawsmith.formats import flops, number, percent, plural
from lawsmith.journal import Event, Ledger, Stage, Trial, driver_of
from lawsmith.runners.results import log_tail
from lawsmith.runs import State
from lawsmith.stopping import StopRule, parse_rule
from lawsmith.study.asking import propose
from lawsmith.study.history import History
from lawsmith.study.live import LiveStudy
from lawsmith.study.prefixes import STOPPED
from lawsmith.study.trunks import along_of
from lawsmith.tasks import ScoredRuns, Task, TaskAnswer, answer_task

LOSS = "loss"  # what a study's loss is called


@dataclass(frozen=True, eq=False)
class Known:
    """The answer of a study, or why there is none yet."""

    answer: Answer | None
    why_not: str = ""


def answer_of(study: LiveStudy, ledger: Ledger) -> Known:
    """The answer after the runs of a ledger."""
    history = study.history(ledger)
    pool, runs = study.pool(history.pool), history.pool_runs
    name, level = study.spec.name, study.spec.law.level
    try:
        targets = [Target(C) for C in targets_of(study)]
        along = along_of(study, ledger)
        kept = along if any(usable(one) for one in along.curves) else None
        found = answer(pool, runs, targets, study=name, level=level, prior=study.prior, along=kept)
        return Known(found)
    except LawsmithError as error:
        return Known(None, f"{error.got}, {error.want} are needed" if error.want else str(error))


def targets_of(study: LiveStudy) -> list[float]:
    """The computes at which the loss is predicted: the study's targets, and its stop rule's."""
    rule = stop_rule(study)
    targets = list(study.spec.law.targets)
    return targets if rule is None or rule.compute in targets else [*targets, rule.compute]


def stop_rule(study: LiveStudy) -> StopRule | None:
    """The rule that ends the study, if it has one."""
    text = study.spec.law.stop_when
    try:
        return None if text is None else parse_rule(text)
    except LawsmithError as error:
        raise LawsmithError(f"{study.layout.file.name}: law.stop_when: {error}") from None


def answered(study: LiveStudy, ledger: Ledger) -> bool:
    """Whether the study's stop rule is met."""
    rule = stop_rule(study)
    if rule is None:
        return False
    found = answer_of(study, ledger).answer
    return found is not None and rule.met(found)


def tasks_of(study: LiveStudy, ledger: Ledger, known: Answer | None) -> tuple[TaskAnswer, ...]:
    """The accuracy of each [[metric]] at the targets of the answer; those that runs can tell."""
    if known is None or not known.forecasts:
        return ()
    history = study.history(ledger)
    targets = [forecast.target for forecast in known.forecasts]
    found = []
    for metric in study.spec.metric:
        if metric.name not in history.metrics:
            continue
        accuracy = history.metrics[metric.name]
        scores = ScoredRuns(study.spec.name, study.grid, history.runs, accuracy, LOSS)
        task = Task(metric.name, metric.chance, metric.questions)
        try:
            found.append(answer_task(scores, task, targets, level=known.level, loss=known))
        except LawsmithError:  # too few runs with this accuracy by now
            continue
    return tuple(found)


# Runs times candidates up to which what comes next is worked out without being asked for: about
# two seconds.
NEXT_WORK = 3_000_000
N_NEXT = 3  # proposals that are shown unasked
ENDED = {  # reasons of the event 'ended', as people read them
    "budget": "the budget is committed",
    "candidates": "no candidate is left",
    "stop rule": "the answer is known as well as was asked",
}


@dataclass(frozen=True)
class Failure:
    """A trial that failed, was quarantined or is waiting to be tried again."""

    trial: Trial
    log: str
    tail: str


@dataclass(frozen=True, eq=False)
class Summary:
    """All that `lawsmith status` shows.

    spend      FLOPs committed; ``finished`` of them by runs that have a result
    window     the largest compute of a run that has one, and of all candidates
    best       the trial of least loss
    tasks      accuracies at the targets, of the metrics that the study file names
    proposals  what would be asked for next, as it would stand on record
    why_not_next   why nothing was worked out of what comes next; '' where it was
    """

    study: LiveStudy
    ledger: Ledger
    driver: str | None
    torn: bool
    counts: dict[str, int]
    spend: float
    finished: float
    window: tuple[float | None, float]
    n_excluded: int
    unmatched: int
    best: Trial | None
    under_way: tuple[Trial, ...]
    failures: tuple[Failure, ...]
    known: Known
    tasks: tuple[TaskAnswer, ...]
    proposals: tuple[Event, ...]
    why_not_next: str


def too_many(study: LiveStudy, ledger: Ledger) -> str:
    """Why what comes next is left out; '' where that is quick."""
    n, m = len(ledger.trials), len(study.grid)
    if n * m <= NEXT_WORK:
        return ""
    return f"left out: with {n:,} trials on {m:,} candidates it takes a while"


def summarise(study: LiveStudy, ledger: Ledger, *, n_next: int | None) -> Summary:
    """The summary of a ledger.

    n_next   proposals to work out, none of them asked for; None: some, where that is quick
    """
    why_not = too_many(study, ledger) if n_next is None else ""
    n_next = (0 if why_not else N_NEXT) if n_next is None else n_next
    history = study.history(ledger)
    trials = list(ledger.trials.values())
    with_result = [t for t in trials if t.stage in (Stage.FINISHED, Stage.DIVERGED)]
    by = study.launched_by
    known = answer_of(study, ledger)
    return Summary(
        study=study,
        ledger=ledger,
        driver=driver_of(study.layout.lock),
        torn=study.journal.torn,
        counts=ledger.counts(),
        spend=ledger.spend,
        finished=sum(t.spend for t in with_result),
        window=window_of(study, history),
        n_excluded=int(history.excluded.sum()),
        unmatched=history.unmatched,
        best=best_of(ledger),
        under_way=tuple(t for t in trials if t.open),
        failures=failures_of(study, ledger),
        known=known,
        tasks=tasks_of(study, ledger, known.answer),
        proposals=tuple(propose(study, ledger, n_next, by=by)) if n_next else (),
        why_not_next=why_not,
    )


def window_of(study: LiveStudy, history: History) -> tuple[float | None, float]:
    """The largest compute of a run that has a result, None without one, and of all candidates."""
    runs = history.runs
    seen = runs.index[(runs.state == State.DONE.value) | (runs.state == State.DIVERGED.value)]
    return float(study.grid.C[seen].max()) if len(seen) else None, float(study.grid.C.max())


def best_of(ledger: Ledger) -> Trial | None:
    """The finished run of least loss; the loss of a trunk on its way does not count."""
    finished = (t for t in ledger.trials.values() if t.stage is Stage.FINISHED)
    runs = [t for t in finished if t.kind != "trunk" and t.loss is not None]
    return min(runs, key=lambda t: t.loss or 0.0, default=None)


def stopped_of(ledger: Ledger) -> tuple[Trial, ...]:
    """Trunks and runs that lawsmith stopped, since they were hopeless."""
    trials = ledger.trials.values()
    return tuple(t for t in trials if t.stage is Stage.CANCELLED and t.reason == STOPPED)


def saved_by(stopped: Sequence[Trial]) -> float:
    """FLOPs that stopping returned to the budget."""
    return sum(trial.cost - trial.spend for trial in stopped)


def saved_text(stopped: Sequence[Trial], budget: float | None) -> str:
    """'2 runs stopped before the end: 3e18 FLOPs saved, 1% of the budget'."""
    saved, what = saved_by(stopped), plural(len(stopped), stopped[0].kind)
    share = f", {percent(saved / budget)} of the budget" if budget else ""
    return f"{what} stopped before the end: {flops(saved)} FLOPs saved{share}"


def failures_of(study: LiveStudy, ledger: Ledger, *, lines: int = 5) -> tuple[Failure, ...]:
    """Every trial that failed, was quarantined or waits to be tried again, with its last lines."""
    troubled = (Stage.FAILED, Stage.QUARANTINED, Stage.WAITING)
    return tuple(_failure(study, t, lines) for t in ledger.trials.values() if t.stage in troubled)


def _failure(study: LiveStudy, trial: Trial, lines: int) -> Failure:
    attempt = trial.attempt - 1 if trial.stage is Stage.WAITING else trial.attempt
    folder = study.layout.attempt(trial.name, attempt)
    return Failure(trial, str(folder / "log.txt"), log_tail(folder, lines) if trial.started else "")


def config_text(config: Mapping[str, float | int | str]) -> str:
    """'30M, D 4B, lr 0.002'; the model's name stands for its N where it has one."""
    model = config.get("model", "")
    parts = [str(model)] if model else []
    left_out = ("model", "N") if model else ("model",)
    parts += [
        f"{name} {_value_text(name, v)}" for name, v in config.items() if name not in left_out
    ]
    return ", ".join(parts)


def _value_text(name: str, value: float | int | str) -> str:
    return value if isinstance(value, str) else FORMS.get(name, number)(value)
