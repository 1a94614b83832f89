"""MLflow's runs, read without MLflow: a folder mlruns/, a database mlflow.db, or a tracking server.

An experiment is named after a #: mlruns#scaling, http://127.0.0.1:5000#scaling. Without a name
there must be one experiment with runs.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

from lawsmith.datasets.sources.flat_yaml import read_flat
from lawsmith.datasets.sources.tracked import MOST_RUNS, Moment, TrackedRun, only, tracked_run
from lawsmith.errors import LawsmithError, unknown
from lawsmith.files import read_bytes, reason
from lawsmith.numbers import as_float, read_json

MAX_BYTES = 64 * 2**20
TIMEOUT = 30.0
PAGE = 1000
_STATES = {1: "running", 2: "scheduled", 3: "finished", 4: "failed", 5: "killed"}
Experiments = dict[str, list[TrackedRun]]


def find(folder: Path) -> Path | None:
    """The store that a folder is or has: experiments with a meta.yaml, and runs with theirs."""
    stores = (folder, folder / "mlruns")
    return next(
        (s for s in stores if any(s.glob("*/meta.yaml")) and any(s.glob("*/*/meta.yaml"))), None
    )


def read_folder(folder: Path, experiment: str) -> list[TrackedRun]:
    """The runs in the files of a local store."""
    found: Experiments = {}
    store = find(folder) or folder
    for meta in sorted(store.glob("*/meta.yaml")):
        name = str(read_flat(meta).get("name") or meta.parent.name)
        runs = [_of_files(path.parent) for path in sorted(meta.parent.glob("*/meta.yaml"))]
        found[name] = [run for run in runs if run is not None]
    return chosen(found, experiment, source=str(store))


def _of_files(folder: Path) -> TrackedRun | None:
    meta = read_flat(folder / "meta.yaml")
    if meta.get("lifecycle_stage") == "deleted" or "status" not in meta:
        return None
    name = str(meta.get("run_name") or meta.get("run_id") or folder.name)
    code = as_float(meta["status"])
    state = _STATES.get(int(code), "unknown") if code is not None and 0 < code < 9 else "unknown"
    lines = [(m, line.split()) for m, t in _texts(folder / "metrics") for line in t.splitlines()]
    moments = [(measure, row[2], row[1]) for measure, row in lines if len(row) >= 3]
    return tracked_run(name, state, dict(_texts(folder / "params")), moments)


def _texts(folder: Path) -> Iterable[tuple[str, str]]:
    """Name and text of each file below a folder."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = read_bytes(path, limit=MAX_BYTES)
            yield str(path.relative_to(folder)), data.decode("utf-8", "replace").strip()


def read_database(path: Path, experiment: str) -> list[TrackedRun] | None:
    """The runs of a SQLite database, opened for reading only; None if it is not MLflow's."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table'"
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as database:
            if ("experiments",) not in database.execute(query).fetchall():
                return None
            return chosen(_of_database(database), experiment, source=str(path))
    except sqlite3.Error as error:
        raise LawsmithError(str(path), got=str(error), want="a SQLite database") from None


def _of_database(database: sqlite3.Connection) -> Experiments:
    # Whole tables at once: older stores have no index by which to look up one run.
    settings: dict[str, dict[str, Any]] = {}
    for run, key, value in database.execute("SELECT run_uuid, key, value FROM params"):
        settings.setdefault(run, {})[str(key)] = value
    moments: dict[str, list[Moment]] = {}
    query = "SELECT run_uuid, key, step, value, is_nan FROM metrics ORDER BY timestamp"
    for run, key, step, value, is_nan in database.execute(query):
        number = float("nan") if is_nan else value
        moments.setdefault(run, []).append((str(key), step, number))
    names = dict(database.execute("SELECT experiment_id, name FROM experiments"))
    found: Experiments = {str(name): [] for name in names.values()}
    query = (
        "SELECT run_uuid, name, status, experiment_id FROM runs "
        "WHERE lifecycle_stage = 'active' ORDER BY start_time"
    )
    for run, name, status, group in database.execute(query):
        kept = settings.get(run, {}), moments.get(run, [])
        one = tracked_run(str(name or run), str(status).lower(), *kept)
        found.setdefault(str(names.get(group, group)), []).append(one)
    return found


def read_server(address: str, experiment: str, *, histories: bool) -> list[TrackedRun]:
    """The runs on a tracking server; histories are asked for one by one, so only where needed."""
    address = address.rstrip("/")
    groups = _paged(address, "experiments/search", {}, "experiments")
    names = {str(group.get("experiment_id")): str(group.get("name")) for group in groups}
    if experiment and experiment not in names.values():
        raise unknown(f"{address}: experiment", experiment, names.values())
    wanted = [key for key, name in names.items() if experiment in ("", name)]
    found: Experiments = {names[key]: [] for key in wanted}
    for run in _paged(address, "runs/search", {"experiment_ids": wanted}, "runs"):
        parts = [run.get(part) for part in ("info", "data")]
        info, data = (part if isinstance(part, dict) else {} for part in parts)
        one = _of_server(address, info, data, histories=histories)
        found.setdefault(names.get(str(info.get("experiment_id")), ""), []).append(one)
    return chosen(found, experiment, source=address)


def _of_server(
    address: str, info: Mapping[str, Any], data: Mapping[str, Any], *, histories: bool
) -> TrackedRun:
    key = str(info.get("run_id") or info.get("run_uuid"))
    settings = {str(one.get("key")): one.get("value") for one in _objects(data, "params")}
    results = {str(one.get("key")): as_float(one.get("value")) for one in _objects(data, "metrics")}
    moments: list[Moment] = []
    for measure in results if histories else ():
        path = f"metrics/get-history?run_id={quote(key)}&metric_key={quote(measure, safe='')}"
        along = _objects(_ask(address, path, None), "metrics")
        moments += [(measure, one.get("step"), one.get("value")) for one in along]
    name, state = str(info.get("run_name") or key), str(info.get("status", "")).lower()
    return tracked_run(name, state, settings, moments, results)


def _paged(address: str, path: str, body: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """All pages of a search."""
    found: list[dict[str, Any]] = []
    token = None
    while len(found) < MOST_RUNS:
        page = {"max_results": PAGE, "page_token": token or ""}
        answer = _ask(address, path, {**body, **page})
        found += _objects(answer, key)
        token = answer.get("next_page_token")
        if not token:
            break
    return found


def _objects(answer: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects of an answer under ``key``."""
    found = answer.get(key)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _ask(address: str, path: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
    """One question to the server, and its answer."""
    data = None if body is None else json.dumps(body).encode()
    head = {"Content-Type": "application/json"}
    request = Request(f"{address}/api/2.0/mlflow/{path}", data=data, headers=head)
    try:
        with urlopen(request, timeout=TIMEOUT) as response:
            answer = read_json(response.read(MAX_BYTES))
    except (HTTPError, URLError, OSError, ValueError) as error:
        got = getattr(error, "reason", None) or reason(error)
        want = "an MLflow server, such as http://127.0.0.1:5000"
        raise LawsmithError(address, got=str(got)[:120], want=want) from None
    if not isinstance(answer, dict):
        raise LawsmithError(address, got="an answer of another kind", want="an MLflow server")
    return answer


def chosen(found: Experiments, experiment: str, *, source: str) -> list[TrackedRun]:
    """The runs of the experiment that was named, or of the only one that has any."""
    full = found if experiment else {name: runs for name, runs in found.items() if runs}
    if not full and not experiment:
        return []
    return only(full, experiment, what=("experiment", "experiments"), source=source)
