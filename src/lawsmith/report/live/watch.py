"""Watching a live study: what changed is on the board at once, what takes thought soon after.

Two threads, each with a study object of its own. The quick one reads the journal every third of a
second and redraws what is cheap, and the answer with how many runs it rests on; the other works
out the answer, then laws and what comes next. Where runs finish faster than all of that can be
worked out, each answer is followed by one piece of the rest.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

from lawsmith.errors import LawsmithError
from lawsmith.formats import plural
from lawsmith.journal import Ledger
from lawsmith.report.cards import CARDS, cards_of
from lawsmith.report.finding import Found, Memory, find_answer, find_rest
from lawsmith.report.live.board import Board
from lawsmith.report.of_live import live_source
from lawsmith.report.source import Record
from lawsmith.study import open_study
from lawsmith.study.live import LiveStudy

PAUSE = 0.3  # seconds between looks at the journal
QUICK = ("answer", "progress", "failures", "runs", "timeline")
FIRST = ("law",)  # of the others, those that go with the answer
FIND = "find"  # what the rest of the cards show
REST = (FIND, *(name for name in CARDS if name not in QUICK + FIRST))


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
    _latest: tuple[object, ...] = ()
    _news: threading.Event = field(default_factory=threading.Event)
    _stop: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        """Show what is cheap to know, then watch on in the background."""
        study = open_study(self.file)
        self._show(study, study.read(), QUICK)
        for target in (self._look, self._think):
            thread = threading.Thread(target=target, daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self, seconds: float = 5.0) -> bool:
        """End the threads; False if one is still at work after some seconds each."""
        self._stop.set()
        self._news.set()
        for thread in self._threads:
            thread.join(seconds)
        return not any(thread.is_alive() for thread in self._threads)

    def _look(self) -> None:
        """Redraw what is cheap whenever the journal or what is thought of it changed."""
        study, seen = None, (-1, self._found)
        while not self._stop.is_set():
            self._news.wait(PAUSE)
            self._news.clear()
            try:
                study = study or open_study(self.file)
                ledger, found = study.read(), self._found
                self._latest = _matter(ledger)
                if (ledger.n_events, found) != seen:
                    self._show(study, ledger, QUICK)
                    seen = ledger.n_events, found
                self.board.say(_state(ledger) + self._trouble)
            except LawsmithError as error:
                study = None
                self.board.say(f"error: {error}")
            except Exception as error:  # a slip of one card must not end the page
                self._trouble = _slip(error)
                self.board.say(f"live{self._trouble}")

    def _think(self) -> None:
        """Work out what takes a while, again whenever a run got a result: the answer before all,
        then one piece of the rest at a time, those that have waited longest first."""
        study, seen, memory = None, None, Memory()
        waiting: list[str] = []
        while not self._stop.is_set():
            try:
                study = study or open_study(self.file)
                ledger = study.read()
                now = _matter(ledger)
                if now != seen:
                    seen = now  # also where it fails: the same would fail again
                    self._tell(find_answer(study, ledger, self._found))
                    self._show(study, ledger, FIRST)
                    self._trouble = ""
                    waiting += [name for name in REST if name not in waiting]
                if waiting:
                    self._do(waiting.pop(0), study, ledger, memory)
                    continue
            except LawsmithError:
                study = None  # told by the other thread, which reads the same files
            except Exception as error:  # a slip of one card must not end the page
                self._trouble = _slip(error)
            self._stop.wait(PAUSE)

    def _do(self, name: str, study: LiveStudy, ledger: Ledger, memory: Memory) -> None:
        """One piece of the rest: to find it out, or to draw a card of it."""
        if name == FIND:
            free = partial(self._free, _matter(ledger))
            self._tell(find_rest(study, ledger, self._found, memory, alive=free))
        else:
            self._show(study, ledger, (name,))

    def _alive(self) -> bool:
        return not self._stop.is_set()

    def _free(self, now: tuple[object, ...]) -> bool:
        """Whether no newer result waits; what is left of the way is then found out later."""
        return self._alive() and self._latest == now

    def _tell(self, found: Found) -> None:
        """What was found out, for the quick thread to show at once."""
        self._found = found
        self._news.set()

    def _show(self, study: LiveStudy, ledger: Ledger, names: tuple[str, ...]) -> None:
        source = live_source(study, ledger, self._found, self.record(study))
        for name in names:
            self.board.put([name], cards_of(source, [name]))


def _matter(ledger: Ledger) -> tuple[object, ...]:
    """What an answer depends on: not that a run began, nor what it tells on the way."""
    settled = tuple(t.closed for t in ledger.trials.values() if not t.open)
    return len(ledger.trials), settled, len(ledger.excluded), ledger.ended


def _slip(error: Exception) -> str:
    return f"; a card could not be made ({type(error).__name__}: {error})"


def _state(ledger: Ledger) -> str:
    under_way = len(ledger.open())
    now = datetime.now().astimezone().strftime("%H:%M")
    return f"live · {plural(under_way, 'run')} under way · looked at {now}"


def new_board() -> Board:
    """A board with a place for every card."""
    return Board(tuple(CARDS))
