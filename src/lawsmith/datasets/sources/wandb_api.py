"""Runs of a project on a W&B server, with W&B's library (pip install 'lawsmith[wandb]')."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import islice
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
    needed,
    tracked_run,
    visible,
)
from lawsmith.errors import LawsmithError
from lawsmith.files import reason

TIMEOUT = 60  # seconds without an answer
CONNECT = 10
PAGE = 200


def read_runs(project: str, *, histories: bool) -> list[TrackedRun]:
    """The runs of ENTITY/PROJECT; histories only where they are needed: each is a question."""
    try:
        return [run for run in _timely(_runs(project, histories=histories)) if run is not None]
    except ImportError:
        raise needed("wandb", f"wandb:{project}") from None
    except Exception as error:  # of the network, the key, the project: W&B names no common one
        raise _failed(project, error) from None


def _runs(project: str, *, histories: bool) -> Iterator[TrackedRun | None]:
    """Each run; None after each moment of a history, to show that the server answers."""
    import wandb

    _reach(os.environ.get("WANDB_BASE_URL") or wandb.setup().settings.base_url)
    # Not lazy: a page of runs has their settings and results, else each run is a further question.
    found = wandb.Api(timeout=TIMEOUT).runs(project, per_page=PAGE, lazy=False)
    for run in islice(found, MOST_RUNS):
        moments: list[Moment] = []
        for row in _rows(run) if histories else ():
            moments += [(name, row.get("_step"), value) for name, value in visible(row).items()]
            yield None
        summary = visible(getattr(run.summary, "_json_dict", run.summary))
        name = str(run.name or run.id)
        yield tracked_run(name, str(run.state), visible(run.config), moments, summary)


def _rows(run: Any) -> Iterator[Mapping[str, Any]]:
    """The moments of a run; W&B raises an error for a run that has none."""
    try:
        yield from run.scan_history(use_cache=False)
    except Exception as error:
        if "history found" not in str(error):
            raise


def _reach(server: str) -> None:
    """Fail at once where there is no server; W&B's library would try again for a minute."""
    try:
        urlopen(server, timeout=CONNECT).close()
    except HTTPError:
        return  # it answers, as most addresses do not have a page
    except OSError as error:
        why = getattr(error, "reason", error)
        if not isinstance(why, SSLError):  # W&B's library may know the certificate
            raise ConnectionError(f"no connection to {server} ({reason(why)})") from None


def _timely(runs: Iterator[TrackedRun | None]) -> Iterator[TrackedRun | None]:
    """The same values; TimeoutError after TIMEOUT seconds and a few without one.

    W&B's library waits for a history as long as it takes, so it works in a thread of its own.
    """
    given: SimpleQueue[TrackedRun | BaseException | None] = SimpleQueue()

    def give() -> None:
        try:
            for run in runs:
                given.put(run)
            given.put(StopIteration())
        except BaseException as error:
            given.put(error)

    Thread(target=give, daemon=True).start()
    while True:
        try:
            value = given.get(timeout=TIMEOUT + CONNECT)
        except Empty:
            raise TimeoutError from None
        if isinstance(value, StopIteration):
            return
        if isinstance(value, BaseException):
            raise value
        yield value


def _failed(project: str, error: Exception) -> LawsmithError:
    got = " ".join(str(error).split())[:160] or type(error).__name__
    want = "a project that can be read, wandb:ENTITY/PROJECT"
    hint = "log in with wandb login, or export the runs as CSV on their page"
    if isinstance(error, TimeoutError) or "did not respond in time" in got:
        got, want = f"no answer within {TIMEOUT} s", "an answer of the W&B server"
        hint = "try again, or export the runs as CSV on their page"
    elif isinstance(error, ConnectionError):
        want, hint = "a W&B server", "check the network and WANDB_BASE_URL"
    return LawsmithError(f"wandb:{project}", got=got, want=want, hint=hint)
