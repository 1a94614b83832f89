"""What became of a job: from what Slurm shows of it and from what it left in its folder."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lawsmith.runners.base import Ending, Job, Phase, Status
from lawsmith.runners.exits import code_text
from lawsmith.runners.slurm.client import Seen
from lawsmith.runners.slurm.folder import (
    Exit,
    memory_ran_out,
    read_exit,
    read_intent,
    read_owner,
    was_cancelled,
    why_stopped,
)

# After a preemption or a node failure Slurm itself may queue a job again, under its old id.
QUEUED = {
    "PENDING",
    "CONFIGURING",
    "REQUEUED",
    "REQUEUE_HOLD",
    "REQUEUE_FED",
    "RESV_DEL_HOLD",
    "SPECIAL_EXIT",
}
ENDINGS = {
    "COMPLETED": Ending.COMPLETED,
    "FAILED": Ending.FAILED,
    "OUT_OF_MEMORY": Ending.OUT_OF_MEMORY,
    "TIMEOUT": Ending.TIMEOUT,
    "DEADLINE": Ending.TIMEOUT,
    "PREEMPTED": Ending.PREEMPTED,
    "NODE_FAIL": Ending.NODE_FAILURE,
    "BOOT_FAIL": Ending.NODE_FAILURE,
    "LAUNCH_FAILED": Ending.NODE_FAILURE,
    "RECONFIG_FAIL": Ending.NODE_FAILURE,
    "CANCELLED": Ending.CANCELLED,
    "REVOKED": Ending.CANCELLED,
}


def read_state(text: str) -> tuple[Phase, Ending | None]:
    """Phase and ending of 'RUNNING', 'CANCELLED by 1000', 'CANCELLED+', …

    A state that is not listed (COMPLETING, SUSPENDED, one of a newer Slurm) is of a job that Slurm
    still has in its hands.
    """
    word = text.split()[0].rstrip("+").upper() if text.strip() else ""
    if word in ENDINGS:
        return Phase.ENDED, ENDINGS[word]
    return (Phase.QUEUED if word in QUEUED else Phase.RUNNING), None


Key = tuple[str, int | None]
# Slurm's words for why it stopped a job; any other is a reason that may pass.
_STOPS = {
    "TIME LIMIT": Ending.TIMEOUT,
    "PREEMPTION": Ending.PREEMPTED,
    "NODE FAILURE": Ending.NODE_FAILURE,
    "CANCELLED": Ending.CANCELLED,
}


@dataclass(frozen=True)
class QueueView:
    """Slurm's entries by name and task. Ids are used again after a reset; names are not.

    arrays   the id of every array of which a task is shown, by its name
    """

    entries: Mapping[Key, Sequence[Seen]]
    arrays: Mapping[str, str]


def by_key(entries: Iterable[Seen]) -> QueueView:
    """The entries, put in order."""
    found: dict[Key, list[Seen]] = {}
    arrays: dict[str, str] = {}
    for seen in entries:
        found.setdefault((seen.name, seen.task), []).append(seen)
        if seen.task is not None:
            arrays[seen.name] = seen.id.partition("_")[0]
    return QueueView(found, arrays)


def key_of(job: Job) -> Key:
    """How Slurm knows a job."""
    intent = read_intent(job)
    return (job.name, None) if intent is None else (intent.name, intent.task)


def pick(shown: QueueView, job: Job) -> Seen | None:
    """The entry that tells of the job: of the one that began, else of the one submitted."""
    name, task = key_of(job)
    own = shown.entries.get((name, task), ())
    owner = read_owner(job)
    for wanted in (owner, job.handle):
        exact = [seen for seen in own if seen.id == wanted]
        if exact or (wanted and wanted == owner):
            return exact[-1] if exact else None
    if not own and task is not None and name in shown.arrays:
        # Slurm keeps no record of a task that was cancelled while it waited.
        id_ = f"{shown.arrays[name]}_{task}"
        return Seen(id_, name, "CANCELLED", "taken out of its array")
    return own[-1] if own else None


def left_by(job: Job, seen: Seen) -> Exit | None:
    """What the job of an entry that ended badly left of itself, by this start or an earlier one."""
    left = read_exit(job)
    phase, ending = read_state(seen.state)
    same_job = left is not None and left.id == seen.id and phase is Phase.ENDED
    return left if same_job and ending is not Ending.COMPLETED else None


def status_of(job: Job, seen: Seen, *, restarts: int = 0) -> Status:
    """What an entry of Slurm's says; ``restarts`` is how often Slurm started the job again."""
    phase, ending = read_state(seen.state)
    left = read_exit(job)
    if left is not None and left.start < restarts and ending is Ending.FAILED:
        # What is there was left by the start before; Slurm refused the last one.
        detail = f"Slurm job {seen.id}: {seen.state}; its start number {restarts + 1} never began"
        return Status(phase, Ending.NODE_FAILURE, detail, seen.exit_code)
    code = left.code if left is not None and left.id == seen.id else seen.exit_code
    if ending is Ending.FAILED and memory_ran_out(read_intent(job)):
        ending = Ending.OUT_OF_MEMORY
    detail = f"Slurm job {seen.id}: {seen.state}"
    if seen.reason and seen.reason != "NonZeroExitCode":
        detail += f", {seen.reason}"
    if ending is Ending.FAILED and code:
        detail += f", {code_text(code)}"
    return Status(phase, ending, detail, code if phase is Phase.ENDED else None)


