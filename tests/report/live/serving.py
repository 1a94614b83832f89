"""A live page served for real, on a free port of this machine, from threads of the test."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lawsmith.report import Record
from lawsmith.report.live.watch import Watch, new_board
from lawsmith.study import LiveStudy


@dataclass
class Served:
    """Where the page is, and what it shows."""

    url: str
    watch: Watch


@contextmanager
def served(study: LiveStudy) -> Iterator[Served]:
    """The page of a study, watched and served until the test is done with it."""
    import asyncio

    import uvicorn

    from lawsmith.report.live.app import LOCAL, Site, address, listen, make_app

    watch = Watch(study.layout.file, new_board(), lambda opened: Record())
    site = Site(watch.board, study.spec.name)
    with listen("127.0.0.1", 0) as sock:
        config = uvicorn.Config(
            make_app(site, LOCAL), log_level="error", timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        run = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[sock])))
        run.start()
        watch.start()
        try:
            wait(lambda: server.started)
            yield Served(address(sock, "127.0.0.1", site), watch)
        finally:
            site.closing = True
            watch.stop()
            server.should_exit = True
            run.join(20)


def wait(what: Callable[[], bool], seconds: float = 60.0) -> None:
    """Until something is so."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)
