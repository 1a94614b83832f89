"""What became of a job: from what Slurm shows of it and from what it left in its folder.

The Slurm runner keeps in a run's folder, under `slurm/`:
job.sh     the user's template for this run
batch.sh   what was given to sbatch, for one run or for the array it is part of
intent     JSON, before sbatch is called: the Slurm name, the task in its array, Slurm's own output
owner      the id of the job that began, see `script`
exit       id, exit code, signal and start of the run, see `script`
cancel     there once the run was cancelled
"""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lawsmith.files import read_bytes, read_tail, write_file
from lawsmith.runners.base import Ending, Job, Phase, Status
from lawsmith.runners.folder import (
    exit_code_text,
    has_mark,
    make_runner_folder,
    read_json_object,
    runner_folder,
)
from lawsmith.runners.slurm.client import JobEntry

MAX_BYTES = 2**16  # of the batch script's own files, which have a line each
_ID = re.compile(r"\d+(_\d+)?")
# What Slurm prints when it, or the kernel on its behalf, ends a job for its memory.
_MEMORY = re.compile(rb"(?i)oom[-_ ]kill|out[- ]of[- ]memory|exceeded (job |step )?memory limit")
# "*** JOB 12 ON node CANCELLED AT 2026-01-01T00:00:00 DUE TO PREEMPTION ***"
_STOPPED = re.compile(rb"\*\*\* (?:JOB|STEP) .* CANCELLED AT \S+(?: DUE TO ([A-Za-z ]*))? ?\*\*\*")
# After a preemption or a node failure Slurm itself may queue a job again, under its old id.
_QUEUED = "PENDING CONFIGURING REQUEUED REQUEUE_HOLD REQUEUE_FED RESV_DEL_HOLD SPECIAL_EXIT"
_STATES = {
    Ending.COMPLETED: "COMPLETED",
    Ending.FAILED: "FAILED",
    Ending.OUT_OF_MEMORY: "OUT_OF_MEMORY",
    Ending.TIMEOUT: "TIMEOUT DEADLINE",
    Ending.PREEMPTED: "PREEMPTED",
    Ending.NODE_FAILURE: "NODE_FAIL BOOT_FAIL LAUNCH_FAILED RECONFIG_FAIL",
    Ending.CANCELLED: "CANCELLED REVOKED",
}
_ENDINGS = {word: ending for ending, words in _STATES.items() for word in words.split()}


@dataclass(frozen=True)
class Intent:
    """How a job is known to Slurm. ``task`` is None unless it is part of an array."""

    name: str
    task: int | None = None
    output: str = ""


@dataclass(frozen=True)
class Exit:
    """How a run ended. ``signal`` reached the batch shell; 'no' if none did.

    start   how often Slurm had started the job again by then
    """

    id: str
    code: int
    signal: str
    start: int = 0


def write_intent(job: Job, intent: Intent, script: str) -> None:
    """On record, and on disk, before anything is submitted."""
    folder = make_runner_folder(job, "slurm")
    write_file(folder / "job.sh", script)
    write_file(folder / "intent", json.dumps(intent.__dict__) + "\n")


def read_intent(job: Job) -> Intent | None:
    """What was about to be submitted, perhaps by a driver that died; None if nothing was."""
    values = read_json_object(runner_folder(job, "slurm") / "intent") or {}
    try:
        task = None if values["task"] is None else int(values["task"])
        return Intent(str(values["name"]), task, str(values["output"]))
    except (ValueError, KeyError, TypeError, OverflowError):
        return None


def read_owner(job: Job) -> str:
    """The id of the job that began; '' before any did."""
    words = _words(job, "owner")
    return words[0] if len(words) == 1 and _ID.fullmatch(words[0]) else ""


def read_exit(job: Job) -> Exit | None:
    """How the run ended, if its batch script lived to write it."""
    try:
        id_, code, name, *start = _words(job, "exit")
        return Exit(id_, int(code), name, int(start[0]) if start else 0)
    except ValueError:
        return None


def _words(job: Job, name: str) -> list[str]:
    """The words of one of the batch script's files; none where it is not there."""
    try:
        path = runner_folder(job, "slurm") / name
        return read_bytes(path, limit=MAX_BYTES).decode("ascii").split()
    except (OSError, UnicodeDecodeError):
        return []


def _said(job: Job) -> bytes:
    """The last that Slurm itself said in the job's output."""
    intent = read_intent(job)
    try:
        return read_tail(intent.output if intent else "", limit=4096)
    except OSError:
        return b""


def _why_stopped(job: Job) -> str:
    """Why Slurm stopped the job, by its own output: 'TIME LIMIT', 'PREEMPTION', …

    'CANCELLED' where somebody did and Slurm says no more; '' where it says nothing.
    """
    found = _STOPPED.findall(_said(job))
    return (found[-1].decode("ascii", "replace").strip().upper() or "CANCELLED") if found else ""


def _failure(job: Job) -> Ending:
    """Some clusters call a job merely failed that had no memory left; its output tells."""
    return Ending.OUT_OF_MEMORY if _MEMORY.search(_said(job)) else Ending.FAILED


def parse_state(text: str) -> tuple[Phase, Ending | None]:
    """Phase and ending of 'RUNNING', 'CANCELLED by 1000', 'CANCELLED+', …

    A state that is not listed (COMPLETING, SUSPENDED, one of a newer Slurm) is of a job that Slurm
    still has in its hands.
    """
    word = text.split()[0].rstrip("+").upper() if text.strip() else ""
    if word in _ENDINGS:
        return Phase.ENDED, _ENDINGS[word]
    return (Phase.QUEUED if word in _QUEUED.split() else Phase.RUNNING), None


