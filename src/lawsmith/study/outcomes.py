"""What became of a job, as events: the rules for results, failures and retries in one place.

a result in place            finished, diverged, or quarantined if it contradicts its config
out of memory                failed, and its memory class excluded
preempted, node failure, lost   tried again after a wait that doubles
a crash, or no result        tried again ``retries`` times, then failed
time limit                   failed, or tried again where the study file says so
cancelled                    cancelled
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lawsmith.journal import Event, Kind, Trial, make
from lawsmith.runners.base import Ending, Job, Phase, Status
from lawsmith.runners.results import Found, Result, log_tail, read_result
from lawsmith.spec import StudySpec

MAX_ATTEMPTS = 100  # of a trial that is preempted again and again
LONGEST_WAIT = 3600.0
_PASSING = {Ending.PREEMPTED: "preempted", Ending.NODE_FAILURE: "node_failure"}
# How long a finished job's files may take to be seen from here.
_PATIENCE = {"local": 0.0, "replay": 0.0}
PATIENCE = 60.0


@dataclass(frozen=True)
class Ended:
    """A job that ended, and how; ``ending`` is None for one that was lost."""

    trial: Trial
    job: Job
    ending: Ending | None
    detail: str


def ended(trial: Trial, job: Job, status: Status) -> Ended | None:
    """The job, if it is over."""
    if status.phase is Phase.LOST:
        return Ended(trial, job, None, status.detail)
    if status.phase is Phase.ENDED:
        return Ended(trial, job, status.ending or Ending.FAILED, status.detail)
    return None


def patience(spec: StudySpec) -> float:
    """Seconds that a result may take to appear after the end of its job: shared disks are slow."""
    return _PATIENCE.get(spec.runner.kind, PATIENCE)


def events_of(spec: StudySpec, over: Ended) -> tuple[list[Event], bool]:
    """(the events, whether a result was there)."""
    completed = over.ending is Ending.COMPLETED
    config = {**over.trial.config, "trial": over.trial.name}
    result = read_result(over.job.folder, spec.results, config, completed=completed)
    told = _of_result(over.trial, result)
    if told:
        return [*reports_of(over.trial, result.reports), *told], True
    return _of_ending(spec, over, result), False


def reports_of(trial: Trial, reports: tuple[tuple[float, float], ...]) -> list[Event]:
    """Losses on the way, thinned to about a hundred a run: each a hundredth of D after the last."""
    D = trial.config.get("D")
    step = D / 100.0 if isinstance(D, int | float) else 0.0
    last = trial.report[0] if trial.report else float("-inf")
    found: list[Event] = []
    for tokens, loss in reports:
        if tokens >= last + step * (1 - 1e-9) and tokens > last:
            found.append(make(Kind.REPORTED, trial.name, tokens=tokens, loss=loss))
            last = tokens
    return found


def _of_result(trial: Trial, result: Result) -> list[Event]:
    match result.found:
        case Found.LOSS:
            return [make(Kind.FINISHED, trial.name, loss=result.loss)]
        case Found.DIVERGED:
            return [make(Kind.DIVERGED, trial.name, loss=result.loss)]
        case Found.CONTRADICTION:
            return [make(Kind.QUARANTINED, trial.name, detail=result.detail)]
    return []


def _of_ending(spec: StudySpec, over: Ended, result: Result) -> list[Event]:
    trial, ending = over.trial, over.ending
    detail = result.detail or over.detail
    if ending is Ending.CANCELLED:
        return [make(Kind.CANCELLED, trial.name, detail=over.detail)]
    if ending is None or ending in _PASSING:
        reason = "lost" if ending is None else _PASSING[ending]
        limit = trial.attempt < MAX_ATTEMPTS
        return [_again(spec, trial, reason, detail) if limit else _failed(over, reason, detail)]
    if ending is Ending.OUT_OF_MEMORY or _ran_out(spec, over):
        return [_failed(over, "out_of_memory", detail), _exclusion(spec, trial)]
    if ending is Ending.TIMEOUT:
        again = spec.failures.on_timeout == "retry"
        reason = "timeout"
    else:
        again = True
        reason = "crash" if ending is Ending.FAILED else "no_result"
        detail = detail or "it ended well and left no result"
    if again and trial.crashes < spec.failures.retries:
        return [_again(spec, trial, reason, detail)]
    return [_failed(over, reason, detail)]


def _again(spec: StudySpec, trial: Trial, reason: str, detail: str) -> Event:
    wait = min(spec.failures.backoff * 2.0 ** (trial.attempt - 1), LONGEST_WAIT)
    told = {"reason": reason, "detail": detail[:500], "wait": wait}
    return make(Kind.RETRIED, trial.name, attempt=trial.attempt, **told)


def _failed(over: Ended, reason: str, detail: str) -> Event:
    tail = log_tail(over.job.folder)
    told = {"reason": reason, "detail": detail[:500], "log": str(over.job.folder / "log.txt")}
    return make(Kind.FAILED, over.trial.name, attempt=over.trial.attempt, **told, tail=tail)


def _exclusion(spec: StudySpec, trial: Trial) -> Event:
    """The memory class of a configuration: what shares these values would not fit either."""
    keys = spec.failures.memory_class or [key for key in trial.config if key != "D"]
    match = {key: trial.config[key] for key in keys if key in trial.config}
    return make(Kind.EXCLUDED, trial.name, match=match, reason="out_of_memory")


def _ran_out(spec: StudySpec, over: Ended) -> bool:
    if over.ending is not Ending.FAILED:
        return False
    return bool(re.search(spec.failures.out_of_memory, log_tail(over.job.folder, 50)))
