"""What the runs of a replay say: the answer after some of them, beside that of the whole pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lawsmith.answer import Answer, Target, answer
from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.replay.task import Task
from lawsmith.runs import Runs

GROWTH = 1.05  # of the runs, after which a rule is looked at again: √1.05 is 2 % of a width


@dataclass(frozen=True, eq=False)
class Answers:
    """By the runs chosen, and by all runs of the pool; each with the held-out runs predicted."""

    chosen: Answer
    pool: Answer


def answer_after(task: Task, runs: Runs, targets: Sequence[Target]) -> Answer | None:
    """The answer after ``runs`` of the pool; None while there are too few."""
    try:
        return answer(task.pool, runs, targets, study=task.study, prior=task.prior)
    except LawsmithError:
        return None


def answers_of(
    task: Task, study: Study, rows: Sequence[int], targets: Sequence[Target]
) -> Answers | None:
    """The answer by ``rows`` of the pool and by the whole pool; None where there are too few.

    A chosen row is one run, of its configuration's mean loss; the pool has all runs of the study,
    so that `lawsmith fit` says the same of it.
    """
    grid, runs = study.grid, study.runs
    held_out = np.setdiff1d(np.arange(len(grid)), task.rows)
    chosen = np.concatenate([task.rows[np.asarray(rows, dtype=np.int64)], held_out])
    some = Runs.from_losses(chosen, runs.config_loss(len(grid))[chosen])
    kept = held_out if len(held_out) else None
    try:
        found = [
            answer(grid, used, targets, study=task.study, held_out=kept, prior=task.prior)
            for used in (some, runs)
        ]
    except LawsmithError:
        return None
    return Answers(*found)


def due(n_runs: int, last: int) -> bool:
    """Whether a rule that was looked at after ``last`` runs is to be looked at after ``n_runs``."""
    return n_runs >= max(last + 1, int(GROWTH * last))
