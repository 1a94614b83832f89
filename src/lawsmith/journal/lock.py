"""The lock of a study's driver: one at a time; a second one gets an error that names the first."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lawsmith.errors import LawsmithError
from lawsmith.files import open_file, reason
from lawsmith.numbers import read_json


@contextmanager
def driver_lock(path: Path) -> Iterator[None]:
    """Be the only driver; the system releases the lock when the process ends, however it ends."""
    try:
        with open_file(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW) as file:
            if not _taken(file.fileno()):
                hint = "wait for it, or stop it: its runs go on, and `lawsmith run` takes over"
                got = f"a study that {_holder(file.read(500))} is driving"
                raise LawsmithError(str(path.parent), got=got, hint=hint)
            _sign(file.fileno())
            yield
    except OSError as error:
        want = "a study folder that can be written"
        raise LawsmithError(str(path), got=reason(error), want=want) from None


def _taken(descriptor: int) -> bool:
    """Whether the lock could be had; tried again, since `driver_of` holds it for an instant."""
    for _ in range(5):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            time.sleep(0.02)
    return False


def driver_of(path: Path) -> str | None:
    """Who drives the study now; None if nobody does."""
    try:
        with open_file(path) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return _holder(file.read(500))
    except OSError:
        pass
    return None


def _sign(descriptor: int) -> None:
    """Who holds the lock; a full disk only costs a later reader the name."""
    text = json.dumps({"pid": os.getpid(), "host": socket.gethostname()})
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text.encode(), 0)
    except OSError:
        pass


def _holder(text: bytes) -> str:
    try:
        holder = read_json(text.decode("utf-8", "replace"))
        return f"process {int(holder['pid'])} on {str(holder['host'])[:100]}"
    except (ValueError, KeyError, TypeError, OverflowError):
        return "another process"
