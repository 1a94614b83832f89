"""Runners by name: the one place where the words of a study file become a place to run.

Each runner's module has an options model (the keys of ``[runner]`` that are its own) and a runner
made from it; an extra is imported only when its runner is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from lawsmith.errors import unknown
from lawsmith.runners.base import Runner
from lawsmith.spec.models import RunnerKind
from lawsmith.spec.reading import read_table

RUNNERS: tuple[str, ...] = get_args(RunnerKind)


def make_runner(kind: str, options: Mapping[str, Any], folder: Path) -> Runner:
    """The runner called ``kind``.

    options   the keys of ``[runner]`` other than those every runner shares
    folder    of the study: what a relative path in the options is relative to
    """
    match kind:
        case "local":
            from lawsmith.runners.local import LocalOptions, LocalRunner

            return LocalRunner(read_table(LocalOptions, options, where="runner"), folder)
        case "replay":
            from lawsmith.runners.replay import ReplayOptions, ReplayRunner

            return ReplayRunner(read_table(ReplayOptions, options, where="runner"), folder)
        case "slurm":
            from lawsmith.runners.slurm import SlurmOptions, SlurmRunner

            return SlurmRunner(read_table(SlurmOptions, options, where="runner"), folder)
        case "ray":
            from lawsmith.runners.ray import RayOptions, RayRunner

            return RayRunner(read_table(RayOptions, options, where="runner"), folder)
    raise unknown("runner.kind", kind, RUNNERS)
