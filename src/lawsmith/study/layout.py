"""Where a study keeps its files: all beside its study file, none named by anything but lawsmith."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lawsmith.errors import LawsmithError
from lawsmith.files import check_inside, reason, write_file


@dataclass(frozen=True)
class Layout:
    """The files of the study whose file is ``file``.

    study.toml  journal.jsonl  driver.lock
    trials/t0001/     the first trial: what its attempts share, such as a trunk's checkpoints
    trials/t0001/1/   its first attempt: config.json, log.txt, result.json, …
    """

    file: Path

    @property
    def folder(self) -> Path:
        return self.file.parent

    @property
    def journal(self) -> Path:
        return self.folder / "journal.jsonl"

    @property
    def lock(self) -> Path:
        return self.folder / "driver.lock"

    def trial(self, trial: str) -> Path:
        """The folder of a trial; the names of trials are checked when a journal is read."""
        return self.folder / "trials" / trial

    def attempt(self, trial: str, attempt: int) -> Path:
        """The folder of an attempt."""
        return self.trial(trial) / str(attempt)

    @classmethod
    def of(cls, file: str | Path) -> Layout:
        """The layout around a study file, absolute: runs have other working folders."""
        return cls(Path(os.path.abspath(file)))


def make_folder(folder: Path, home: Path, files: Mapping[str, Mapping[str, Any]]) -> None:
    """The folder of an attempt with its JSON files, inside ``home``; made again it is the same."""
    check_inside(folder, home)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, values in files.items():
            path = folder / name
            if path.is_symlink() or not path.exists():
                write_file(path, json.dumps(dict(values), indent=1))
    except OSError as error:
        want = "a folder that can be written"
        hint = "nothing on record was lost; make room or allow writing, then run again"
        raise LawsmithError(str(folder), got=reason(error), want=want, hint=hint) from None
