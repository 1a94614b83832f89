"""Trials of an Optuna study, with Optuna (pip install 'lawsmith[optuna]'): a database or a journal.

A study is named after a #: trials.db#scaling, journal.log#scaling. The loss is the value that the
study minimises; N and D may be parameters or user attributes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lawsmith.datasets.sources.tracked import TrackedRun, needed, only, tracked_run
from lawsmith.errors import LawsmithError

_STATES = {"complete": "finished", "fail": "failed"}


def read_runs(place: str, name: str) -> list[TrackedRun]:
    """The trials of the study called ``name``, or of the only one."""
    try:
        import optuna
        from optuna.storages import JournalStorage, RDBStorage
        from optuna.storages.journal import JournalFileBackend
    except ImportError:
        raise needed("optuna", place) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        if "://" in place:
            storage: Any = RDBStorage(place, skip_compatibility_check=True)
        elif Path(place).suffix in (".log", ".journal", ".jsonl"):
            storage = JournalStorage(JournalFileBackend(place))
        else:
            storage = RDBStorage(f"sqlite:///{place}", skip_compatibility_check=True)
        names = {one: one for one in optuna.get_all_study_names(storage)}
        found = only(names, name, what=("study", "studies"), source=place)
        study = optuna.load_study(study_name=found, storage=storage)
        return [_run(trial) for trial in _minimised(study, place)]
    except LawsmithError:
        raise
    except Exception as error:  # Optuna and its database have errors of many kinds
        got = " ".join(str(error).split())[:120] or type(error).__name__
        raise LawsmithError(place, got=got, want="a study of Optuna") from None


def _minimised(study: Any, place: str) -> list[Any]:
    if len(study.directions) != 1 or study.directions[0].name != "MINIMIZE":
        got = f"a study that does not minimise one value ({len(study.directions)} objectives)"
        raise LawsmithError(place, got=got, want="a study that minimises a loss")
    return list(study.get_trials(deepcopy=False))


def _run(trial: Any) -> TrackedRun:
    word = trial.state.name.lower()
    value = trial.value if word == "complete" else None
    moments = [("loss", step, loss) for step, loss in trial.intermediate_values.items()]
    settings = {**trial.user_attrs, **trial.params}
    state = _STATES.get(word, word)
    return tracked_run(f"trial {trial.number}", state, settings, moments, {"loss": value})
