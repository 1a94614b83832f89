"""What a live study knows by now: its answer, its tasks, and whether its stop rule is met."""

from __future__ import annotations

from dataclasses import dataclass

from lawsmith.answer import Answer, Target, answer
from lawsmith.curves.trunks import usable
from lawsmith.errors import LawsmithError
from lawsmith.journal import Ledger
from lawsmith.stopping import StopRule, parse_rule
from lawsmith.study.live import LiveStudy
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
        told = along if any(usable(one) for one in along.curves) else None
        found = answer(pool, runs, targets, study=name, level=level, prior=study.prior, along=told)
        return Known(found)
    except LawsmithError as error:
        return Known(None, f"{error.got}, {error.want} are needed" if error.want else str(error))


def targets_of(study: LiveStudy) -> list[float]:
    """The computes at which the loss is predicted: the study's targets, and its stop rule's."""
    rule = stop_rule(study)
    told = list(study.spec.law.targets)
    return told if rule is None or rule.compute in told else [*told, rule.compute]


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
