"""Watching a live study: what changed is on the board at once, what takes thought soon after.

Two threads, each with a study object of its own. The quick one reads the journal every third of a
second and redraws what is cheap; the other works out laws, the outlook and what comes next.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from lawsmith.errors import LawsmithError
from lawsmith.formats import plural
from lawsmith.journal import Ledger
from lawsmith.report.cards import CARDS, cards_of
from lawsmith.report.live.board import Board
from lawsmith.report.of_live import Found, Memory, find_out, live_source
from lawsmith.report.source import Record
from lawsmith.study import open_study
from lawsmith.study.live import LiveStudy

PAUSE = 0.3  # seconds between looks at the journal
QUICK = ("progress", "failures", "timeline", "runs")


@dataclass
class Watch:
    """A study being watched for a board.

    record   says how the report can be made again, from the study
    """

    file: Path
    board: Board
    record: Callable[[LiveStudy], Record]
    _found: Found = field(default_factory=Found)
    _trouble: str = ""
    _stop: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        """Show what is cheap to know, then watch on in the background."""
        study = open_study(self.file)
        self._show(study, study.read(), quick=True)
        for target in (self._look, self._think):
            thread = threading.Thread(target=target, daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        """End the threads; a thought that is under way is given up soon."""
        self._stop.set()
        for thread in self._threads:
            thread.join(5.0)

    def _look(self) -> None:
        """Redraw what is cheap whenever the journal or what is thought of it changed."""
        study, seen = None, (-1, self._found)
        while not self._stop.wait(PAUSE):
            try:
                study = study or open_study(self.file)
                ledger, found = study.read(), self._found
                if (ledger.n_events, found) != seen:
                    self._show(study, ledger, quick=True)
                    seen = ledger.n_events, found
                self.board.say(_state(ledger) + self._trouble)
            except LawsmithError as error:
                study = None
                self.board.say(f"error: {error}")

    def _think(self) -> None:
        """Work out what takes a while, again whenever a run got a result."""
        study, seen, memory = None, None, Memory()
        while not self._stop.is_set():
            try:
                study = study or open_study(self.file)
                ledger = study.read()
                now = _matter(ledger)
                if now != seen:
                    seen = now  # also where it fails: the same would fail again
                    self._found = find_out(study, ledger, memory, alive=self._alive)
                    self._show(study, ledger, quick=False)
                    self._trouble = ""
            except LawsmithError:
                study = None  # told by the other thread, which reads the same files
            except Exception as error:  # a slip of one card must not end the page
                self._trouble = f"; a card could not be made ({type(error).__name__}: {error})"
            self._stop.wait(PAUSE)

    def _alive(self) -> bool:
        return not self._stop.is_set()

    def _show(self, study: LiveStudy, ledger: Ledger, *, quick: bool) -> None:
        source = live_source(study, ledger, self._found, self.record(study))
        names = [name for name in CARDS if (name in QUICK) == quick]
        self.board.put(names, cards_of(source, names))


def _matter(ledger: Ledger) -> tuple[object, ...]:
    """What an answer depends on: not that a run began, nor what it tells on the way."""
    settled = tuple(t.closed for t in ledger.trials.values() if not t.open)
    return len(ledger.trials), settled, len(ledger.excluded), ledger.ended


def _state(ledger: Ledger) -> str:
    under_way = len(ledger.open())
    now = datetime.now().astimezone().strftime("%H:%M")
    return f"live · {plural(under_way, 'run')} under way · looked at {now}"


def new_board() -> Board:
    """A board with a place for every card."""
    return Board(tuple(CARDS))
