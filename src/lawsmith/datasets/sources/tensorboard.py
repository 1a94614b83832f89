"""TensorBoard's event files, read without TensorBoard: scalars, and settings of its HParams tab.

A folder with event files is a run. PyTorch's add_hparams writes the settings into a folder of its
own below the run, which is joined to it. Lightning keeps settings in hparams.yaml beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lawsmith.datasets.sources import wire
from lawsmith.datasets.sources.flat_yaml import read_flat
from lawsmith.datasets.sources.tracked import Moment, TrackedRun, tracked_run

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


def _run_in(place: Path, root: Path) -> TrackedRun:
    paths = sorted(path for path in place.glob(f"*{EVENTS}*") if path.is_file())
    run = read_files(paths, str(place.relative_to(root)) if place != root else place.name)
    yaml = place / "hparams.yaml"
    settings = {**read_flat(yaml), **run.settings} if yaml.is_file() else run.settings
    results = {name.removeprefix("hparam/"): v for name, v in run.results.items()}
    return replace(run, settings=settings, results=results)


def read_files(paths: Sequence[Path], name: str) -> TrackedRun:
    """The run of some event files."""
    settings: dict[str, Any] = {}
    moments: list[Moment] = []
    state = ""
    for path in paths:
        with wire.whole_file(path) as data:
            for event in wire.tf_records(data):
                step = wire.integer(event, _STEP)
                for value in wire.inside(event, _SUMMARY, _VALUE):
                    plugin = next(wire.inside(value, _METADATA, 1), b"")
                    if wire.text(plugin, 1) == "hparams":
                        content = next(wire.inside(plugin, 2), b"")
                        state = _hparams(content, settings) or state
                    else:
                        moments.append((wire.text(value, _TAG), step, _scalar(value)))
    return tracked_run(name, state, settings, moments)


def _scalar(value: bytes) -> float | None:
    """A number of a summary: written as such, or as a tensor of one number."""
    simple = next(wire.inside(value, _SIMPLE), None)
    if simple is not None:
        return wire.real(simple)
    tensor = next(wire.inside(value, _TENSOR), None)
    if tensor is None:
        return None
    # float and double: bytes of a number, and the field of a list of them
    size, listed = {1: (4, 5), 2: (8, 6)}.get(wire.integer(tensor, 1), (None, 4))
    content = b"".join(wire.inside(tensor, listed)) or b"".join(wire.inside(tensor, 4))
    return wire.real(content) if size == len(content) else None


def _hparams(content: bytes, settings: dict[str, Any]) -> str:
    """Settings of a session that starts, or the state of one that ends."""
    state = ""
    for start in wire.inside(content, 3):
        state = "running"
        for entry in wire.inside(start, 1):
            held = next(wire.inside(entry, 2), b"")
            settings[wire.text(entry, 1)] = _plain(dict(wire.fields(held)))
    for end in wire.inside(content, 4):
        state = _STATES.get(wire.integer(end, 1), "")
    return state


def _plain(held: Mapping[int, int | bytes]) -> Any:
    """A google.protobuf.Value: a number, a text or a truth value."""
    if isinstance(number := held.get(2), bytes) and len(number) == 8:
        return wire.real(number)
    if isinstance(words := held.get(3), bytes):
        return words.decode("utf-8", "replace")
    return bool(held[4]) if 4 in held else None
