"""TensorBoard's event files, with TensorBoard (pip install 'lawsmith[tensorboard]').

A folder with event files is a run: its scalars, and the settings of the HParams tab. PyTorch's
add_hparams writes the settings into a folder of its own below the run, which is joined to it.
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


def find(folder: Path) -> list[Path]:
    """The folders with event files."""
    return sorted({path.parent for path in folder.rglob(f"*{EVENTS}*") if path.is_file()})


def read_folder(folder: Path) -> list[TrackedRun]:
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
    results = {name.removeprefix("hparam/"): v for name, v in run.results.items()}
    return replace(run, results=results)


def read_files(paths: Sequence[Path], name: str) -> TrackedRun:
    """The run of some event files."""
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
                        moments.append((value.tag, event.step, x.item()))
    return tracked_run(name, state, settings, moments)


def _session(data: Any, settings: dict[str, Any]) -> str:
    """Settings of a session that starts, or the state of one that ends."""
    if data.HasField("session_start_info"):
        for name, value in data.session_start_info.hparams.items():
            kind = value.WhichOneof("kind")
            settings[name] = None if kind in (None, "null_value") else getattr(value, kind)
        return "running"
    return _STATES.get(data.session_end_info.status, "")
