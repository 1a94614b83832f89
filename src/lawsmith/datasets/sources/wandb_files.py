"""W&B's files of runs (offline-run-…/run-….wandb), read without W&B's library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lawsmith.datasets.sources import wire
from lawsmith.datasets.sources.tracked import History, TrackedRun, add_moment, last_values, visible
from lawsmith.files import read_bytes
from lawsmith.numbers import read_json

MAX_BYTES = 512 * 2**20
# Numbers of fields in wandb_internal.proto, which says of itself that it is kept on disk.
_HISTORY, _SUMMARY, _CONFIG, _RUN, _EXIT = 2, 3, 5, 17, 18
_ITEM, _UPDATE, _REMOVE, _STEP, _KEY, _NESTED, _VALUE = 1, 1, 2, 2, 1, 2, 16


def find(folder: Path) -> list[Path]:
    """The runs in a folder; latest-run is a link to one of them."""
    return sorted(path for path in folder.rglob("*.wandb") if "latest-run" not in path.parts)


def read_folder(folder: Path, _part: str) -> list[TrackedRun]:
    """The runs below a folder."""
    return [read_run(path) for path in find(folder)]


def read_run(path: Path) -> TrackedRun:
    """The run of one file."""
    source = str(path)
    data = read_bytes(path, limit=MAX_BYTES)
    name, code = path.stem.removeprefix("run-"), None
    settings: dict[str, Any] = {}
    results: dict[str, Any] = {}
    history: History = {}
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
                steps = wire.inside(body, _STEP, source=source)
                told = [wire.integer(step, 1, source=source) for step in steps]
                add_moment(history, float([count, *told][-1]), _values(body, _ITEM, source))
                count += 1
            elif number == _EXIT:
                code = wire.integer(body, 1, source=source)
    state = "running" if code is None else "finished" if code == 0 else "crashed"
    summary = {**last_values(history), **visible(results)}
    return TrackedRun(name, state, visible(settings), summary, history)


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
