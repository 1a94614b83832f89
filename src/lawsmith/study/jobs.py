"""A trial as a job: its name, its folder, the values and variables of its command."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import takewhile
from typing import Any

from lawsmith.errors import LawsmithError
from lawsmith.files import check_inside, reason, write_file
from lawsmith.journal import Ledger, Trial
from lawsmith.runners.base import Job
from lawsmith.runners.results import CONFIG, PROGRESS, result_file
from lawsmith.runners.template import value_text
from lawsmith.study.live import LiveStudy


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
    seed = study.spec.seed + _n_before(ledger, trial)
    values = {**values_of(study, trial), "name": name, "seed": seed}
    return Job(name, folder, values, env, trial.handle)


def _n_before(ledger: Ledger, trial: Trial) -> int:
    """How many trials of the same configuration were asked before: a replicate has a new seed."""
    earlier = takewhile(lambda one: one.name != trial.name, ledger.trials.values())
    return sum(one.by == trial.by and one.config == trial.config for one in earlier)


def prepare(study: LiveStudy, trial: Trial, job: Job) -> None:
    """The folder of a job and its config.json; made again they are the same."""
    path = job.folder / CONFIG
    check_inside(job.folder, study.layout.folder)
    try:
        job.folder.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() or not path.exists():
            write_file(path, json.dumps(_config(study, trial), indent=1))
    except OSError as error:
        want = "a folder that can be written"
        hint = "nothing on record was lost; make room or allow writing, then run again"
        raise LawsmithError(str(job.folder), got=reason(error), want=want, hint=hint) from None


def for_trainer(study: LiveStudy, config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with the arguments of its model."""
    return {**study.candidates.args.get(str(config.get("model")), {}), **config}


def _config(study: LiveStudy, trial: Trial) -> dict[str, Any]:
    """What a trainer reads: the configuration, and where the run comes from and what it leaves."""
    parent = trial.parent or None
    return {
        **for_trainer(study, trial.config),
        "trial": trial.name,
        "attempt": trial.attempt,
        "kind": trial.kind,
        "parent": parent,
        "parent_folder": None if parent is None else str(study.layout.trial(parent)),
        "branch_at": trial.branch_at,
        "save_at": list(trial.save_at),
        "folder": str(study.layout.trial(trial.name)),
    }


def values_of(study: LiveStudy, trial: Trial) -> dict[str, float | int | str]:
    """The same for placeholders of a command, and C, which is that of a run from the start to D.

    A missing parent is an empty text, and a missing branch point is 0.
    """
    row, length = study.candidates.row_of(trial.config), trial.D - trial.start
    C = trial.cost * trial.D / length if length > 0.0 else trial.cost
    config = _config(study, trial)
    return {
        **config,
        "C": C if row is None else float(study.grid.C[row]),
        "parent": trial.parent,
        "parent_folder": config["parent_folder"] or "",
        "branch_at": trial.start,
        "save_at": ",".join(map(value_text, trial.save_at)),
    }
