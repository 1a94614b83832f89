"""What a runner is: the place where training runs happen.

A runner is stateless: everything it must know again after a crash is a `Job`, whose handle the
journal keeps. It says what became of a job, never what the loss was: the job leaves its result in
its folder, and one module reads that for every runner.

    asked ─ submit ─▶ queued ─▶ running ─▶ ended(how)
                         └──────────┴────▶ lost      no trace of it: it may be submitted anew
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol


class Phase(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    ENDED = "ended"
    LOST = "lost"


class Ending(StrEnum):
    """How a job ended, by the place that ran it; the study has a rule for each."""

    COMPLETED = "completed"
    FAILED = "failed"
    OUT_OF_MEMORY = "out_of_memory"
    TIMEOUT = "timeout"
    PREEMPTED = "preempted"
    NODE_FAILURE = "node_failure"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Job:
    """One attempt at one trial.

    name     unique on the whole cluster and the same after a crash: study, trial, attempt; letters,
             digits, '.', '_' and '-' alone
    folder   of this attempt: exists; the command runs in it and writes its log and result there
    values   what the command's placeholders stand for: N, D, hyperparameters, the model's arguments
    env      variables of lawsmith for the job: LAWSMITH_RESULT and others
    handle   what submit gave, from the journal; '' before
    """

    name: str
    folder: Path
    values: Mapping[str, float | int | str]
    env: Mapping[str, str]
    handle: str = ""


@dataclass(frozen=True)
class Status:
    """What a runner knows of a job. ``ending`` is there once it ended; ``detail`` is for people."""

    phase: Phase
    ending: Ending | None = None
    detail: str = ""
    exit_code: int | None = None

    @property
    def over(self) -> bool:
        """Whether the job ended or is lost."""
        return self.phase in (Phase.ENDED, Phase.LOST)


class Runner(Protocol):
    """Where runs happen. Every method may be called again after a crash at any point."""

    @property
    def name(self) -> str: ...

    def submit(self, jobs: Sequence[Job]) -> dict[str, str]:
        """Start the jobs; their handles by name. A job that is already there is not started again.

        Jobs that could not be started for a reason that may pass (a full queue) are left out.
        """
        ...

    def poll(self, jobs: Sequence[Job]) -> dict[str, Status]:
        """How each job stands, by name; quick, and without waiting for any."""
        ...

    def cancel(self, jobs: Sequence[Job]) -> None:
        """Stop the jobs, and all their processes; nothing happens to those that ended."""
        ...
