"""W&B's files of runs (offline-run-…/run-….wandb), read without W&B's library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lawsmith.datasets.sources import wire
from lawsmith.datasets.sources.tracked import Moment, TrackedRun, tracked_run, visible
from lawsmith.numbers import read_json

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
    name, state = path.stem.removeprefix("run-"), "running"
    settings: dict[str, Any] = {}
    results: dict[str, Any] = {}
    moments: list[Moment] = []
    count = 0
    with wire.whole_file(path) as data:
        for record in wire.wandb_records(data):
            for number, body in wire.fields(record):
                if not isinstance(body, bytes):
                    continue
                if number == _RUN:
                    name = wire.text(body, 8) or wire.text(body, 1)
                    for config in wire.inside(body, 4):
                        settings |= _values(config, _UPDATE)
                elif number == _CONFIG:
                    settings |= _values(body, _UPDATE)
                elif number == _SUMMARY:
                    results |= _values(body, _UPDATE)
                    for key in _values(body, _REMOVE):
                        results.pop(key, None)
                elif number == _HISTORY:
                    step = [count, *(wire.integer(s, 1) for s in wire.inside(body, _STEP))][-1]
                    row = visible(_values(body, _ITEM))
                    moments += [(key, step, value) for key, value in row.items()]
                    count += 1
                elif number == _EXIT:
                    state = "finished" if wire.integer(body, 1) == 0 else "crashed"
    return tracked_run(name, state, visible(settings), moments, visible(results))


def _values(body: bytes, number: int) -> dict[str, Any]:
    """Key → value of the items in a field."""
    found: dict[str, Any] = {}
    for item in wire.inside(body, number):
        nested = [part.decode("utf-8", "replace") for part in wire.inside(item, _NESTED)]
        key = "/".join(nested) or wire.text(item, _KEY)
        try:
            found[key] = read_json(wire.text(item, _VALUE) or "null")
        except ValueError:
            continue
    return found
