"""The status of a job, from what Slurm shows of it and from what it left in its folder.

The Slurm runner keeps these files in `slurm/` of a run's folder:
job.sh     the user's template for this run
batch.sh   the script for sbatch, of one run or of the array that the run is part of
intent     JSON, written before sbatch is called: Slurm's name, task in the array, output file
owner      the id of the job that began the run, see `script`
exit       id, exit code, signal and number of restarts of the run, see `script`
cancel     exists once the run was cancelled
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

MAX_BYTES = 2**16  # of files of the batch script, which have one line each
_ID = re.compile(r"\d+(_\d+)?")
# Printed when Slurm or the kernel ends a job that uses too much memory.
_MEMORY = re.compile(rb"(?i)oom[-_ ]kill|out[- ]of[- ]memory|exceeded (job |step )?memory limit")
# "*** JOB 12 ON node CANCELLED AT 2026-01-01T00:00:00 DUE TO PREEMPTION ***"
_STOPPED = re.compile(rb"\*\*\* (?:JOB|STEP) .* CANCELLED AT \S+(?: DUE TO ([A-Za-z ]*))? ?\*\*\*")
# After a preemption or a node failure Slurm may requeue a job under its old id.
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
    """How Slurm knows a job; ``task`` is its index in an array, ``output`` its output file."""

    name: str
    task: int | None = None
    output: str = ""


@dataclass(frozen=True)
class Exit:
    """How a run ended. ``signal`` reached the batch shell; 'no' if none did.

    restarts   how often Slurm had restarted the job by then
    """

    id: str
    code: int
    signal: str
    restarts: int = 0


def write_intent(job: Job, intent: Intent, script: str) -> None:
    """Write what is about to be submitted, before it is."""
    folder = make_runner_folder(job, "slurm")
    write_file(folder / "job.sh", script)
    write_file(folder / "intent", json.dumps(intent.__dict__) + "\n")


def read_intent(job: Job) -> Intent | None:
    """What was about to be submitted, perhaps by a driver that died; None if nothing."""
    values = read_json_object(runner_folder(job, "slurm") / "intent") or {}
    try:
        task = None if values["task"] is None else int(values["task"])
        return Intent(str(values["name"]), task, str(values["output"]))
    except (ValueError, KeyError, TypeError, OverflowError):
        return None


def read_owner(job: Job) -> str:
    """The id of the job that began the run; '' before one did."""
    words = _words(job, "owner")
    return words[0] if len(words) == 1 and _ID.fullmatch(words[0]) else ""


def read_exit(job: Job) -> Exit | None:
    """How the run ended, if its batch script lived long enough to write it."""
    try:
        id_, code, name, *restarts = _words(job, "exit")
        return Exit(id_, int(code), name, int(restarts[0]) if restarts else 0)
    except ValueError:
        return None


def _words(job: Job, name: str) -> list[str]:
    """The words of one of the batch script's files; none if it does not exist."""
    try:
        path = runner_folder(job, "slurm") / name
        return read_bytes(path, limit=MAX_BYTES).decode("ascii").split()
    except (OSError, UnicodeDecodeError):
        return []


def _output_tail(job: Job) -> bytes:
    """The end of the job's output, where Slurm writes its own messages."""
    intent = read_intent(job)
    try:
        return read_tail(intent.output if intent else "", limit=4096)
    except OSError:
        return b""


def _why_stopped(job: Job) -> str:
    """Why Slurm stopped the job, by its output: 'TIME LIMIT', 'PREEMPTION', …

    'CANCELLED' if the output gives no reason; '' if it does not tell that the job was stopped.
    """
    reasons = _STOPPED.findall(_output_tail(job))
    if not reasons:
        return ""
    return reasons[-1].decode("ascii", "replace").strip().upper() or "CANCELLED"


def _failure(job: Job) -> Ending:
    """FAILED, or OUT_OF_MEMORY by the job's output: some clusters report both as FAILED."""
    return Ending.OUT_OF_MEMORY if _MEMORY.search(_output_tail(job)) else Ending.FAILED


def parse_state(text: str) -> tuple[Phase, Ending | None]:
    """Phase and ending of 'RUNNING', 'CANCELLED by 1000', 'CANCELLED+', …

    A job in any other state (COMPLETING, SUSPENDED, a state of a newer Slurm) counts as running.
    """
    word = text.split()[0].rstrip("+").upper() if text.strip() else ""
    if word in _ENDINGS:
        return Phase.ENDED, _ENDINGS[word]
    return (Phase.QUEUED if word in _QUEUED.split() else Phase.RUNNING), None


# Slurm's entries by name and task. Slurm uses ids again after a reset; names stay unique.
Entries = Mapping[tuple[str, int | None], Sequence[JobEntry]]
# Slurm's reasons for stopping a job; after any other, the run is tried again.
_STOPS = {
    "TIME LIMIT": Ending.TIMEOUT,
    "PREEMPTION": Ending.PREEMPTED,
    "NODE FAILURE": Ending.NODE_FAILURE,
    "CANCELLED": Ending.CANCELLED,
}


