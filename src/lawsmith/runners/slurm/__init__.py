"""The Slurm runner: fills in and submits the user's sbatch template, and follows the jobs."""

from __future__ import annotations

from lawsmith.runners.slurm.runner import SlurmOptions, SlurmRunner