def status_alone(job: Job) -> Status:
    """What the folder says, of a job that Slurm does not know or no longer knows."""
    left, owner = read_exit(job), read_owner(job)
    if left is not None:
        return _of_exit(job, left)
    if owner:
        # Killed without a word, and too long ago for Slurm to say why: its own output may.
        if why := why_stopped(read_intent(job)):
            return _stopped(job, owner, why, None)
        ending = Ending.OUT_OF_MEMORY if memory_ran_out(read_intent(job)) else Ending.FAILED
        detail = f"Slurm job {owner} began; how it ended is on no record"
        return Status(Phase.ENDED, ending, detail)
    if was_cancelled(job):
        return Status(Phase.ENDED, Ending.CANCELLED, "cancelled before it began")
    return Status(Phase.LOST, detail=f"Slurm knows no job {job.handle or job.name}")


def status_unknown(job: Job, why: str) -> Status:
    """A job that cannot be asked about now: it goes on as it was."""
    phase = Phase.RUNNING if read_owner(job) else Phase.QUEUED
    return Status(phase, detail=f"Slurm does not answer: {why}")


def _of_exit(job: Job, left: Exit) -> Status:
    detail = f"Slurm job {left.id}: {code_text(left.code)}"
    if left.code == 0:
        return Status(Phase.ENDED, Ending.COMPLETED, detail, 0)
    why = why_stopped(read_intent(job))
    if left.signal == "TERM" or (why and left.code == 128 + signal.SIGTERM):
        return _stopped(job, left.id, why, left.code)
    ending = Ending.OUT_OF_MEMORY if memory_ran_out(read_intent(job)) else Ending.FAILED
    return Status(Phase.ENDED, ending, detail, left.code)


def _stopped(job: Job, id_: str, why: str, code: int | None) -> Status:
    """A run that was told to stop: ours or another scancel, a time limit, a preemption.

    Without accounting Slurm forgets which; its output in the run's folder remembers. If that says
    nothing either, the run is tried again rather than given up.
    """
    if was_cancelled(job):
        return Status(Phase.ENDED, Ending.CANCELLED, f"Slurm job {id_} was cancelled", code)
    ending = _STOPS.get(why, Ending.NODE_FAILURE)
    text = f"stopped by Slurm: {why.lower()}" if why else "stopped; why is unknown, tried again"
    return Status(Phase.ENDED, ending, f"Slurm job {id_} was {text}", code)
