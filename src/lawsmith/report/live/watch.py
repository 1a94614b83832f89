"""Watching a live study: what changed is on the board at once, what takes a while soon after.

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
from lawsmith.report.finding import Memory, find_answer, find_laws, find_next, find_way
from lawsmith.report.live.board import Board
from lawsmith.report.of_live import live_source
from lawsmith.report.source import Findings, Record
from lawsmith.study import open_study
from lawsmith.study.live import LiveStudy

PAUSE = 0.3  # seconds between looks at the journal
QUICK = ("answer", "progress", "failures", "runs", "timeline")
FIND_NEXT, FIND_LAWS, FIND_WAY = FINDS = ("find next", "find laws", "find way")
REST = (*FINDS, *(name for name in CARDS if name not in QUICK))


@dataclass
class Opened:
    """A study by its file, opened again when the file changed."""

    file: Path
    _mark: tuple[int, ...] = ()
    _study: LiveStudy | None = None

    def study(self) -> LiveStudy:
        """The study, or the error that its file has."""
        mark = _mark(self.file)
        if self._study is None or mark != self._mark:
            self._study, self._mark = None, mark
            self._study = open_study(self.file)
        return self._study


def _mark(file: Path) -> tuple[int, ...]:
    """Changes when the file is edited or replaced; () where there is none."""
    try:
        found = file.stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino


@dataclass
class Watch:
    """A study being watched for a board.

    record   says how the report can be made again, from the study
    """

    file: Path
    board: Board
    record: Callable[[LiveStudy], Record]
    _found: Findings = field(default_factory=Findings)
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
        """Redraw what is cheap whenever the journal, the study file or what was found changed."""
        opened = Opened(self.file)
        seen: tuple[object, ...] = ()
        while not self._stop.is_set():
            self._news.wait(PAUSE)
            self._news.clear()
            try:
                study = opened.study()
                ledger, found = study.read(), self._found
                self._latest = _inputs(study, ledger)
                now = (ledger.n_events, study.digest(), found)
                if now != seen:
                    self._show(study, ledger, QUICK)
                    seen = now
                self.board.say(_state(ledger) + self._trouble)
            except LawsmithError as error:
                opened = Opened(self.file)
                self.board.say(f"error: {error}")
            except Exception as error:  # an error in one card must not end the page
                self._trouble = _error_text(error)
                self.board.say(f"live{self._trouble}")

    def _think(self) -> None:
        """Work out what takes a while, again whenever a run got a result: the answer before all,
        then one piece of the rest at a time, those that have waited longest first."""
        opened, memory = Opened(self.file), Memory()
        seen: tuple[object, ...] | None = None
        waiting: list[str] = []
        while not self._stop.is_set():
            try:
                study = opened.study()
                ledger = study.read()
                now = _inputs(study, ledger)
                if seen is None or now[0] != seen[0]:
                    memory = Memory()  # an edit of the study file changes targets, prices, …
                if now != seen:
                    seen = now  # also where it fails: the same would fail again
                    self._share(find_answer(study, ledger, self._found))
                    self._trouble = ""
                    waiting += [name for name in REST if name not in waiting]
                if waiting:
                    self._do(waiting.pop(0), study, ledger, memory)
                    continue
            except LawsmithError:
                opened = Opened(self.file)  # told by the other thread, which reads the same files
            except Exception as error:  # an error in one card must not end the page
                self._trouble = _error_text(error)
            self._stop.wait(PAUSE)

    def _do(self, name: str, study: LiveStudy, ledger: Ledger, memory: Memory) -> None:
        """One piece of the rest: something to find out, or a card to draw."""
        if name == FIND_NEXT:
            self._share(find_next(study, ledger, self._found))
        elif name == FIND_LAWS:
            self._share(find_laws(study, ledger, self._found))
        elif name == FIND_WAY:
            free = partial(self._free, _inputs(study, ledger))
            self._share(find_way(study, ledger, self._found, memory, alive=free))
        else:
            self._show(study, ledger, (name,))

    def _free(self, now: tuple[object, ...]) -> bool:
        """Whether no newer result waits; what is left of the way is then found out later."""
        return not self._stop.is_set() and self._latest == now

    def _share(self, found: Findings) -> None:
        """Give results to the quick thread, which shows them at once."""
        self._found = found
        self._news.set()

    def _show(self, study: LiveStudy, ledger: Ledger, names: tuple[str, ...]) -> None:
        source = live_source(study, ledger, self._found, self.record(study))
        for name in names:
            if not self._stop.is_set():
                self.board.put([name], cards_of(source, [name]))


def _inputs(study: LiveStudy, ledger: Ledger) -> tuple[object, ...]:
    """What an answer depends on: not that a run began, nor every loss that it reports on the way.

    A trunk's losses are looked at whenever it has left a checkpoint.
    """
    settled = tuple(t.closed for t in ledger.trials.values() if not t.open)
    saved = sum(len(t.saved) for t in ledger.trials.values())
    return study.digest(), len(ledger.trials), settled, saved, len(ledger.excluded), ledger.ended


def _error_text(error: Exception) -> str:
    return f"; a card could not be made ({type(error).__name__}: {error})"


def _state(ledger: Ledger) -> str:
    under_way = len(ledger.open())
    now = datetime.now().astimezone().strftime("%H:%M")
    return f"live · {plural(under_way, 'run')} under way · looked at {now}"


def new_board() -> Board:
    """A board with a place for every card."""
    return Board(tuple(CARDS))
