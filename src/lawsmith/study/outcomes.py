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
from collections.abc import Sequence
from dataclasses import dataclass

from lawsmith.journal import Event, Kind, Stage, Trial, make
from lawsmith.runners.base import Ending, Job, Phase, Status
from lawsmith.runners.results import (
    Found,
    Progress,
    Result,
    log_tail,
    read_all_progress,
    read_result,
    trained_by,
)
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
        steps = [Progress(tokens, loss) for tokens, loss in result.reports]
        return [*progress_events(over.trial, steps), *_settled(told, over)], True
    return _settled(_of_ending(spec, over, result), over), False


def _settled(events: list[Event], over: Ended) -> list[Event]:
    """The first of the events ends the attempt."""
    return [with_trained(events[0], over.trial, over.job), *events[1:]]


def progress_events(trial: Trial, steps: Sequence[Progress]) -> list[Event]:
    """What a run told on its way, once each.

    Losses are thinned to about a hundred a run: each a hundredth of D after the last. Checkpoints
    and ends of decays are all kept.
    """
    step = trial.D / 100.0 if trial.D > 0.0 else 0.0
    last = trial.report[0] if trial.report else float("-inf")
    saved, passed = set(trial.saved), {tokens for tokens, _, _ in trial.passed}
    found: list[Event] = []
    for told in steps:
        tokens, loss = told.tokens, told.loss
        if tokens is not None and loss is not None:
            if told.final:
                if tokens not in passed:
                    found.append(make(Kind.PASSED, trial.name, tokens=tokens, loss=loss))
                    passed.add(tokens)
            elif tokens >= last + step * (1 - 1e-9) and tokens > last:
                found.append(make(Kind.REPORTED, trial.name, tokens=tokens, loss=loss))
                last = tokens
        if told.saved is not None and told.saved not in saved:
            found.append(make(Kind.SAVED, trial.name, tokens=told.saved))
            saved.add(told.saved)
    return found


def with_trained(event: Event, trial: Trial, job: Job) -> Event:
    """The event that ends an attempt, with the tokens it trained as far as it told them.

    A finished run trained up to its end, whatever its last line says; where that is all there is to
    say, nothing is added.
    """
    steps = read_all_progress(job.folder)
    finished = event["event"] == Kind.FINISHED
    if finished and trial.D > 0.0:
        steps.append(Progress(tokens=trial.D))
    told = trained_by(steps, trial.begun)
    if told is None or (finished and told == trial.D - trial.begun):
        return event
    return {**event, "trained": told}


def orphaned(trial: Trial, parent: Trial) -> Event:
    """A trial whose parent ended without the checkpoint it was to go on from; nothing is paid.

    Where the trunk diverged, its decay is known to diverge as well.
    """
    detail = f"{parent.name}, its trunk, is {parent.stage.value}"
    if parent.stage is Stage.DIVERGED:
        return make(Kind.DIVERGED, trial.name, loss=None, trained=0.0, detail=detail)
    return make(Kind.CANCELLED, trial.name, trained=0.0, detail=detail)


def _of_result(trial: Trial, result: Result) -> list[Event]:
    match result.found:
        case Found.LOSS:
            more = {"metrics": dict(result.metrics)} if result.metrics else {}
            return [make(Kind.FINISHED, trial.name, loss=result.loss, **more)]
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
