"""Trials of an Optuna study in a database or a journal.

They are read with Optuna (pip install 'lawsmith[optuna]'). A study is named after a #:
trials.db#scaling, journal.log#scaling. The loss is the value that the study minimises. N and D may
be parameters or user attributes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lawsmith.datasets.sources.tracked import TrackedRun, library, only, tracked_run
from lawsmith.errors import LawsmithError

_STATES = {"complete": "finished", "fail": "failed"}


def read_runs(place: str, name: str) -> list[TrackedRun]:
    """The trials of the study ``name``, or of the only one."""
    with library("optuna", place, "a study of Optuna"):
        import optuna
        from optuna.storages import JournalStorage, RDBStorage
        from optuna.storages.journal import JournalFileBackend

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        if "://" not in place and Path(place).suffix in (".log", ".journal", ".jsonl"):
            storage: Any = JournalStorage(JournalFileBackend(place))
        else:
            address = place if "://" in place else f"sqlite:///{place}"
            storage = RDBStorage(address, skip_compatibility_check=True)
        names = {one: one for one in optuna.get_all_study_names(storage)}
        chosen = only(names, name, "study", place)
        study = optuna.load_study(study_name=chosen, storage=storage)
        if [direction.name for direction in study.directions] != ["MINIMIZE"]:
            got = f"a study that does not minimise one value ({len(study.directions)} objectives)"
            raise LawsmithError(place, got=got, want="a study that minimises a loss")
        return [_run(trial) for trial in study.get_trials(deepcopy=False)]


def _run(trial: Any) -> TrackedRun:
    word = trial.state.name.lower()
    value = trial.value if word == "complete" else None
    moments = [("loss", step, loss) for step, loss in trial.intermediate_values.items()]
    settings = {**trial.user_attrs, **trial.params}
    state = _STATES.get(word, word)
    return tracked_run(f"trial {trial.number}", state, settings, moments, {"loss": value})
