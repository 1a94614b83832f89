"""The interface of a runner: the place where training runs happen.

A runner is stateless: all it needs after a crash is a `Job`, whose handle the journal keeps. It
reports how a job ended but not its loss: the job writes its result to its folder, and one module
(`results`) reads it for every runner.

    asked ─ submit ─▶ queued ─▶ running ─▶ ended(how)
                         └──────────┴────▶ lost      no trace is left: it may be submitted again
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol


class Phase(StrEnum):
    """The phase of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    ENDED = "ended"
    LOST = "lost"


class Ending(StrEnum):
    """How a job ended, as the runner sees it; the study has a rule for each."""

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

    name     unique on the whole cluster and the same after a crash: study, trial, attempt; only
             letters, digits, '.', '_' and '-'
    folder   of this attempt; it exists, and the command runs and writes its log and result there
    values   of the command's placeholders: N, D, hyperparameters, the model's arguments
    env      environment variables that lawsmith sets: LAWSMITH_RESULT and others
    handle   the value that submit returned, from the journal; '' before
    """

    name: str
    folder: Path
    values: Mapping[str, float | int | str]
    env: Mapping[str, str]
    handle: str = ""


@dataclass(frozen=True)
class Status:
    """What a runner knows of a job. ``ending`` is set at its end; ``detail`` is for people."""

    phase: Phase
    ending: Ending | None = None
    detail: str = ""
    exit_code: int | None = None

    @property
    def over(self) -> bool:
        """Whether the job ended or is lost."""
        return self.phase in (Phase.ENDED, Phase.LOST)


class Runner(Protocol):
    """Where runs happen. Every method may be repeated after a crash at any point."""

    def submit(self, jobs: Sequence[Job]) -> dict[str, str]:
        """Start the jobs and return their handles by name. A job that exists is not started again.

        Jobs that could not start for a temporary reason (a full queue) are left out.
        """
        ...

    def poll(self, jobs: Sequence[Job]) -> dict[str, Status]:
        """The status of each job by name; quick, without waiting for a job."""
        ...

    def cancel(self, jobs: Sequence[Job]) -> None:
        """Stop the jobs and all their processes; jobs that have ended are left alone."""
        ...
