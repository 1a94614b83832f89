"""Files as lawsmith reads and writes them: only regular ones, whole or not at all, never through a
link out of the folder they belong to.

A named pipe, a device or a socket where a file should be would make a reader wait for ever, so
they are refused. A file is written beside its place, synced and renamed into it: a link that lies
there is replaced and not followed.
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
    """A regular file, unbuffered; OSError for anything else, at once and without waiting."""
    # Without O_NONBLOCK a named pipe waits for its other end before it can be looked at.
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
    """At most ``limit`` + 1 bytes of a regular file, so that a caller sees that there are more."""
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
    """Put a file in place: as a whole or not at all, on disk when this returns."""
    path = Path(path)
    new = path.with_name(path.name + ".new")
    content = data.encode("utf-8") if isinstance(data, str) else data
    with suppress(FileNotFoundError):
        new.unlink()  # of a writer that died, or a link that somebody put there
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
    """Write a file that a person named, in a folder that is made if need be; ``where`` names it."""
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
    """Raise where the disk of ``folder`` takes no more: a block is written and taken back."""
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
    """What a file that is no regular one is, from its mode."""
    kinds = {stat.S_ISFIFO: "a named pipe", stat.S_ISSOCK: "a socket"}
    return next((name for is_kind, name in kinds.items() if is_kind(mode)), "a device")
