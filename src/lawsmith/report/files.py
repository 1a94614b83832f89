"""The files that a report was made from, by checksum."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from lawsmith.datasets import entry, locate, names
from lawsmith.errors import LawsmithError
from lawsmith.report.source import File


def file_of(path: Path) -> File | None:
    """A file's checksum; None where it cannot be read."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    return File(path.name, hashlib.sha256(data).hexdigest(), len(data))


def files_of(paths: Iterable[Path]) -> tuple[File, ...]:
    """The checksums of those that can be read."""
    return tuple(found for path in paths if (found := file_of(path)) is not None)


def study_files(source: str) -> tuple[File, ...]:
    """The files of a table or of a catalogued study; a synthetic one has none."""
    base = source.partition(":")[0]
    if base not in names():
        return files_of([Path(source)])
    known = entry(base)
    if known.synthetic:
        return ()
    try:
        return files_of(locate(known))
    except LawsmithError:
        return ()