# Slurm's entries by name and task. Ids are used again after a reset; names are not.
Shown = Mapping[tuple[str, int | None], Sequence[JobEntry]]
# Slurm's words for why it stopped a job; any other is a reason that may pass.
_STOPS = {
    "TIME LIMIT": Ending.TIMEOUT,
    "PREEMPTION": Ending.PREEMPTED,
    "NODE FAILURE": Ending.NODE_FAILURE,
    "CANCELLED": Ending.CANCELLED,
}


def entries_by_name(entries: Iterable[JobEntry]) -> Shown:
    """The entries, put in order."""
    found: dict[tuple[str, int | None], list[JobEntry]] = {}
    for seen in entries:
        found.setdefault((seen.name, seen.task), []).append(seen)
    return found


def entries_of(shown: Shown, job: Job) -> Sequence[JobEntry]:
    """All entries that may be the job's."""
    intent = read_intent(job) or Intent(job.name)
    return shown.get((intent.name, intent.task), ())


def entry_of(shown: Shown, job: Job) -> JobEntry | None:
    """The entry that tells of the job: of the one that began, else of the one submitted."""
    own, owner = entries_of(shown, job), read_owner(job)
    for wanted in (owner, job.handle):
        exact = [seen for seen in own if seen.id == wanted]
        if exact or (wanted and wanted == owner):
            return exact[-1] if exact else None
    return own[-1] if own else _taken_out(shown, job)


def _taken_out(shown: Shown, job: Job) -> JobEntry | None:
    """A task that is missing where others of its array are shown.

    Slurm keeps no record of a task that was cancelled while it waited.
    """
    intent = read_intent(job)
    if intent is None or intent.task is None:
        return None
    for (name, task), entries in shown.items():
        if name == intent.name and task is not None:
            id_ = f"{entries[-1].id.partition('_')[0]}_{intent.task}"
            return JobEntry(id_, name, "CANCELLED", "taken out of its array")
    return None


def ended_badly(job: Job, seen: JobEntry) -> bool:
    """Whether an entry is of a job that left an exit code, of this start or an earlier one."""
    left, (phase, ending) = read_exit(job), parse_state(seen.state)
    ours = left is not None and left.id == seen.id
    return ours and phase is Phase.ENDED and ending is not Ending.COMPLETED


def status_of(job: Job, seen: JobEntry, *, restarts: int = 0) -> Status:
    """What an entry of Slurm's says; ``restarts`` is how often Slurm started the job again."""
    phase, ending = parse_state(seen.state)
    left = read_exit(job)
    if left is not None and left.start < restarts and ending is Ending.FAILED:
        # What is there was left by the start before; Slurm refused the last one.
        detail = f"Slurm job {seen.id}: {seen.state}; its start number {restarts + 1} never began"
        return Status(phase, Ending.NODE_FAILURE, detail, seen.exit_code)
    code = left.code if left is not None and left.id == seen.id else seen.exit_code
    ending = _failure(job) if ending is Ending.FAILED else ending
    detail = f"Slurm job {seen.id}: {seen.state}"
    if seen.reason and seen.reason != "NonZeroExitCode":
        detail += f", {seen.reason}"
    if ending is Ending.FAILED and code:
        detail += f", {exit_code_text(code)}"
    return Status(phase, ending, detail, code if phase is Phase.ENDED else None)


def status_from_folder(job: Job) -> Status:
    """What the folder says, of a job that Slurm does not know or no longer knows."""
    left, owner = read_exit(job), read_owner(job)
    if left is not None:
        return _of_exit(job, left)
    if owner:
        # Killed, and too long ago for Slurm to say why: its own output may.
        if why := _why_stopped(job):
            return _stopped(job, owner, why, None)
        detail = f"Slurm job {owner} began; there is no record of how it ended"
        return Status(Phase.ENDED, _failure(job), detail)
    if has_mark(job, "slurm", "cancel"):
        return Status(Phase.ENDED, Ending.CANCELLED, "cancelled before it began")
    return Status(Phase.LOST, detail=f"Slurm knows no job {job.handle or job.name}")


def status_unknown(job: Job, why: str) -> Status:
    """A job that cannot be asked about now: it goes on as it was."""
    phase = Phase.RUNNING if read_owner(job) else Phase.QUEUED
    return Status(phase, detail=f"Slurm does not answer: {why}")


def _of_exit(job: Job, left: Exit) -> Status:
    detail = f"Slurm job {left.id}: {exit_code_text(left.code)}"
    if left.code == 0:
        return Status(Phase.ENDED, Ending.COMPLETED, detail, 0)
    why = _why_stopped(job)
    if left.signal == "TERM" or (why and left.code == 128 + signal.SIGTERM):
        return _stopped(job, left.id, why, left.code)
    return Status(Phase.ENDED, _failure(job), detail, left.code)


def _stopped(job: Job, id_: str, why: str, code: int | None) -> Status:
    """A run that was stopped: ours or another scancel, a time limit, a preemption.

    Without accounting Slurm forgets which; its output in the run's folder remembers. If that says
    nothing either, the run is tried again rather than given up.
    """
    if has_mark(job, "slurm", "cancel"):
        return Status(Phase.ENDED, Ending.CANCELLED, f"Slurm job {id_} was cancelled", code)
    ending = _STOPS.get(why, Ending.NODE_FAILURE)
    text = f"stopped by Slurm: {why.lower()}" if why else "stopped; why is unknown, tried again"
    return Status(Phase.ENDED, ending, f"Slurm job {id_} was {text}", code)
