"""W&B's files of runs (offline-run-…/run-….wandb), read without W&B's library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lawsmith.datasets.json_tables import spread
from lawsmith.datasets.sources import wire
from lawsmith.datasets.sources.tracked import TrackedRun, last_values
from lawsmith.files import read_bytes
from lawsmith.numbers import as_float, read_json

MAX_BYTES = 512 * 2**20
# Numbers of fields in wandb_internal.proto, which says of itself that it is kept on disk.
_HISTORY, _SUMMARY, _CONFIG, _RUN, _EXIT = 2, 3, 5, 17, 18
_ITEM, _UPDATE, _REMOVE, _STEP, _KEY, _NESTED, _VALUE = 1, 1, 2, 2, 1, 2, 16


def find(folder: Path) -> list[Path]:
    """The runs in a folder; latest-run is a link to one of them."""
    return sorted(path for path in folder.rglob("*.wandb") if "latest-run" not in path.parts)


def read_run(path: Path) -> TrackedRun:
    """The run of one file."""
    source = str(path)
    data = read_bytes(path, limit=MAX_BYTES)
    name, code = path.stem.removeprefix("run-"), None
    settings: dict[str, Any] = {}
    results: dict[str, Any] = {}
    history: dict[str, list[tuple[float, float]]] = {}
    count = 0
    for record in wire.wandb_records(data, source=source):
        for number, body in wire.fields(record, source=source):
            if not isinstance(body, bytes):
                continue
            if number == _RUN:
                name = wire.text(body, 8, source=source) or wire.text(body, 1, source=source)
                for config in wire.inside(body, 4, source=source):
                    settings |= _values(config, _UPDATE, source)
            elif number == _CONFIG:
                settings |= _values(body, _UPDATE, source)
            elif number == _SUMMARY:
                results |= _values(body, _UPDATE, source)
                for key in _values(body, _REMOVE, source):
                    results.pop(key, None)
            elif number == _HISTORY:
                _add(history, body, count, source)
                count += 1
            elif number == _EXIT:
                code = wire.integer(body, 1, source=source)
    state = "running" if code is None else "finished" if code == 0 else "crashed"
    plain = {k: v for k, v in spread(settings).items() if not k.startswith("_")}
    summary = {**last_values(history), **spread(results)}
    kept = {k: v for k, v in summary.items() if not k.startswith("_")}
    return TrackedRun(name, state, plain, kept, history)


def _add(
    history: dict[str, list[tuple[float, float]]], body: bytes, count: int, source: str
) -> None:
    """One moment of a run to the series of each of its numbers."""
    steps = [
        wire.integer(step, 1, source=source) for step in wire.inside(body, _STEP, source=source)
    ]
    step = float(steps[-1] if steps else count)
    for key, value in spread(_values(body, _ITEM, source)).items():
        number = as_float(value)
        if number is not None and not key.startswith("_"):
            history.setdefault(key, []).append((step, number))


def _values(body: bytes, number: int, source: str) -> dict[str, Any]:
    """Key → value of the items in a field."""
    found: dict[str, Any] = {}
    for item in wire.inside(body, number, source=source):
        nested = [
            part.decode("utf-8", "replace") for part in wire.inside(item, _NESTED, source=source)
        ]
        key = "/".join(nested) or wire.text(item, _KEY, source=source)
        try:
            found[key] = read_json(wire.text(item, _VALUE, source=source) or "null")
        except ValueError:
            continue
    return found
