"""Runs of MLflow in a folder mlruns/, a database mlflow.db, or on a tracking server.

They are read with MLflow (pip install 'lawsmith[mlflow]'). An experiment is named after a #:
mlruns#scaling, http://127.0.0.1:5000#scaling. Without a name, only one may have runs.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from lawsmith.datasets.sources.tracked import MOST_RUNS, TrackedRun, library, only, tracked_run
from lawsmith.errors import LawsmithError

_SETTINGS = {
    "MLFLOW_ALLOW_FILE_STORE": "true",  # otherwise MLflow 3 demands a database
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",  # by default it tries for minutes
}


def find(folder: Path) -> Path | None:
    """The store at a folder or inside it: experiments and runs with a meta.yaml each."""
    stores = (folder, folder / "mlruns")
    return next(
        (s for s in stores if any(s.glob("*/meta.yaml")) and any(s.glob("*/*/meta.yaml"))), None
    )


def is_database(path: Path) -> bool:
    """Whether a SQLite database is MLflow's."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table'"
    with _opened(path) as database:
        return ("experiments",) in database.execute(query).fetchall()


def read_database(path: Path, experiment: str, *, histories: bool) -> list[TrackedRun]:
    """The runs of a SQLite database. MLflow opens a copy, because it may write to the file."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / "mlflow.db"
        with _opened(path) as database, closing(sqlite3.connect(copy)) as other:
            database.backup(other)
        return read_runs(f"sqlite:///{copy}", experiment, source=str(path), histories=histories)


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A database, for reading only."""
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as database:
            yield database
    except sqlite3.Error as error:
        raise LawsmithError(str(path), got=str(error), want="a SQLite database") from None


def read_runs(address: str, experiment: str, *, source: str, histories: bool) -> list[TrackedRun]:
    """The runs of the named experiment, or of the only one that has runs.

    address   the tracking URI: http://…, sqlite:///… or file://…
    """
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    with library("mlflow", source, "an MLflow server or store"):
        from mlflow import MlflowClient

        client = MlflowClient(tracking_uri=address)
        by_name = {
            one.name: [
                _run(client, run, histories=histories)
                for run in _all(client.search_runs, experiment_ids=[one.experiment_id])
            ]
            for one in _all(client.search_experiments)
        }
        full = {name: runs for name, runs in by_name.items() if runs or name == experiment}
        named = by_name if experiment else full
        return only(named, experiment, "experiment", source) if full else []


def _all(search: Callable[..., Any], **query: Any) -> list[Any]:
    """The results of all pages of a search."""
    page = search(**query)
    items = list(page)
    while page.token and len(items) < MOST_RUNS:
        page = search(**query, page_token=page.token)
        items += page
    return items


def _run(client: Any, run: Any, *, histories: bool) -> TrackedRun:
    key, results = run.info.run_id, run.data.metrics
    moments = [
        (name, one.step, one.value)
        for name in (results if histories else ())
        for one in client.get_metric_history(key, name)
    ]
    state = run.info.status.lower()
    return tracked_run(run.info.run_name or key, state, run.data.params, moments, results)
