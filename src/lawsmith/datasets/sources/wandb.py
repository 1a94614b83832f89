"""Runs of a project on a W&B server, and W&B's files of runs (offline-run-…/run-….wandb).

Both need W&B's library (pip install 'lawsmith[wandb]'). A file is a log of LevelDB: blocks of
32 KiB, whose records may continue in the next block. A record that the end of the file cuts off is
still being written and is left out. Checksums are not compared.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from ssl import SSLError
from threading import Thread
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

from lawsmith.datasets.sources.tracked import (
    MOST_RUNS,
    Moment,
    TrackedRun,
    library,
    tracked_run,
    visible,
)
from lawsmith.errors import LawsmithError
from lawsmith.files import read_bytes, reason
from lawsmith.numbers import read_json

TIMEOUT = 60  # seconds without an answer
CONNECT = 10  # seconds to reach the server
PAGE = 200  # runs in one answer of the server
MAX_BYTES = 512 * 2**20  # of one run's file
_BLOCK = 32768  # bytes, of LevelDB's format


def read_runs(project: str, *, histories: bool) -> list[TrackedRun]:
    """The runs of ENTITY/PROJECT. A history costs one more request, so histories are optional."""
    with library("wandb", f"wandb:{project}", "a W&B server"):
        try:
            return list(_timely(_runs(project, histories=histories)))
        except ImportError:
            raise
        except Exception as error:  # of the network, the key, the project
            raise _failed(project, error) from None


def _runs(project: str, *, histories: bool) -> Iterator[TrackedRun | None]:
    """Each run; None after each row of a history, to show that the server still answers."""
    import wandb

    _reach(os.environ.get("WANDB_BASE_URL") or wandb.setup().settings.base_url)
    # Not lazy: a page then includes settings and results, without one request for each run.
    pages = wandb.Api(timeout=TIMEOUT).runs(project, per_page=PAGE, lazy=False)
    for run in islice(pages, MOST_RUNS):
        moments: list[Moment] = []
        for row in _rows(run) if histories else ():
            moments += [(name, row.get("_step"), value) for name, value in visible(row).items()]
            yield None
        summary = visible(getattr(run.summary, "_json_dict", run.summary))
        name = str(run.name or run.id)
        yield tracked_run(name, str(run.state), visible(run.config), moments, summary)


def _rows(run: Any) -> Iterator[Mapping[str, Any]]:
    """The history of a run; W&B raises an error for a run without one."""
    try:
        yield from run.scan_history(use_cache=False)
    except Exception as error:
        if "history found" not in str(error):
            raise


def _reach(server: str) -> None:
    """Fail at once without a server; W&B's library would retry for a minute."""
    try:
        urlopen(server, timeout=CONNECT).close()
    except HTTPError:
        return  # the server answers, even without a page at this address
    except OSError as error:
        why = getattr(error, "reason", error)
        if not isinstance(why, SSLError):  # W&B's library may accept the certificate
            raise ConnectionError(f"no connection to {server} ({reason(why)})") from None


def _timely(runs: Iterator[TrackedRun | None]) -> Iterator[TrackedRun]:
    """The runs; TimeoutError if nothing arrives for TIMEOUT + CONNECT seconds.

    W&B's library waits for a history without limit, so it runs in a thread of its own.
    """
    results: SimpleQueue[TrackedRun | Exception | None] = SimpleQueue()

    def produce() -> None:
        try:
            for run in runs:
                results.put(run)
            results.put(StopIteration())
        except Exception as error:
            results.put(error)

    Thread(target=produce, daemon=True).start()
    while True:
        try:
            value = results.get(timeout=TIMEOUT + CONNECT)
        except Empty:
            raise TimeoutError from None
        match value:
            case TrackedRun():
                yield value
            case StopIteration():
                return
            case Exception():
                raise value


def _failed(project: str, error: Exception) -> LawsmithError:
    got = reason(error)
    want = "a project that can be read, wandb:ENTITY/PROJECT"
    hint = "log in with wandb login, or export the runs as CSV on their page"
    if isinstance(error, TimeoutError) or "did not respond in time" in got:
        got, want = f"no answer within {TIMEOUT} s", "an answer of the W&B server"
        hint = "try again, or export the runs as CSV on their page"
    elif isinstance(error, ConnectionError):
        want, hint = "a W&B server", "check the network and WANDB_BASE_URL"
    return LawsmithError(f"wandb:{project}", got=got, want=want, hint=hint)


def find(place: Path) -> list[Path]:
    """The files of runs below a folder (latest-run is a link to one), or the file itself."""
    if place.is_file():
        return [place] if place.suffix == ".wandb" else []
    return sorted(path for path in place.rglob("*.wandb") if "latest-run" not in path.parts)


def read_folder(place: Path) -> list[TrackedRun]:
    """The runs of all files that `find` finds."""
    return [_read_file(path) for path in find(place)]


def _read_file(path: Path) -> TrackedRun:
    """The run of one file."""
    name, state = path.stem.removeprefix("run-"), "running"
    settings: dict[str, Any] = {}
    results: dict[str, Any] = {}
    moments: list[Moment] = []
    count = 0
    with library("wandb", str(path), "a whole file of a W&B run"):
        from wandb.proto.wandb_internal_pb2 import Record

        for data in _records(read_bytes(path, limit=MAX_BYTES)):
            record = Record.FromString(data)
            match record.WhichOneof("record_type"):
                case "run":
                    name = record.run.display_name or record.run.run_id
                    settings |= _values(record.run.config.update)
                case "config":
                    settings |= _values(record.config.update)
                case "summary":
                    results |= _values(record.summary.update)
                    for key in _values(record.summary.remove):
                        results.pop(key, None)
                case "history":
                    history = record.history
                    step = history.step.num if history.HasField("step") else count
                    row = visible(_values(history.item))
                    moments += [(key, step, value) for key, value in row.items()]
                    count += 1
                case "exit":
                    state = "finished" if record.exit.exit_code == 0 else "crashed"
    return tracked_run(name, state, visible(settings), moments, visible(results))


def _records(data: bytes) -> Iterator[bytes]:
    """The whole records of a file."""
    if not data.startswith(b":W&B"):
        raise ValueError("bytes that are not W&B's")
    place, parts = 7, b""
    while place + 7 <= len(data):
        left = _BLOCK - place % _BLOCK
        if left < 7:  # the end of a block is filled with zeros
            place += left
            continue
        size, kind = struct.unpack_from("<HB", data, place + 4)
        if place + 7 + size > len(data):
            return
        part = data[place + 7 : place + 7 + size]
        place += 7 + size
        parts = part if kind in (1, 2) else parts + part  # whole, first, middle, last
        if kind in (1, 4):
            yield parts


def _values(items: Iterable[Any]) -> dict[str, Any]:
    """Key → value of the items of a record."""
    values: dict[str, Any] = {}
    for item in items:
        key = "/".join(item.nested_key) or item.key
        try:
            values[key] = read_json(getattr(item, "value_json", "") or "null")
        except ValueError:
            continue
    return values
