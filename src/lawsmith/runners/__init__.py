"""Runners: where training runs happen. A runner reports how a job ended, never its loss."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

from lawsmith.errors import unknown
from lawsmith.runners.base import Ending, Job, Phase, Runner, Status
from lawsmith.spec.models import RunnerKind
from lawsmith.spec.reading import read_table

RUNNERS: tuple[str, ...] = get_args(RunnerKind)


def make_runner(kind: str, options: Mapping[str, Any], folder: Path) -> Runner:
    """Make a runner: for 'slurm', SlurmRunner with SlurmOptions of `runners.slurm`.

    Its module is imported only here, because it may need an extra.

    options   the keys of ``[runner]`` that belong to this kind
    folder    the study's; relative paths in the options start there
    """
    if kind not in RUNNERS:
        raise unknown("runner.kind", kind, RUNNERS)
    module, name = import_module(f"lawsmith.runners.{kind}"), kind.capitalize()
    read = read_table(getattr(module, f"{name}Options"), options, where="runner")
    made: Runner = getattr(module, f"{name}Runner")(read, folder)
    return made
