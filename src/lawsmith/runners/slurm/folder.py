"""What the Slurm runner keeps in a run's folder, under `slurm/`.

job.sh     the user's template for this run
batch.sh   what was given to sbatch, for one run or for the array it is part of
intent     JSON, before sbatch is called: the Slurm name, the task in its array, Slurm's own output
owner      the id of the job that began, see `script`
exit       id, exit code and signal of the run, see `script`
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from lawsmith.runners.base import Job

_ID = re.compile(r"\d+(_\d+)?")
# What Slurm prints when it, or the kernel on its behalf, ends a job for its memory.
_MEMORY = re.compile(rb"(?i)oom[-_ ]kill|out[- ]of[- ]memory|exceeded (job |step )?memory limit")


@dataclass(frozen=True)
class Intent:
    """How a job is known to Slurm. ``task`` is None unless it is part of an array."""

    name: str
    task: int | None = None
    output: str = ""


@dataclass(frozen=True)
class Exit:
    """How a run ended. ``signal`` reached the batch shell; 'no' if none did."""

    id: str
    code: int
    signal: str


def own(job: Job) -> Path:
    """The runner's part of a job's folder."""
    return job.folder.resolve() / "slurm"


def write_intent(job: Job, intent: Intent, script: str) -> None:
    """On record, and on disk, before anything is submitted."""
    own(job).mkdir(exist_ok=True)
    _put(own(job) / "job.sh", script)
    _put(own(job) / "intent", json.dumps(intent.__dict__) + "\n")


def read_intent(job: Job) -> Intent | None:
    """What was about to be submitted, perhaps by a driver that died; None if nothing was."""
    try:
        told = json.loads((own(job) / "intent").read_bytes())
        task = told["task"]
        return Intent(str(told["name"]), None if task is None else int(task), str(told["output"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def read_owner(job: Job) -> str:
    """The id of the job that began; '' before any did."""
    try:
        text = (own(job) / "owner").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return text if _ID.fullmatch(text) else ""


def read_exit(job: Job) -> Exit | None:
    """How the run ended, if its batch script lived to tell."""
    try:
        words = (own(job) / "exit").read_text(encoding="ascii").split()
        return Exit(words[0], int(words[1]), words[2])
    except (OSError, ValueError, IndexError):
        return None


def note_cancel(job: Job) -> None:
    """On record before it is done."""
    if own(job).is_dir():
        (own(job) / "cancel").touch()


def was_cancelled(job: Job) -> bool:
    """Whether this runner was told to cancel the run."""
    return (own(job) / "cancel").exists()


def memory_ran_out(intent: Intent | None) -> bool:
    """Whether Slurm's own output says so: some clusters call such a job merely failed."""
    try:
        with open(intent.output if intent else "", "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 4096))
            return bool(_MEMORY.search(file.read()))
    except OSError:
        return False


def _put(path: Path, text: str) -> None:
    new = path.with_name(path.name + ".new")
    with new.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
