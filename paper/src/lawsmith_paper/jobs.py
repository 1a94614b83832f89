"""Jobs: one piece of a benchmark, named by everything that decides its result.

A job's key is a digest of its settings, the data of its study and the code that computes it. So a
result on disk is either what the job would compute now, or has another name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import lawsmith
from lawsmith.datasets import Study

Json = dict[str, Any]

# What shows results cannot change them, nor can what runs live studies.
NO_PART = (
    *("__main__.py", "api", "charts", "cli", "report"),
    *("integrations", "journal", "runners", "spec", "study"),
)
# What has a part in every kind of result beside the kind's own file or folder.
PART = ("records.py", "replays.py", "rivals", "studies")


@dataclass(frozen=True, eq=False)
class Job:
    """Work that yields lines of results.

    kind      which function does it, a key of `kinds.KINDS`
    settings  plain JSON values, all that the function is told
    data      digest of the study it reads
    weight    expected seconds, roughly, for the progress bar; not part of the key
    """

    kind: str
    settings: Mapping[str, Any]
    data: str
    weight: float = 1.0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Job) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)

    @cached_property
    def key(self) -> str:
        """24 hexadecimal digits."""
        identity = [self.kind, dict(self.settings), self.data, code_version(self.kind)]
        text = json.dumps(identity, sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def header(self) -> Json:
        """What stands at the head of the job's file, as it is read back: a tuple as a list."""
        head = {
            "key": self.key,
            "kind": self.kind,
            "settings": dict(self.settings),
            "data": self.data,
            "version": lawsmith.__version__,
            "code": code_version(self.kind),
        }
        read_back: Json = json.loads(json.dumps(head, allow_nan=False))
        return read_back


@cache
def code_version(kind: str) -> str:
    """12 digits of a digest of the source that decides a result of that kind."""
    digest = hashlib.sha256()
    ours = (*PART, kind, f"{kind}.py")
    for package in ("lawsmith", "lawsmith_paper"):
        for name, source in sorted(_sources(files(package), "")):
            part = name.split("/")[0]
            if part not in NO_PART if package == "lawsmith" else part in ours:
                digest.update(f"{package}/{name}".encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def _sources(folder: Traversable, prefix: str) -> list[tuple[str, Traversable]]:
    """(path below the package, file) of every Python source."""
    found = []
    for item in folder.iterdir():
        name = f"{prefix}{item.name}"
        if item.is_dir() and item.name != "__pycache__":
            found += _sources(item, f"{name}/")
        elif item.name.endswith(".py"):
            found.append((name, item))
    return found


def data_digest(study: Study) -> str:
    """12 digits of a digest of a study's configurations, costs and losses, in their order."""
    digest = hashlib.sha256()
    for name in study.grid.names:
        digest.update(name.encode() + b"\0" + study.grid.column(name).tobytes())
    runs = study.runs
    for part in (study.grid.C, study.target, runs.index, runs.loss, runs.state):
        digest.update(part.tobytes())
    return digest.hexdigest()[:12]
