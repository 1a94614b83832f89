"""A live page served for real, on a free port of this machine, from threads of the test."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lawsmith.report import CARDS, Card, Record
from lawsmith.report.live.board import Board
from lawsmith.report.live.watch import Watch, new_board
from lawsmith.study import LiveStudy


@dataclass
class Served:
    """Where the page is, and what it shows."""

    url: str
    board: Board


@contextmanager
def watching(study: LiveStudy) -> Iterator[Board]:
    """The board of a study that is watched; at the end no thread of the watch is left."""
    watch = Watch(study.layout.file, new_board(), lambda opened: Record())
    watch.start()
    try:
        yield watch.board
    finally:
        assert watch.stop(60.0), "a thread of the watch is still at work"


def put_all(board: Board, cards: Iterable[Card], names: Iterable[str] = tuple(CARDS)) -> None:
    """Show the cards in the places ``names``; a place without a card is emptied."""
    made = {card.name: card for card in cards}
    for name in names:
        board.put(name, made.get(name))


@contextmanager
def serving(board: Board, title: str) -> Iterator[Served]:
    """The page of a board; at the end its server is gone."""
    import uvicorn

    from lawsmith.report.live.app import LOCAL, Site, address, listen, make_app

    site = Site(board, title)
    with listen("127.0.0.1", 0) as sock:
        config = uvicorn.Config(
            make_app(site, LOCAL), log_level="error", timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[sock])))
        thread.start()
        try:
            wait(lambda: server.started)
            yield Served(address(sock, "127.0.0.1", site), board)
        finally:
            site.closing = True
            server.should_exit = True
            thread.join(60)
            assert not thread.is_alive(), "the server is still at work"


@contextmanager
def served(study: LiveStudy) -> Iterator[Served]:
    """The page of a study, watched and served until the test is done with it."""
    with watching(study) as board, serving(board, study.spec.name) as found:
        yield found


def wait(what: Callable[[], bool], seconds: float = 120.0) -> None:
    """Until something is so."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)
