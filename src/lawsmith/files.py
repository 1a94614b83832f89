"""Safe reading and writing of files.

Only regular files are read: a named pipe, a device or a socket would make a reader wait for ever.
A file is written under a temporary name, synced and renamed into place, so it is whole or absent;
a link at that place is replaced, not followed. No link leads out of the folder of a study.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from lawsmith.errors import LawsmithError

LINK_HINT = "move the whole study instead: its folder may be a link itself"


@contextmanager
def open_file(path: str | Path, flags: int = os.O_RDONLY) -> Iterator[IO[bytes]]:
    """A regular file, unbuffered; OSError at once for anything else."""
    # Without O_NONBLOCK, opening a named pipe waits for its other end.
    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK, 0o666)
    try:
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(kind):
            raise OSError(errno.EINVAL, f"{file_kind(kind)}, no regular file", str(path))
    except OSError:
        os.close(descriptor)
        raise
    writing = flags & (os.O_RDWR | os.O_WRONLY)
    with os.fdopen(descriptor, "r+b" if writing else "rb", buffering=0) as file:
        yield file


def read_bytes(path: str | Path, *, limit: int, offset: int = 0) -> bytes:
    """At most ``limit`` + 1 bytes of a regular file: the extra byte shows that there are more."""
    parts: list[bytes] = []
    left = limit + 1
    with open_file(path) as file:
        file.seek(offset)
        while left > 0 and (part := file.read(min(left, 2**24))):
            parts.append(part)
            left -= len(part)
    return b"".join(parts)


def read_tail(path: str | Path, *, limit: int) -> bytes:
    """The last ``limit`` bytes of a regular file."""
    with open_file(path) as file:
        start = max(0, file.seek(0, os.SEEK_END) - limit)
    return read_bytes(path, limit=limit, offset=start)[:limit]


def write_file(path: str | Path, data: str | bytes) -> None:
    """Write a file, whole or not at all; it is on disk when this returns."""
    path = Path(path)
    new = path.with_name(path.name + ".new")
    content = data.encode("utf-8") if isinstance(data, str) else data
    with suppress(FileNotFoundError):
        new.unlink()  # left by a writer that died, or a link
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = os.open(new, flags, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError:
        with suppress(OSError):
            new.unlink()
        raise


def write_output(path: str | Path, data: str | bytes, *, where: str) -> Path:
    """Write a file that the user named, and its folder; ``where`` is the option in errors."""
    file = Path(path)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_file(file, data)
    except (OSError, ValueError) as error:
        got = f"{file}: {reason(error)}"
        raise LawsmithError(where, got=got, want="a file that can be written") from None
    return file


def check_inside(path: Path, folder: Path) -> Path:
    """``path``, if no link on the way to it leads out of ``folder``."""
    real, home = os.path.realpath(path), os.path.realpath(folder)
    if os.path.commonpath([real, home]) != home:
        got = f"a symbolic link to {real}"
        want = f"a place inside {folder}"
        raise LawsmithError(str(path), got=got, want=want, hint=LINK_HINT)
    return path


def check_disk_space(folder: Path) -> None:
    """Raise an error if the disk of ``folder`` is full: a block is written and deleted."""
    probe = folder / f".room.{os.getpid()}"
    try:
        write_file(probe, b"\0" * 4096)
    except OSError as error:
        hint = "runs under way go on; make room, then run again"
        want = "a disk with room"
        raise LawsmithError(str(folder), got=reason(error), want=want, hint=hint) from None
    finally:
        with suppress(OSError):
            probe.unlink()


def reason(error: Exception) -> str:
    """What went wrong, on one line of at most 160 letters."""
    if getattr(error, "errno", None) == errno.ELOOP:
        return "a symbolic link"
    text = " ".join(str(getattr(error, "strerror", None) or error).split())
    return text[:160] or type(error).__name__


def file_kind(mode: int) -> str:
    """The kind of a file that is not regular, from its mode."""
    kinds = {stat.S_ISFIFO: "a named pipe", stat.S_ISSOCK: "a socket"}
    return next((name for is_kind, name in kinds.items() if is_kind(mode)), "a device")
