"""A trial as a job: its name, its folder, the values and variables of its command."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import Any

from lawsmith.journal import Ledger, Trial
from lawsmith.runners.base import Job
from lawsmith.runners.results import CONFIG, PROGRESS, result_file
from lawsmith.runners.template import text_of
from lawsmith.study.layout import Layout, make_folder
from lawsmith.study.live import LiveStudy

Value = float | int | str


def job_of(study: LiveStudy, ledger: Ledger, trial: Trial) -> Job:
    """The job of a trial's current attempt."""
    folder = study.layout.attempt(trial.name, trial.attempt)
    name = f"{study.spec.name}-{ledger.id}-{trial.name}-{trial.attempt}"
    env = {
        "LAWSMITH_STUDY": str(study.layout.folder),
        "LAWSMITH_TRIAL": trial.name,
        "LAWSMITH_ATTEMPT": str(trial.attempt),
        "LAWSMITH_CONFIG": str(folder / CONFIG),
        "LAWSMITH_RESULT": str(folder / result_file(study.spec.results)),
        "LAWSMITH_PROGRESS": str(folder / PROGRESS),
    }
    seed = study.spec.seed + n_before(ledger, trial)
    values = {**values_of(study, trial, name, seed), **lineage(study.layout, trial, text=True)}
    return Job(name, folder, values, env, trial.handle)


def n_before(ledger: Ledger, trial: Trial) -> int:
    """How many trials of the same configuration were asked before: a replicate has a new seed."""
    earlier = takewhile(lambda one: one.name != trial.name, ledger.trials.values())
    return sum(one.by == trial.by and one.config == trial.config for one in earlier)


def prepare(study: LiveStudy, trial: Trial, job: Job) -> None:
    """The folder of a job and its config.json, before anything is started in it."""
    about = {"trial": trial.name, "attempt": trial.attempt}
    config = {**for_trainer(study, trial.config), **about, **lineage(study.layout, trial)}
    make_folder(job.folder, study.layout.folder, {CONFIG: config})


def for_trainer(study: LiveStudy, config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with the arguments of its model."""
    return {**study.candidates.args.get(str(config.get("model")), {}), **config}


def lineage(layout: Layout, trial: Trial, *, text: bool = False) -> dict[str, Any]:
    """Where a trial comes from and what it is to leave, as JSON or as text for a command.

    In a command a missing parent is an empty text, and a missing branch point is 0.
    """
    parent = trial.parent or None
    above = None if parent is None else str(layout.trial(parent))
    told: dict[str, Any] = {"kind": trial.kind, "parent": parent, "parent_folder": above}
    told |= {"branch_at": trial.branch_at, "save_at": list(trial.save_at)}
    told |= {"folder": str(layout.trial(trial.name))}
    if not text:
        return told
    points = ",".join(text_of(point) for point in trial.save_at)
    return {**told, "parent": trial.parent, "parent_folder": above or "", "save_at": points} | {
        "branch_at": trial.start
    }


def values_of(study: LiveStudy, trial: Trial, name: str, seed: int) -> dict[str, Value]:
    """What the placeholders of a command stand for; C is that of a run from the start to D."""
    row = study.candidates.row_of(trial.config)
    length = trial.D - trial.start
    C = trial.cost * trial.D / length if length > 0.0 else trial.cost
    known = {**for_trainer(study, trial.config), "C": C}
    known = known if row is None else study.candidates.values(row)
    about: dict[str, Value] = {"trial": trial.name, "attempt": trial.attempt, "name": name}
    return {**known, **about, "seed": seed}
