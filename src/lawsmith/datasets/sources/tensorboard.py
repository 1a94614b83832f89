"""Event files of TensorBoard, read with TensorBoard (pip install 'lawsmith[tensorboard]').

A folder with event files is a run: its scalars, and the settings of the HParams tab. PyTorch's
add_hparams writes the settings to a folder below the run, which is joined to the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lawsmith.datasets.sources.tracked import Moment, TrackedRun, library, tracked_run

EVENTS = "events.out.tfevents"
_STATES = {1: "finished", 2: "failed", 3: "running"}
_FLOATS = (1, 2)  # DT_FLOAT and DT_DOUBLE of types.proto


def find(place: Path) -> list[Path]:
    """The event files below a folder, or the one that ``place`` is."""
    if place.is_file():
        return [place] if EVENTS in place.name else []
    return sorted(path for path in place.rglob(f"*{EVENTS}*") if path.is_file())


def read_folder(place: Path) -> list[TrackedRun]:
    """All runs below a folder, named by their path in it."""
    root = place if place.is_dir() else place.parent
    files: dict[Path, list[Path]] = {}
    for path in find(place):
        files.setdefault(path.parent, []).append(path)
    found = {folder: _read(paths, folder, root) for folder, paths in files.items()}
    for folder in sorted(found, reverse=True):
        run, parent = found[folder], found.get(folder.parent)
        below = [other for other in found if other.parent == folder.parent]
        if parent is not None and run.settings and not parent.settings and len(below) == 1:
            found[folder.parent] = replace(
                parent,
                state=run.state or parent.state,
                settings=run.settings,
                results={**parent.results, **run.results},
            )
            del found[folder]
    return list(found.values())


def _read(paths: Sequence[Path], folder: Path, root: Path) -> TrackedRun:
    """The run in the event files of a folder."""
    settings: dict[str, Any] = {}
    moments: list[Moment] = []
    state = ""
    for path in paths:
        with library("tensorboard", str(path), "an event file of TensorBoard"):
            from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
            from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData
            from tensorboard.util.tensor_util import make_ndarray

            for event in EventFileLoader(str(path)).Load():
                for value in event.summary.value:
                    plugin = value.metadata.plugin_data
                    if plugin.plugin_name == "hparams":
                        data = HParamsPluginData.FromString(plugin.content)
                        state = _session(data, settings) or state
                    elif (
                        value.tensor.dtype in _FLOATS
                        and (x := make_ndarray(value.tensor)).size == 1
                    ):
                        name = value.tag.removeprefix("hparam/")
                        moments.append((name, event.step, x.item()))
    name = str(folder.relative_to(root)) if folder != root else folder.name
    return tracked_run(name or paths[0].name, state, settings, moments)


def _session(data: Any, settings: dict[str, Any]) -> str:
    """Add the settings of a session that starts; the state of the run."""
    if data.HasField("session_start_info"):
        for name, value in data.session_start_info.hparams.items():
            kind = value.WhichOneof("kind")
            settings[name] = None if kind in (None, "null_value") else getattr(value, kind)
        return "running"
    return _STATES.get(data.session_end_info.status, "")
