"""Changes by hand: exclude candidates, take results back, retry and cancel trials."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lawsmith.errors import LawsmithError, suggest
from lawsmith.journal import Event, Kind, Ledger, Stage, Trial, make
from lawsmith.runners.base import Runner
from lawsmith.study.history import covered
from lawsmith.study.jobs import job_of
from lawsmith.study.live import LiveStudy
from lawsmith.study.outcomes import events_of, with_trained


def exclude(study: LiveStudy, where: str, *, because: str) -> int:
    """Exclude the candidates for which an expression holds; return how many there are."""
    n = int(np.sum(covered({"where": where}, study.grid)))
    if n == 0:
        got = f"{where!r}, which covers none of {len(study.grid)} candidates"
        raise LawsmithError("--where", got=got, want="some candidates")
    study.journal.update(lambda _: [make(Kind.EXCLUDED, where=where, reason=because)])
    return n


def take_back(study: LiveStudy, names: Sequence[str], *, because: str) -> list[Event]:
    """Quarantine the results of trials: they stay in the journal and are not used."""

    def decide(ledger: Ledger) -> list[Event]:
        events: list[Event] = []
        for trial in _named(ledger, names):
            if trial.open:
                hint = f"lawsmith cancel … {trial.name}"
                raise LawsmithError(trial.name, got="a trial without a result", hint=hint)
            if trial.stage is not Stage.QUARANTINED:
                events.append(make(Kind.QUARANTINED, trial.name, detail=because, by="hand"))
        return events

    return study.journal.update(decide)


def retry_failed(study: LiveStudy) -> list[Event]:
    """Try failed trials once more, except those that ran out of memory.

    A trial that was cancelled because its parent failed waits for the parent again.
    """

    def decide(ledger: Ledger) -> list[Event]:
        found: dict[str, Event] = {}
        values = {"reason": "by hand", "wait": 0.0}
        for trial in ledger.trials.values():
            failed = trial.stage is Stage.FAILED and trial.reason != "out_of_memory"
            orphan = trial.parent in found and trial.stage is Stage.CANCELLED and not trial.started
            if failed or orphan:
                attempt = trial.attempt - orphan
                found[trial.name] = make(Kind.RETRIED, trial.name, attempt=attempt, **values)
        return list(found.values())

    return study.journal.update(decide)


def cancel(study: LiveStudy, runner: Runner | None, names: Sequence[str]) -> list[Event]:
    """Stop trials. The request is recorded first, so a driver completes it if this process dies.

    A run that ended before it could be stopped keeps its result.
    """
    requested = study.journal.update(lambda ledger: _cancellations(ledger, names))
    ledger = study.journal.ledger
    mine = [t for e in requested if (t := ledger.trials[e["trial"]]).by == "run" and t.handle]
    found: list[Event] = [
        make(Kind.CANCELLED, e["trial"])
        for e in requested
        if e["trial"] not in {trial.name for trial in mine}
    ]
    if mine and runner is not None:
        jobs = [job_of(study, ledger, trial) for trial in mine]
        runner.cancel(jobs)
        statuses = runner.poll(jobs)
        for trial, job in zip(mine, jobs, strict=True):
            if statuses[job.name].over:
                events, has_result = events_of(study.spec, trial, job, statuses[job.name])
                cancelled = with_trained(make(Kind.CANCELLED, trial.name), trial, job)
                found += events if has_result else [cancelled]
    return study.journal.update(lambda ledger: [e for e in found if ledger.trials[e["trial"]].open])


def _cancellations(ledger: Ledger, names: Sequence[str]) -> list[Event]:
    trials = _named(ledger, names)
    for trial in trials:
        if not trial.open:
            want = "a trial that is under way"
            raise LawsmithError(trial.name, got=f"one that is {trial.stage.value}", want=want)
    return [make(Kind.CANCELLING, trial.name) for trial in trials]


def _named(ledger: Ledger, names: Sequence[str]) -> list[Trial]:
    for name in names:
        if name not in ledger.trials:
            hint = suggest(name, ledger.trials)
            raise LawsmithError("trial", got=repr(name), want="one on record", hint=hint)
    return [ledger.trials[name] for name in dict.fromkeys(names)]
