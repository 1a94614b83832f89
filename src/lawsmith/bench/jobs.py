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
    *("__main__.py", "bench", "charts", "cli", "report"),
    *("integrations", "journal", "runners", "spec", "study"),
)


@dataclass(frozen=True, eq=False)
class Job:
    """Work that yields lines of results.

    kind      which function does it, a key of `bench.kinds.KINDS`
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
        """What stands at the head of the job's file."""
        return {
            "key": self.key,
            "kind": self.kind,
            "settings": dict(self.settings),
            "data": self.data,
            "version": lawsmith.__version__,
            "code": code_version(self.kind),
        }


@cache
def code_version(kind: str) -> str:
    """12 digits of a digest of the source that decides a result: the package without what has no
    part in one, and the file or folder of the kind itself where it has one."""
    digest = hashlib.sha256()
    package = files("lawsmith")
    for name, source in sorted(_sources(package, "")):
        own = name == f"bench/{kind}.py" or name.startswith(f"bench/{kind}/")
        if own or name.split("/")[0] not in NO_PART:
            digest.update(name.encode() + b"\0" + source.read_bytes() + b"\0")
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
