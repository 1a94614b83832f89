"""Where runs are: a folder, a database or a server of a tracker, or a sheet, to tables of runs.

A part of a source is named after a #: an experiment, a study or a sheet.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lawsmith.datasets.sources import excel, mlflow, neps, optuna, tensorboard, wandb
from lawsmith.datasets.sources.tracked import TrackedRun, curves_table, runs_table
from lawsmith.errors import LawsmithError
from lawsmith.files import reason

if TYPE_CHECKING:
    import pandas as pd

EXCEL = (".xlsx", ".xlsm")
DATABASES = (".db", ".sqlite", ".sqlite3")
KINDS = (
    "W&B's offline runs (*.wandb), TensorBoard event files, an MLflow store or the trials of NePS"
)
_REMOTE = re.compile(r"(wandb|optuna|mlflow):|https?://|[a-z0-9+]+://")


def is_remote(source: str) -> bool:
    """Whether it is no path: the address of a server or a database, wandb:ENTITY/PROJECT."""
    return _REMOTE.match(source) is not None


def split_part(source: str) -> tuple[str, str]:
    """'runs.xlsx#May' → ('runs.xlsx', 'May'); a file whose name has a # is itself."""
    before, mark, part = source.rpartition("#")
    if not mark or not before or (not is_remote(source) and Path(source).exists()):
        return source, ""
    return before, part


def is_source(source: str) -> bool:
    """Whether it is something else than a file of a table."""
    try:
        place, _ = split_part(source)
        path = Path(place)
        folder, journal = path.is_dir(), path.suffix in (".log", ".journal") and path.is_file()
    except OSError:
        return False  # a name that no disk can have
    known = path.suffix.lower() in (*EXCEL, *DATABASES, ".wandb") or tensorboard.EVENTS in path.name
    return is_remote(place) or folder or journal or known


def read_table(source: str) -> pd.DataFrame:
    """One row a run."""
    return _read(source, runs_table, histories=False)


def read_curves(source: str) -> pd.DataFrame:
    """One row for each moment of each run."""
    return _read(source, curves_table, histories=True)


def _read(source: str, as_table: Callable[..., pd.DataFrame], *, histories: bool) -> pd.DataFrame:
    """A sheet as it is, or the runs of a tracker as a table."""
    place, part = split_part(source)
    if not is_remote(place) and Path(place).suffix.lower() in EXCEL:
        return excel.read_sheet(_file(Path(place)), part)
    return as_table(read_tracked(source, histories=histories), source=source)


def read_tracked(source: str, *, histories: bool) -> list[TrackedRun]:
    """The runs of a tracker; an error of the disk is one line."""
    place, part = split_part(source)
    try:
        if is_remote(place):
            return _remote(place, part, histories=histories)
        read = _folder if Path(place).is_dir() else _of_file
        return read(Path(place), part, histories=histories)
    except OSError as error:
        where = str(error.filename or source)
        raise LawsmithError(where, got=reason(error), want="a readable source of runs") from None


def _remote(place: str, part: str, *, histories: bool) -> list[TrackedRun]:
    kind, _, rest = place.partition(":")
    if kind == "wandb":
        return wandb.read_runs(rest, histories=histories)
    if kind == "mlflow":
        return read_tracked(f"{rest}#{part}" if part else rest, histories=histories)
    if kind in ("http", "https"):
        return mlflow.read_runs(place, part, source=place, histories=histories)
    if kind == "file":
        return _folder(Path(place.removeprefix("file://")), part, histories=histories)
    return optuna.read_runs(rest if kind == "optuna" else place, part)


def has_runs(folder: Path) -> bool:
    """Whether a folder holds runs of a tracker."""
    return any(tracker.find(folder) for tracker in (mlflow, wandb, neps, tensorboard))


def _folder(folder: Path, part: str, *, histories: bool) -> list[TrackedRun]:
    """The runs in a folder, of whichever tracker they are."""
    if store := mlflow.find(folder):
        address = store.resolve().as_uri()
        return mlflow.read_runs(address, part, source=str(store), histories=histories)
    if wandb.find(folder):
        return wandb.read_folder(folder)
    if neps.find(folder):
        return neps.read_folder(folder)
    if tensorboard.find(folder):
        return tensorboard.read_folder(folder)
    raise LawsmithError(str(folder), got="a folder without runs", want=KINDS)


def _of_file(path: Path, part: str, *, histories: bool) -> list[TrackedRun]:
    path = _file(path)
    if path.suffix == ".wandb":
        return [wandb.read_file(path)]
    if tensorboard.EVENTS in path.name:
        return [tensorboard.read_files([path], path.parent.name or path.name)]
    if path.suffix.lower() in DATABASES and mlflow.is_database(path):
        return mlflow.read_database(path, part, histories=histories)
    return optuna.read_runs(str(path), part)


def _file(path: Path) -> Path:
    if not path.is_file():
        raise LawsmithError(str(path), got="no such file", want="a file of runs")
    return path
