"""TensorBoard's event files, read without TensorBoard: scalars, and settings of its HParams tab.

A folder with event files is a run. PyTorch's add_hparams writes the settings into a folder of its
own below the run, which is joined to it. Lightning keeps settings in hparams.yaml beside them.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lawsmith.datasets.sources import wire
from lawsmith.datasets.sources.flat_yaml import read_flat
from lawsmith.datasets.sources.tracked import History, TrackedRun, last_values
from lawsmith.files import read_bytes

MAX_BYTES = 512 * 2**20
EVENTS = "events.out.tfevents"
# Numbers of fields in event.proto, summary.proto, tensor.proto and hparams' plugin_data.proto.
_STEP, _SUMMARY, _VALUE, _TAG, _SIMPLE, _TENSOR, _METADATA = 2, 5, 1, 1, 2, 8, 9
_STATES = {1: "finished", 2: "failed", 3: "running"}


def find(folder: Path) -> list[Path]:
    """The folders with event files."""
    return sorted({path.parent for path in folder.rglob(f"*{EVENTS}*") if path.is_file()})


def read_folder(folder: Path, _part: str) -> list[TrackedRun]:
    """Every run below a folder, named by its place in it."""
    found = {place: _run_in(place, folder) for place in find(folder)}
    for place in sorted(found, reverse=True):
        parent = found.get(place.parent)
        below = [other for other in found if other.parent == place.parent]
        run = found[place]
        if parent is not None and run.settings and not parent.settings and len(below) == 1:
            settings, results = run.settings, {**parent.results, **run.results}
            state = run.state or parent.state
            found[place.parent] = replace(parent, state=state, settings=settings, results=results)
            del found[place]
    return list(found.values())


def read_file(path: Path) -> TrackedRun:
    """The run of one event file."""
    return _read_files([path], path.parent.name or path.name)


def _run_in(place: Path, root: Path) -> TrackedRun:
    paths = sorted(path for path in place.glob(f"*{EVENTS}*") if path.is_file())
    run = _read_files(paths, str(place.relative_to(root)) if place != root else place.name)
    yaml = place / "hparams.yaml"
    settings = {**read_flat(yaml), **run.settings} if yaml.is_file() else run.settings
    results = {name.removeprefix("hparam/"): v for name, v in run.results.items()}
    return replace(run, settings=settings, results=results)


def _read_files(paths: Sequence[Path], name: str) -> TrackedRun:
    history: History = {}
    settings: dict[str, Any] = {}
    state = ""
    for path in paths:
        state = _read_file(path, history, settings) or state
    for series in history.values():
        series.sort(key=lambda moment: moment[0])
    return TrackedRun(name, state, settings, last_values(history), history)


def _read_file(path: Path, history: History, settings: dict[str, Any]) -> str:
    """Add what a file says; the state of the run, '' where it does not say."""
    source, state = str(path), ""
    data = read_bytes(path, limit=MAX_BYTES)
    for event in wire.tf_records(data, source=source):
        step = float(wire.integer(event, _STEP, source=source))
        for value in wire.inside(event, _SUMMARY, _VALUE, source=source):
            plugin = next(wire.inside(value, _METADATA, 1, source=source), b"")
            if wire.text(plugin, 1, source=source) == "hparams":
                content = next(wire.inside(plugin, 2, source=source), b"")
                state = _hparams(content, settings, source) or state
                continue
            number = _scalar(value, source)
            if number is not None:
                history.setdefault(wire.text(value, _TAG, source=source), []).append((step, number))
    return state


def _scalar(value: bytes, source: str) -> float | None:
    """A number of a summary: written as such, or as a tensor of one number."""
    simple = next(wire.inside(value, _SIMPLE, source=source), None)
    if simple is not None:
        return wire.real(simple)
    tensor = next(wire.inside(value, _TENSOR, source=source), None)
    if tensor is None:
        return None
    kind = wire.integer(tensor, 1, source=source)
    size = {1: 4, 2: 8}.get(kind)  # float and double
    content = b"".join(wire.inside(tensor, {1: 5, 2: 6}.get(kind, 4), source=source))
    content = content or b"".join(wire.inside(tensor, 4, source=source))
    return wire.real(content) if size == len(content) else None


def _hparams(content: bytes, settings: dict[str, Any], source: str) -> str:
    """Settings of a session that starts, or the state of one that ends."""
    state = ""
    for start in wire.inside(content, 3, source=source):
        state = "running"
        for entry in wire.inside(start, 1, source=source):
            name = wire.text(entry, 1, source=source)
            held = next(wire.inside(entry, 2, source=source), b"")
            settings[name] = _plain(dict(wire.fields(held, source=source)))
    for end in wire.inside(content, 4, source=source):
        state = _STATES.get(wire.integer(end, 1, source=source), "")
    return state


def _plain(held: Mapping[int, int | bytes]) -> Any:
    """A google.protobuf.Value: a number, a text or a truth."""
    if isinstance(number := held.get(2), bytes) and len(number) == 8:
        return struct.unpack("<d", number)[0]
    if isinstance(words := held.get(3), bytes):
        return words.decode("utf-8", "replace")
    return bool(held[4]) if 4 in held else None
