"""NePS's folders of trials, read without NePS: configs/config_…/config.yaml and report.yaml.

The loss is what NePS minimises; a report that names the loss otherwise (older versions: result.yaml
with loss) is read too.
"""

from __future__ import annotations

from pathlib import Path

from lawsmith.datasets.sources.flat_yaml import read_flat
from lawsmith.datasets.sources.tracked import TrackedRun
from lawsmith.files import read_bytes

_LOSSES = ("objective_to_minimize", "loss")
_STATES = {"success": "finished"}


def find(folder: Path) -> list[Path]:
    """The trials of a study."""
    places = [folder / "configs", folder / "results", folder]
    return next((found for p in places if (found := sorted(p.glob("config_*/config.yaml")))), [])


def read_folder(folder: Path, _part: str) -> list[TrackedRun]:
    """Every trial; one without a report has no result yet."""
    return [_read_trial(path.parent) for path in find(folder)]


def _read_trial(folder: Path) -> TrackedRun:
    reports = [folder / name for name in ("report.yaml", "result.yaml")]
    report = next((read_flat(path) for path in reports if path.is_file()), None)
    state, results = folder / "state.txt", {}
    if report is not None:
        results["loss"] = next((report[name] for name in _LOSSES if name in report), None)
        costs = {name: report.get(name) for name in ("cost", "evaluation_duration")}
        results |= {name: cost for name, cost in costs.items() if cost is not None}
    word = "running" if report is None else "finished"
    if state.is_file():
        word = read_bytes(state, limit=100).decode("utf-8", "replace").strip().lower()
    settings = read_flat(folder / "config.yaml")
    return TrackedRun(folder.name, _STATES.get(word, word), settings, results)
