"""Trials of NePS, read without NePS: configs/config_…/config.yaml and report.yaml.

The loss is the objective that NePS minimises. Older versions write it as loss in result.yaml.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lawsmith.datasets.sources.tracked import TrackedRun
from lawsmith.files import read_bytes
from lawsmith.numbers import as_float

MAX_BYTES = 16 * 2**20  # of one report; reports have a few kilobytes

_LOSSES = ("objective_to_minimize", "loss")
_STATES = {"success": "finished"}
_WORDS: dict[str, Any] = {"null": None, "~": None, "": None, "true": True, "false": False}
_WORDS |= {".nan": float("nan"), ".inf": float("inf"), "-.inf": float("-inf")}


def find(folder: Path) -> list[Path]:
    """The configuration files of a study's trials."""
    places = [folder / "configs", folder / "results", folder]
    trials = (sorted(place.glob("config_*/config.yaml")) for place in places)
    return next(filter(None, trials), [])


def read_folder(folder: Path) -> list[TrackedRun]:
    """All trials; one without a report has no result yet."""
    return [_read_trial(path.parent) for path in find(folder)]


def _read_trial(folder: Path) -> TrackedRun:
    reports = [folder / name for name in ("report.yaml", "result.yaml")]
    report = next((_flat(path) for path in reports if path.is_file()), None)
    state, results = folder / "state.txt", {}
    if report is not None:
        results["loss"] = next((report[name] for name in _LOSSES if name in report), None)
        costs = {name: report.get(name) for name in ("cost", "evaluation_duration")}
        results |= {name: cost for name, cost in costs.items() if cost is not None}
    word = "running" if report is None else "finished"
    if state.is_file():
        word = read_bytes(state, limit=100).decode("utf-8", "replace").strip().lower()
    settings = _flat(folder / "config.yaml")
    return TrackedRun(folder.name, _STATES.get(word, word), settings, results)


def _flat(path: Path) -> dict[str, Any]:
    """The ``key: value`` lines of a file; nested and multi-line values are left out."""
    data = read_bytes(path, limit=MAX_BYTES)
    entries: dict[str, Any] = {}
    for line in data[:MAX_BYTES].decode("utf-8", "replace").splitlines():
        key, colon, value = line.partition(":")
        if not colon or line[:1] in (" ", "\t", "#", "-", "?", "{", "[", "!", "%"):
            continue
        if value and not value.startswith(" "):
            continue  # a word with a colon is not a key
        entries[_unquoted(key.strip())] = _value(value.split(" #", 1)[0].strip())
    return entries


def _value(word: str) -> Any:
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    number = None if word.lower().lstrip("+-") in ("nan", "inf", "infinity") else as_float(word)
    return _unquoted(word) if number is None else number


def _unquoted(word: str) -> str:
    quoted = len(word) > 1 and word[0] == word[-1] and word[0] in "'\""
    return word[1:-1] if quoted else word
