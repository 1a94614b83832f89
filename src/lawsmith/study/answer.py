"""What the study knows by now: the law of its mixed grid, with intervals at the targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawsmith.errors import LawsmithError
from lawsmith.journal import Ledger
from lawsmith.outlook import DRAWS, Outlook, outlook
from lawsmith.runs import Runs, State
from lawsmith.stopping import StopRule, parse_rule, settled
from lawsmith.study.live import LiveStudy
from lawsmith.study.schedule import live_surrogate
from lawsmith.threads import one_thread


@dataclass(frozen=True, eq=False)
class Answer:
    """An outlook, or why there is none yet.

    n_runs  finished runs it rests on
    """

    n_runs: int
    outlook: Outlook | None
    why_not: str = ""


def answer(study: LiveStudy, ledger: Ledger, n_draws: int = DRAWS) -> Answer:
    """The answer after the runs of a ledger."""
    history = study.history(ledger)
    pool, runs = study.pool(history.pool), history.pool_runs
    n_done = len(runs.of(State.DONE))
    enough = study.law.n_params + 1
    if n_done < enough:
        return Answer(n_done, None, f"{n_done} finished runs, {study.law.name} needs {enough}")
    surrogate = study.surrogate or live_surrogate("trend", seed=study.spec.seed)
    assert surrogate is not None
    finished = _finished(runs)
    try:
        with one_thread():
            found = outlook(
                pool,
                finished,
                surrogate.fit(pool, finished),
                study.law,
                targets_of(study),
                seed=study.spec.seed,
                level=study.spec.law.level,
                n_draws=n_draws,
            )
    except LawsmithError as error:
        return Answer(n_done, None, str(error))
    return Answer(n_done, found)


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
    return settled(rule, lambda n_draws: answer(study, ledger, n_draws).outlook)


def _finished(runs: Runs) -> Runs:
    """Without pending runs: what was only asked for must not narrow an interval."""
    kept = runs.state != State.PENDING.value
    return Runs(runs.index[kept], runs.loss[kept], np.asarray(runs.state[kept]))
