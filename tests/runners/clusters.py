"""Real clusters for the tests, where they are: see tests/daemons."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest


def slurm_conf(kind: str) -> Path:
    """The settings of the cluster 'accounting' or 'plain'; without one the test is skipped.

    Where LAWSMITH_REQUIRE_SLURM is 1, as in .ci/run, absence is a failure instead.
    """
    told = os.environ.get("LAWSMITH_SLURM")
    if told:
        return Path(told) / kind / "slurm.conf"
    reason = "LAWSMITH_SLURM is not set: no Slurm (tests/daemons/slurm starts one)"
    if os.environ.get("LAWSMITH_REQUIRE_SLURM") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def call(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
