"""Find a catalogued table: in $LAWSMITH_DATA, then in the cache, then at its public address.

A bundled table is always read from the package. A download is checked, written under a temporary
name and renamed into place, so files in the cache are whole. The library prints nothing: progress
goes to the caller's function.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from lawsmith.datasets.catalogue import FOLDER, Entry, Source
from lawsmith.errors import LawsmithError
from lawsmith.files import reason, write_file

Progress = Callable[[str, int, int | None], None]  # file, bytes so far, total bytes if known

BUILT_IN = "tinylm and synthetic-demo are built in"
OFFLINE = f"without a network: {BUILT_IN}"
TIMEOUT_S = 30.0  # without an answer
MAX_BYTES = 64 * 2**20  # far above the largest table of the catalogue
_CHUNK = 2**16


def cache_dir() -> Path:
    """$LAWSMITH_CACHE, else lawsmith in $XDG_CACHE_HOME, else ~/.cache/lawsmith."""
    if own := os.environ.get("LAWSMITH_CACHE"):
        return Path(own).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "lawsmith"


def data_dir() -> Path | None:
    """$LAWSMITH_DATA, None if it is not set."""
    folder = os.environ.get("LAWSMITH_DATA")
    return Path(folder).expanduser() if folder else None


def locate(entry: Entry, *, progress: Progress | None = None) -> tuple[Path, ...]:
    """The files of ``entry`` on this machine, in the order of its sources; fetched if need be."""
    return tuple(locate_file(entry, source, progress) for source in entry.sources)


def present(entry: Entry) -> bool:
    """Whether every file of ``entry`` is on this machine already; nothing is fetched."""
    return all(any(p.is_file() for p in _places(entry, s)) for s in entry.sources)


def _places(entry: Entry, source: Source) -> list[Path]:
    """Where a file may be, best first; a download goes to the last place."""
    if entry.bundled:
        return [FOLDER / source.file]
    folders = [folder for folder in (data_dir(), cache_dir()) if folder is not None]
    return [folder / entry.folder / source.file for folder in folders]


def locate_file(entry: Entry, source: Source, progress: Progress | None) -> Path:
    """One file of ``entry`` on this machine, fetched if need be."""
    *given, last = _places(entry, source)
    for path in filter(Path.is_file, given):
        return _checked(path, source)
    if entry.bundled:
        if not last.is_file():
            hint = "install lawsmith again"
            raise LawsmithError(str(last), got="no file", want="the bundled table", hint=hint)
        return _checked(last, source)
    if last.is_file():
        with suppress(LawsmithError):  # a damaged file in the cache is fetched again
            return _checked(last, source)
    if source.url is None:
        hint, want = entry.obtain or _by_hand(source), _tried(entry, source)
        raise LawsmithError(entry.name, got="no table", want=want, hint=hint)
    try:
        data = _get(source.url, source.file, progress)
    except (OSError, http.client.HTTPException, ValueError) as error:
        where, hint = f"{entry.name}: download of {source.url}", f"{_by_hand(source)}; {OFFLINE}"
        got, want = _reason(error), _tried(entry, source)
        raise LawsmithError(where, got=got, want=want, hint=hint) from None
    if source.convert is not None:
        data = source.convert(data)
    _check(data, source, where=source.url)
    try:
        last.parent.mkdir(parents=True, exist_ok=True)
        write_file(last, data)
    except OSError as error:
        hint = "point $LAWSMITH_CACHE at a folder that can be written"
        raise LawsmithError(str(last), got=_reason(error), want="a cache", hint=hint) from None
    return last


def _checked(path: Path, source: Source) -> Path:
    _check(path.read_bytes(), source, where=str(path))
    return path


def _check(data: bytes, source: Source, *, where: str) -> None:
    """Refuse data whose length or checksum is not the known one."""
    digest = hashlib.sha256(data).hexdigest()
    if source.n_bytes not in (None, len(data)):
        got, want = f"{len(data)} bytes", f"{source.n_bytes}"
    elif source.sha256 not in (None, digest):
        got, want = f"sha256 {digest[:12]}…", f"{str(source.sha256)[:12]}…"
    else:
        return
    raise LawsmithError(where, got=got, want=want, hint="not the published file")


def _get(url: str, file: str, progress: Progress | None) -> bytes:
    """All bytes at ``url``."""
    data = bytearray()
    with urllib.request.urlopen(url, timeout=TIMEOUT_S) as response:
        length = response.headers.get("Content-Length")
        total = int(length) if length is not None else None
        while chunk := response.read(_CHUNK):
            data += chunk
            if len(data) > MAX_BYTES:
                raise OSError(f"more than {MAX_BYTES // 2**20} MB")
            if progress is not None:
                progress(file, len(data), total)
    if total is not None and len(data) != total:
        raise OSError(f"the connection closed after {len(data)} of {total} bytes")
    return bytes(data)


def _tried(entry: Entry, source: Source) -> str:
    """Where the file was looked for."""
    data = "$LAWSMITH_DATA" if data_dir() else "$LAWSMITH_DATA, which is not set,"
    return f"{entry.folder}/{source.file} in {data} or in the cache {cache_dir()}"


def _by_hand(source: Source) -> str:
    return f"put {source.file} there, or give its path instead of the name"


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"HTTP {error.code} {error.reason}"
    cause = getattr(error, "reason", error)  # of a URLError
    return reason(cause) if isinstance(cause, Exception) else str(cause)
