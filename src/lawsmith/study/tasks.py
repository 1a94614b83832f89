"""What a live study knows by now of the tasks whose accuracies its runs report."""

from __future__ import annotations

from lawsmith.answer import Answer
from lawsmith.errors import LawsmithError
from lawsmith.journal import Ledger
from lawsmith.study.live import LiveStudy
from lawsmith.tasks import ScoredRuns, Task, TaskAnswer, answer_task

LOSS = "loss"  # what a study's loss is called


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
