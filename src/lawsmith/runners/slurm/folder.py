"""What the Slurm runner keeps in a run's folder, under `slurm/`.

job.sh     the user's template for this run
batch.sh   what was given to sbatch, for one run or for the array it is part of
intent     JSON, before sbatch is called: the Slurm name, the task in its array, Slurm's own output
owner      the id of the job that began, see `script`
exit       id, exit code, signal and start of the run, see `script`
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from lawsmith.files import check_inside, read_bytes, read_tail, write_file
from lawsmith.runners.base import Job
from lawsmith.runners.exits import read_object

MAX_BYTES = 2**16
_ID = re.compile(r"\d+(_\d+)?")
# What Slurm prints when it, or the kernel on its behalf, ends a job for its memory.
_MEMORY = re.compile(rb"(?i)oom[-_ ]kill|out[- ]of[- ]memory|exceeded (job |step )?memory limit")
# "*** JOB 12 ON node CANCELLED AT 2026-01-01T00:00:00 DUE TO PREEMPTION ***"
_STOPPED = re.compile(rb"\*\*\* (?:JOB|STEP) .* CANCELLED AT \S+(?: DUE TO ([A-Za-z ]*))? ?\*\*\*")


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


def own(job: Job) -> Path:
    """The runner's part of a job's folder."""
    return job.folder.resolve() / "slurm"


def write_intent(job: Job, intent: Intent, script: str) -> None:
    """On record, and on disk, before anything is submitted."""
    check_inside(own(job), job.folder)
    own(job).mkdir(exist_ok=True)
    write_file(own(job) / "job.sh", script)
    write_file(own(job) / "intent", json.dumps(intent.__dict__) + "\n")


def read_intent(job: Job) -> Intent | None:
    """What was about to be submitted, perhaps by a driver that died; None if nothing was."""
    values = read_object(own(job) / "intent") or {}
    try:
        task = None if values["task"] is None else int(values["task"])
        return Intent(str(values["name"]), task, str(values["output"]))
    except (ValueError, KeyError, TypeError, OverflowError):
        return None


def read_owner(job: Job) -> str:
    """The id of the job that began; '' before any did."""
    try:
        text = read_bytes(own(job) / "owner", limit=MAX_BYTES).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return text if _ID.fullmatch(text) else ""


def read_exit(job: Job) -> Exit | None:
    """How the run ended, if its batch script lived to tell."""
    try:
        words = read_bytes(own(job) / "exit", limit=MAX_BYTES).decode("ascii").split()
        return Exit(words[0], int(words[1]), words[2], int(words[3]) if len(words) > 3 else 0)
    except (OSError, ValueError, IndexError):
        return None


def note_cancel(job: Job) -> None:
    """On record before it is done."""
    if own(job).is_dir():
        write_file(own(job) / "cancel", "")


def was_cancelled(job: Job) -> bool:
    """Whether this runner was told to cancel the run."""
    return (own(job) / "cancel").exists()


def why_stopped(intent: Intent | None) -> str:
    """Why Slurm stopped the job, by its own output: 'TIME LIMIT', 'PREEMPTION', …

    'CANCELLED' where somebody did and Slurm says no more; '' where it says nothing.
    """
    try:
        found = _STOPPED.findall(read_tail(intent.output if intent else "", limit=4096))
    except OSError:
        return ""
    return (found[-1].decode("ascii", "replace").strip().upper() or "CANCELLED") if found else ""


def memory_ran_out(intent: Intent | None) -> bool:
    """Whether Slurm's own output says so: some clusters call such a job merely failed."""
    try:
        return bool(_MEMORY.search(read_tail(intent.output if intent else "", limit=4096)))
    except OSError:
        return False
