"""A study file looked over before anything runs: candidates, what the budget buys, what is odd."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from lawsmith.errors import LawsmithError
from lawsmith.journal import Trial
from lawsmith.policies.base import InitialDesign
from lawsmith.runners import Runner, make_runner
from lawsmith.study.answer import stop_rule
from lawsmith.study.jobs import lineage
from lawsmith.study.live import LiveStudy


@runtime_checkable
class Previews(Protocol):
    """A runner that can say what it would start."""

    def preview(self, values: Mapping[str, float | int | str]) -> list[str]:
        """The command of a run with these values."""
        ...


@dataclass(frozen=True, eq=False)
class Checkup:
    """What a study file amounts to; computes are FLOPs.

    total      of every candidate, trunks shared where the study says so
    apart      the same without sharing
    n_cheap    how many runs the budget buys, cheapest first
    command    of the first candidate, where the runner can tell
    """

    study: LiveStudy
    least: float
    largest: float
    total: float
    apart: float
    n_cheap: int
    n_largest: int
    initial: float
    command: tuple[str, ...]
    warnings: tuple[str, ...]


def check(study: LiveStudy) -> Checkup:
    """Look a study over; a fault in the command is an error, something odd a warning."""
    C = study.grid.C
    stop_rule(study)
    told = study.spec.runner
    runner = None
    if told.model_fields_set:
        runner = make_runner(told.kind, told.options, study.layout.folder)
    rows = np.flatnonzero(InitialDesign(1).preferred(study.grid))
    n_init = min(study.method.n_first, len(C))
    found = Checkup(
        study=study,
        least=float(C.min()),
        largest=float(C.max()),
        total=study.pricing.together(study.grid, range(len(C))),
        apart=float(C.sum()),
        n_cheap=int(np.searchsorted(np.cumsum(np.sort(C)), study.budget * (1 + 1e-9), "right")),
        n_largest=int(study.budget * (1 + 1e-9) // C.max()),
        initial=float(np.sort(C)[:n_init].sum() if n_init > len(rows) else n_init * C[rows].mean()),
        command=_preview(study, runner),
        warnings=(),
    )
    return replace(found, warnings=tuple(_warnings(found)))


def _preview(study: LiveStudy, runner: Runner | None) -> tuple[str, ...]:
    """The command of the first candidate; every model's is tried, as arguments may differ."""
    if not isinstance(runner, Previews):
        return ()
    first: dict[str, int] = {}
    for row, config in enumerate(study.candidates.configs):
        first.setdefault(str(config["model"]), row)
    commands = {}
    for model, row in first.items():
        about: dict[str, float | int | str] = {
            "trial": "t0001",
            "attempt": 1,
            "name": "preview",
            "seed": study.spec.seed,
            **lineage(study.layout, Trial("t0001", {}, 0.0, "run"), text=True),
        }
        try:
            commands[model] = runner.preview({**study.candidates.values(row), **about})
        except LawsmithError as error:
            raise LawsmithError(f"{study.layout.file.name}: model {model}: {error}") from None
    return tuple(commands[str(study.candidates.configs[0]["model"])])


def _warnings(found: Checkup) -> list[str]:
    study, spec = found.study, found.study.spec
    out: list[str] = []
    if found.n_cheap == 0:
        out.append("the budget does not buy a single run")
    elif found.initial > study.budget:
        out.append("the budget does not buy the initial runs of the policy: lower policy.n_init")
    if study.budget >= found.total:
        out.append("the budget buys every candidate: there is nothing to choose")
    if not spec.law.targets:
        out.append("no target: law.targets says at which compute the loss is to be predicted")
    if set(study.law.inputs) == {"N", "D"} and _fixed_ratio(study):
        out.append(f"tokens per parameter are fixed, and {study.law.name} cannot be told from them")
    if found.command and spec.runner.kind == "local":
        out += _unused(study, found.command) + _not_found(found.command, study.layout.folder)
    return out


def _fixed_ratio(study: LiveStudy) -> bool:
    ratio = study.grid.D / study.grid.N
    return float(ratio.max() / ratio.min()) < 1.01


def _unused(study: LiveStudy, command: Sequence[str]) -> list[str]:
    """Axes that the command does not name; the trainer may read them from $LAWSMITH_CONFIG."""
    told = str(study.spec.runner.options.get("command"))
    unused = [name for name in study.spec.axes if f"{{{name}}}" not in told]
    if not unused:
        return []
    names = ", ".join(unused)
    return [f"the command does not use {names}: does the trainer read $LAWSMITH_CONFIG?"]


def _not_found(command: Sequence[str], folder: Path) -> list[str]:
    if shutil.which(command[0]) is None:
        return [f"{command[0]} is not to be found on this machine"]
    missing = [arg for arg in command[1:] if arg.startswith(str(folder)) and not Path(arg).exists()]
    return [f"{path} does not exist" for path in missing]
