"""Runners: where training runs happen. A runner says what became of a job, never its loss."""

from __future__ import annotations

from lawsmith.runners.base import Ending, Job, Phase, Runner, Status
from lawsmith.runners.catalogue import RUNNERS, make_runner

__all__ = ["RUNNERS", "Ending", "Job", "Phase", "Runner", "Status", "make_runner"]