def entries_by_name(entries: Iterable[JobEntry]) -> Entries:
    """The entries by name and task."""
    named: dict[tuple[str, int | None], list[JobEntry]] = {}
    for entry in entries:
        named.setdefault((entry.name, entry.task), []).append(entry)
    return named


def entries_of(entries: Entries, job: Job) -> Sequence[JobEntry]:
    """All entries that may be the job's."""
    intent = read_intent(job) or Intent(job.name)
    return entries.get((intent.name, intent.task), ())


def entry_of(entries: Entries, job: Job) -> JobEntry | None:
    """The job's entry: of the Slurm job that began the run, else of the one submitted last."""
    own, owner = entries_of(entries, job), read_owner(job)
    for wanted in (owner, job.handle):
        exact = [entry for entry in own if entry.id == wanted]
        if exact or (wanted and wanted == owner):
            return exact[-1] if exact else None
    return own[-1] if own else _cancelled_task(entries, job)


def _cancelled_task(entries: Entries, job: Job) -> JobEntry | None:
    """An entry for a task that is missing while others of its array are shown.

    Slurm keeps no record of a task that was cancelled while it waited.
    """
    intent = read_intent(job)
    if intent is None or intent.task is None:
        return None
    for (name, task), others in entries.items():
        if name == intent.name and task is not None:
            id_ = f"{others[-1].id.partition('_')[0]}_{intent.task}"
            return JobEntry(id_, name, "CANCELLED", "taken out of its array")
    return None


def ended_badly(job: Job, entry: JobEntry) -> bool:
    """Whether the job did not complete but left an exit code, perhaps of an earlier start."""
    left, (phase, ending) = read_exit(job), parse_state(entry.state)
    ours = left is not None and left.id == entry.id
    return ours and phase is Phase.ENDED and ending is not Ending.COMPLETED


def status_of(job: Job, entry: JobEntry, *, restarts: int = 0) -> Status:
    """The status by Slurm's entry; ``restarts`` is how often Slurm restarted the job."""
    phase, ending = parse_state(entry.state)
    left = read_exit(job)
    if left is not None and left.restarts < restarts and ending is Ending.FAILED:
        # The exit code is of an earlier start; the last start never ran.
        detail = f"Slurm job {entry.id}: {entry.state}; its start number {restarts + 1} never began"
        return Status(phase, Ending.NODE_FAILURE, detail, entry.exit_code)
    code = left.code if left is not None and left.id == entry.id else entry.exit_code
    ending = _failure(job) if ending is Ending.FAILED else ending
    detail = f"Slurm job {entry.id}: {entry.state}"
    if entry.reason and entry.reason != "NonZeroExitCode":
        detail += f", {entry.reason}"
    if ending is Ending.FAILED and code:
        detail += f", {exit_code_text(code)}"
    return Status(phase, ending, detail, code if phase is Phase.ENDED else None)


def status_from_folder(job: Job) -> Status:
    """The status by the run's folder, of a job that Slurm does not know (any more)."""
    left, owner = read_exit(job), read_owner(job)
    if left is not None:
        return _status_of_exit(job, left)
    if owner:
        # Killed, and so long ago that only the job's output may tell why.
        if why := _why_stopped(job):
            return _stopped(job, owner, why, None)
        detail = f"Slurm job {owner} began; there is no record of how it ended"
        return Status(Phase.ENDED, _failure(job), detail)
    if has_mark(job, "slurm", "cancel"):
        return Status(Phase.ENDED, Ending.CANCELLED, "cancelled before it began")
    return Status(Phase.LOST, detail=f"Slurm knows no job {job.handle or job.name}")


def status_unknown(job: Job, why: str) -> Status:
    """The status while Slurm does not answer: running if the run began, else queued."""
    phase = Phase.RUNNING if read_owner(job) else Phase.QUEUED
    return Status(phase, detail=f"Slurm does not answer: {why}")


def _status_of_exit(job: Job, left: Exit) -> Status:
    detail = f"Slurm job {left.id}: {exit_code_text(left.code)}"
    if left.code == 0:
        return Status(Phase.ENDED, Ending.COMPLETED, detail, 0)
    why = _why_stopped(job)
    if left.signal == "TERM" or (why and left.code == 128 + signal.SIGTERM):
        return _stopped(job, left.id, why, left.code)
    return Status(Phase.ENDED, _failure(job), detail, left.code)


def _stopped(job: Job, id_: str, why: str, code: int | None) -> Status:
    """The status of a run that was stopped: cancelled, at its time limit, preempted, …

    Without accounting, only the output in the run's folder tells which. If that does not tell
    either, the run counts as one of a node failure, which is tried again.
    """
    if has_mark(job, "slurm", "cancel"):
        return Status(Phase.ENDED, Ending.CANCELLED, f"Slurm job {id_} was cancelled", code)
    ending = _STOPS.get(why, Ending.NODE_FAILURE)
    text = f"stopped by Slurm: {why.lower()}" if why else "stopped; why is unknown, tried again"
    return Status(Phase.ENDED, ending, f"Slurm job {id_} was {text}", code)
