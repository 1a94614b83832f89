"""The events that the end of a job leads to: all rules for results, failures and retries.

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
from typing import Any

from lawsmith.journal import Event, Kind, Stage, Trial, make
from lawsmith.runners.base import Ending, Job, Phase, Status
from lawsmith.runners.results import (
    LOG,
    Progress,
    Result,
    ResultKind,
    log_tail,
    read_all_progress,
    read_result,
    tokens_trained,
)
from lawsmith.spec import StudySpec

MAX_ATTEMPTS = 100  # of a trial that is preempted again and again
LONGEST_WAIT = 3600.0  # seconds before another attempt: a queue may be full for long
# The reason on record where there is no result; None is a job that was lost.
_REASONS = {
    None: "lost",
    Ending.PREEMPTED: "preempted",
    Ending.NODE_FAILURE: "node_failure",
    Ending.OUT_OF_MEMORY: "out_of_memory",
    Ending.TIMEOUT: "timeout",
    Ending.FAILED: "crash",
    Ending.COMPLETED: "no_result",
}
# Seconds that a finished job's files may take to be seen from here: on this machine none, on a
# shared disk as long as NFS keeps what it knows of a folder.
_PATIENCE = {"local": 0.0, "replay": 0.0}
PATIENCE = 60.0


def patience(spec: StudySpec) -> float:
    """Seconds that a result may take to appear after the end of its job: shared disks are slow."""
    return _PATIENCE.get(spec.runner.kind, PATIENCE)


def events_of(spec: StudySpec, trial: Trial, job: Job, status: Status) -> tuple[list[Event], bool]:
    """(the events of a job that is over, whether a result was there)."""
    completed = status.ending is Ending.COMPLETED
    config = {**trial.config, "trial": trial.name}
    result = read_result(job.folder, spec.results, config, completed=completed)
    of_run = of_result(result)
    kind, values = of_run or _of_ending(spec, trial, job, status, result.detail)
    found = progress_events(trial, [Progress(*report) for report in result.reports])
    found.append(with_trained(make(kind, trial.name, **values), trial, job))
    if values.get("reason") == "out_of_memory":
        found.append(_exclusion(spec, trial))
    return found, of_run is not None


def progress_events(trial: Trial, steps: Sequence[Progress]) -> list[Event]:
    """New events of a run's progress lines.

    Losses are thinned to about a hundred a run: each a hundredth of D after the last. Checkpoints
    and ends of decays are all kept.
    """
    step = trial.D / 100.0 if trial.D > 0.0 else 0.0
    last = trial.report[0] if trial.report else float("-inf")
    saved, passed = set(trial.saved), {tokens for tokens, _, _ in trial.passed}
    found: list[Event] = []
    for line in steps:
        tokens, loss = line.tokens, line.loss
        if tokens is not None and loss is not None:
            if line.final:
                if tokens not in passed:
                    found.append(make(Kind.PASSED, trial.name, tokens=tokens, loss=loss))
                    passed.add(tokens)
            elif tokens >= last + step * (1 - 1e-9) and tokens > last:
                found.append(make(Kind.REPORTED, trial.name, tokens=tokens, loss=loss))
                last = tokens
        if line.saved is not None and line.saved not in saved:
            found.append(make(Kind.SAVED, trial.name, tokens=line.saved))
            saved.add(line.saved)
    return found


def with_trained(event: Event, trial: Trial, job: Job) -> Event:
    """The event that ends an attempt, with the tokens it trained if its progress lines show them.

    A finished run trained up to its end, whatever its last line says. Nothing is added if that is
    what its D says already.
    """
    steps = read_all_progress(job.folder)
    finished = event["event"] == Kind.FINISHED
    if finished and trial.D > 0.0:
        steps.append(Progress(tokens=trial.D))
    trained = tokens_trained(steps, trial.begun)
    if trained is None or (finished and trained == trial.D - trial.begun):
        return event
    return {**event, "trained": trained}


def orphaned(trial: Trial, parent: Trial) -> Event:
    """A trial whose parent ended without the checkpoint it was to go on from; nothing is paid.

    Where the trunk diverged, its decay is known to diverge as well.
    """
    detail = f"{parent.name}, its trunk, is {parent.stage.value}"
    if parent.stage is Stage.DIVERGED:
        return make(Kind.DIVERGED, trial.name, loss=None, trained=0.0, detail=detail)
    return make(Kind.CANCELLED, trial.name, trained=0.0, detail=detail)


def of_result(result: Result) -> tuple[Kind, dict[str, Any]] | None:
    """The event kind and values of a result; None without one."""
    match result.kind:
        case ResultKind.LOSS:
            more = {"metrics": dict(result.metrics)} if result.metrics else {}
            return Kind.FINISHED, {"loss": result.loss, **more}
        case ResultKind.DIVERGED:
            return Kind.DIVERGED, {"loss": result.loss}
        case ResultKind.CONTRADICTION:
            return Kind.QUARANTINED, {"detail": result.detail}
    return None


def _of_ending(
    spec: StudySpec, trial: Trial, job: Job, status: Status, detail: str
) -> tuple[Kind, dict[str, Any]]:
    """The event kind and values of a job that left no result; ``detail`` says why."""
    ending = None if status.phase is Phase.LOST else status.ending or Ending.FAILED
    if ending is Ending.CANCELLED:
        return Kind.CANCELLED, {"detail": status.detail}
    reason, may_crash = _REASONS[ending], trial.crashes < spec.failures.retries
    if ending is Ending.FAILED and _ran_out(spec, job):
        reason = "out_of_memory"
    match reason:
        case "lost" | "preempted" | "node_failure":
            again = trial.attempt < MAX_ATTEMPTS
        case "out_of_memory":
            again = False
        case "timeout":
            again = may_crash and spec.failures.on_timeout == "retry"
        case _:
            again = may_crash
    detail = detail or status.detail
    if reason == "no_result":
        detail = detail or "it ended well and left no result"
    values = {"attempt": trial.attempt, "reason": reason, "detail": detail[:500]}
    if again:
        wait = spec.failures.backoff * 2.0 ** (trial.attempt - 1)
        return Kind.RETRIED, {**values, "wait": min(wait, LONGEST_WAIT)}
    log = {"log": str(job.folder / LOG), "tail": log_tail(job.folder)}
    return Kind.FAILED, {**values, **log}


def _exclusion(spec: StudySpec, trial: Trial) -> Event:
    """Exclude the memory class: candidates that share these values would not fit either."""
    keys = spec.failures.memory_class or [key for key in trial.config if key != "D"]
    match = {key: trial.config[key] for key in keys if key in trial.config}
    return make(Kind.EXCLUDED, trial.name, match=match, reason="out_of_memory")


def _ran_out(spec: StudySpec, job: Job) -> bool:
    return bool(re.search(spec.failures.out_of_memory, log_tail(job.folder, 50)))
