"""The journal: an append-only file of JSON lines, fsynced, read by many and changed one at a time.

A change is a transaction: lock, read what others wrote, decide, append, fsync, unlock. Lines are
written in one call; what a crash tears off is the last line alone, which readers skip and the next
writer cuts off.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from lawsmith.errors import LawsmithError
from lawsmith.files import open_file, reason
from lawsmith.journal.events import VERSION, Event, Kind, check, parse, write_line
from lawsmith.journal.fold import Ledger

MAX_BYTES = 2**30  # some five million events, a hundred times what the largest study has
BLANK = b"\0 \t\r"  # what a line without an event may have


@dataclass
class Journal:
    """A journal on disk and the ledger of what was read of it so far.

    torn   a line was cut short by a crash: readers skip it
    """

    path: Path
    ledger: Ledger = field(default_factory=Ledger)
    torn: bool = False
    _offset: int = 0
    _lines: int = 0

    def refresh(self) -> Ledger:
        """The ledger with all whole lines of the file."""
        try:
            with open_file(self.path) as file:
                self._read(file)
                if self.torn:
                    # Or only half written so far: whoever holds the lock is waited for.
                    fcntl.flock(file, fcntl.LOCK_SH)
                    self._read(file)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise _unusable(self.path, error) from None
        return self.ledger

    def update(self, decide: Callable[[Ledger], Sequence[Event]]) -> list[Event]:
        """Append what ``decide`` makes of the ledger, nobody else writing in between.

        Nothing is written where ``decide`` raises, and a line that cannot be written whole (a full
        disk) is taken back.
        """
        with self._locked() as file:
            self._read(file)
            events = list(decide(self.ledger))
            if events:
                self._append(file, events)
        return events

    @contextmanager
    def _locked(self) -> Iterator[IO[bytes]]:
        try:
            with open_file(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW) as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                yield file
        except OSError as error:
            raise _unusable(self.path, error) from None

    def _read(self, file: IO[bytes]) -> None:
        """Take in the whole lines behind what was read before."""
        size = os.fstat(file.fileno()).st_size
        if size > MAX_BYTES:
            raise LawsmithError(str(self.path), got=f"{size} bytes", want="a journal below 1 GB")
        if size < self._offset:
            hint = "was it edited while lawsmith was at work? start again"
            raise LawsmithError(str(self.path), got="a file that became shorter", hint=hint)
        file.seek(self._offset)
        *whole, rest = file.read().split(b"\n")
        self._take(whole)
        # A last line without its end is torn, unless it is all there: an editor may leave it so.
        has_text = bool(rest.strip(BLANK))
        self.torn = has_text and parse(rest) is None
        if has_text and not self.torn:
            self._take([rest])
            self._offset -= 1

    def _take(self, lines: Sequence[bytes]) -> None:
        """Take in lines, each of which has an end."""
        for line in lines:
            self._lines += 1
            values = parse(line)
            where = f"{self.path}: line {self._lines}"
            if values is not None:
                if self.ledger.n_events == 0:
                    _check_first(values, where)
                self.ledger.add(check(values, where=where), where=where)
            elif line.strip(BLANK):
                got = repr(line[:60].decode("utf-8", "replace"))
                hint = "mend or delete the line; a copy of the file beforehand does no harm"
                raise LawsmithError(where, got=got, want="one JSON object", hint=hint)
            self._offset += len(line) + 1

    def _append(self, file: IO[bytes], events: Sequence[Event]) -> None:
        """Write and fsync the lines behind the last whole one, then take them in."""
        if self.ledger.n_events == 0:
            _check_first(dict(events[0]), str(self.path))
        text = b"".join(write_line(check(dict(e), where=str(self.path))) for e in events)
        start = self._offset
        lead = b"\n" if start and _byte_before(file, start) != b"\n" else b""
        try:
            file.truncate(start)  # cuts off a torn line
            file.seek(start)
            _write_all(file, lead + text)
            os.fsync(file.fileno())
            if start == 0:
                _sync_folder(self.path.parent)
        except OSError as error:
            _take_back(file, start)
            raise _unusable(self.path, error) from None
        self._offset = start + len(lead)
        self.torn = False
        self._take(text.split(b"\n")[:-1])


def _check_first(values: dict[str, object], where: str) -> None:
    """The first line says whose journal it is and of which version."""
    if values.get("event") != Kind.CREATED.value:
        got = repr(values.get("event"))
        raise LawsmithError(where, got=got, want="a first line with the event 'created'")
    version = values.get("version")
    if isinstance(version, int) and not isinstance(version, bool) and version > VERSION:
        got = f"a journal of version {version}"
        hint = "it was written by a newer lawsmith: update this one"
        raise LawsmithError(where, got=got, want=f"version {VERSION}", hint=hint)


def _write_all(file: IO[bytes], text: bytes) -> None:
    view = memoryview(text)
    while view:
        n = file.write(view)
        view = view[n or 0 :]


def _byte_before(file: IO[bytes], offset: int) -> bytes:
    file.seek(offset - 1)
    return file.read(1)


def _take_back(file: IO[bytes], start: int) -> None:
    """Cut off what was written of lines that did not fit."""
    try:
        file.truncate(start)
        os.fsync(file.fileno())
    except OSError:
        pass  # what stays is a torn line, which readers skip


def _sync_folder(folder: Path) -> None:
    """A new file is only safe once its folder is on disk as well."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unusable(path: Path, error: OSError) -> LawsmithError:
    hint = "nothing on record was lost; make room or allow writing, then run again"
    want = "a journal that can be written"
    return LawsmithError(str(path), got=reason(error), want=want, hint=hint)
