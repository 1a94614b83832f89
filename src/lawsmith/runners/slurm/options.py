"""The keys of ``[runner]`` with ``kind = "slurm"``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from lawsmith.spec.models import Seconds
from lawsmith.spec.reading import Table


class SlurmOptions(Table):
    """How jobs are submitted.

    template   the sbatch script, relative to the study's folder; {{name}} stands for a run's value
    array      at most so many jobs of one round go into one array; 1: every run is its own job
    patience   seconds one call of a Slurm command may take before Slurm counts as away
    """

    template: str
    array: Annotated[int, Field(ge=1, le=100_000)] = 100
    patience: Seconds = 60.0
