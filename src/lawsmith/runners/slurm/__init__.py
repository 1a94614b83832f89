"""The Slurm runner: a user's own sbatch template, filled in and submitted, its states followed."""

from __future__ import annotations

from lawsmith.runners.slurm.runner import SlurmOptions, SlurmRunner
