"""Runs of a tracker, in a folder, a file, a database or on a server.

A part of a source, an experiment or a study, is named after a #.
"""

from __future__ import annotations

import re
from pathlib import Path

from lawsmith.datasets.sources import mlflow, neps, optuna, tensorboard, wandb
from lawsmith.datasets.sources.tracked import TrackedRun
from lawsmith.errors import LawsmithError
from lawsmith.files import reason

DATABASES = (".db", ".sqlite", ".sqlite3")
KINDS = (
    "W&B's offline runs (*.wandb), TensorBoard event files, an MLflow store or the trials of NePS"
)
_REMOTE = re.compile(r"(wandb|optuna|mlflow):|https?://|[a-z0-9+]+://")


def is_remote(source: str) -> bool:
    """Whether it is the address of a server or a database (wandb:ENTITY/PROJECT), not a path."""
    return _REMOTE.match(source) is not None


def split_part(source: str) -> tuple[str, str]:
    """'trials.db#May' → ('trials.db', 'May'); an existing file 'a#b' is left whole."""
    before, mark, part = source.rpartition("#")
    if not mark or not before or (not is_remote(source) and Path(source).exists()):
        return source, ""
    return before, part


def is_tracker(source: str) -> bool:
    """Whether it names the runs of a tracker, not a file with a table."""
    try:
        place, _ = split_part(source)
        path = Path(place)
        folder, journal = path.is_dir(), path.suffix in (".log", ".journal") and path.is_file()
    except OSError:
        return False  # not a possible file name
    known = path.suffix.lower() in (*DATABASES, ".wandb") or tensorboard.EVENTS in path.name
    return is_remote(place) or folder or journal or known


def has_runs(folder: Path) -> bool:
    """Whether a folder holds runs of a tracker."""
    return any(tracker.find(folder) for tracker in (mlflow, wandb, neps, tensorboard))


def read_tracked(source: str, *, histories: bool) -> list[TrackedRun]:
    """The runs of a tracker; a disk error becomes one line."""
    try:
        return _read(*split_part(source), histories=histories)
    except OSError as error:
        where = str(error.filename or source)
        raise LawsmithError(where, got=reason(error), want="a readable source of runs") from None


def _read(place: str, part: str, *, histories: bool) -> list[TrackedRun]:
    if not is_remote(place):
        return _read_path(Path(place), part, histories=histories)
    kind, _, rest = place.partition(":")
    match kind:
        case "wandb":
            return wandb.read_runs(rest, histories=histories)
        case "mlflow":
            return _read(rest, part, histories=histories)
        case "http" | "https":
            return mlflow.read_runs(place, part, source=place, histories=histories)
        case "file":
            return _read(place.removeprefix("file://"), part, histories=histories)
    return optuna.read_runs(rest if kind == "optuna" else place, part)


def _read_path(path: Path, part: str, *, histories: bool) -> list[TrackedRun]:
    """The runs in a folder or a file, of any tracker."""
    if store := mlflow.find(path):
        address = store.resolve().as_uri()
        return mlflow.read_runs(address, part, source=str(store), histories=histories)
    for tracker in (wandb, neps, tensorboard):
        if tracker.find(path):
            runs: list[TrackedRun] = tracker.read_folder(path)
            return runs
    if path.is_dir():
        raise LawsmithError(str(path), got="a folder without runs", want=KINDS)
    if not path.is_file():
        raise LawsmithError(str(path), got="no such file", want="a file of runs")
    if path.suffix.lower() in DATABASES and mlflow.is_database(path):
        return mlflow.read_database(path, part, histories=histories)
    return optuna.read_runs(str(path), part)
