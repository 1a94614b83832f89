"""Where a corpus' documents come from: the kernel's package, or a folder of sources.

The kernel: C sources, headers, assembler and documentation of every top folder but drivers. A
folder: its files of some suffixes, in the order of their names; Python's own standard library is
one that every machine has. Files over 400 kB, or not UTF-8, are in neither.
"""

from __future__ import annotations

import os
import sysconfig
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from errors import TinylmError

SUFFIXES = (".c", ".h", ".S", ".rst", ".txt")
LEFT_OUT = "drivers"
# Not written by Python's developers, or not there on every system: many leave the tests out.
FOLDERS_LEFT_OUT = frozenset(("site-packages", "dist-packages", "test", "tests", "idle_test"))
LARGEST_FILE = 400_000
BETWEEN = "\0"  # between documents that are packed; no source file has one


def wanted(path: str, size: int) -> bool:
    """Whether a file of the archive, named with its leading folder, belongs to the corpus."""
    parts = PurePosixPath(path).parts[1:]
    return (
        len(parts) > 1
        and parts[0] != LEFT_OUT
        and parts[-1].endswith(SUFFIXES)
        and 0 < size <= LARGEST_FILE
    )


def archive_documents(archive: Path) -> Iterator[str]:
    """The documents of the kernel's archive, in its order."""
    if not archive.is_file():
        raise TinylmError(f"no archive at {archive}; see README.md for the package to install")
    with tarfile.open(archive) as tar:
        for member in tar:
            file = tar.extractfile(member) if member.isfile() else None
            if file is None or not wanted(member.name, member.size):
                continue
            text = _text(file.read())
            if text is not None:
                yield text


def folder_documents(folder: Path, suffixes: Sequence[str]) -> Iterator[str]:
    """The documents below a folder, without its tests and what was installed into it."""
    if not folder.is_dir():
        raise TinylmError(f"no folder at {folder}")
    for path in _files(folder):
        if path.name.endswith(tuple(suffixes)) and 0 < path.stat().st_size <= LARGEST_FILE:
            text = _text(path.read_bytes())
            if text is not None:
                yield text


def standard_library() -> Path:
    """The folder of the sources of this Python's own library."""
    return Path(sysconfig.get_paths()["stdlib"])


def _files(folder: Path) -> list[Path]:
    """Sorted by their names below the folder, so that every machine has the same order."""
    found = []
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in FOLDERS_LEFT_OUT]
        found += [path for name in names if (path := Path(here, name)).is_file()]
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())


def _text(content: bytes) -> str | None:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    return None if BETWEEN in text else text
