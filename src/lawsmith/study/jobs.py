"""A trial as a job: its name, its folder, the values and variables of its command."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import Any

from lawsmith.journal import Ledger, Trial
from lawsmith.runners.base import Job
from lawsmith.runners.results import CONFIG, PROGRESS, result_file
from lawsmith.study.layout import make_folder
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
    return Job(name, folder, values_of(study, trial, name, seed), env, trial.handle)


def n_before(ledger: Ledger, trial: Trial) -> int:
    """How many trials of the same configuration were asked before: a replicate has a new seed."""
    earlier = takewhile(lambda one: one.name != trial.name, ledger.trials.values())
    return sum(one.by == trial.by and one.config == trial.config for one in earlier)


def prepare(study: LiveStudy, trial: Trial, job: Job) -> None:
    """The folder of a job and its config.json, before anything is started in it."""
    about = {"trial": trial.name, "attempt": trial.attempt}
    config = {**for_trainer(study, trial.config), **about}
    make_folder(job.folder, study.layout.folder, {CONFIG: config})


def for_trainer(study: LiveStudy, config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with the arguments of its model."""
    return {**study.candidates.args.get(str(config.get("model")), {}), **config}


def values_of(study: LiveStudy, trial: Trial, name: str, seed: int) -> dict[str, Value]:
    """What the placeholders of a command stand for."""
    row = study.candidates.row_of(trial.config)
    known = dict(trial.config) if row is None else study.candidates.values(row)
    about: dict[str, Value] = {"trial": trial.name, "attempt": trial.attempt, "name": name}
    return {**known, **about, "seed": seed}
