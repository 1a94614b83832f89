"""Watch a live study: quick cards are redrawn at once, results that take a while come soon after.

There are two threads, each with its own study object. The quick one reads the journal every third
of a second and redraws the quick cards. The other one computes the answer, then the laws and the
next runs. If runs finish faster than that, each new answer is followed by one piece of the rest.
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
from lawsmith.report.cards import CARDS
from lawsmith.report.findings import Memory, find_answer, find_laws, find_moments, find_next
from lawsmith.report.live.board import Board
from lawsmith.report.live_source import live_source
from lawsmith.report.source import Findings, Record
from lawsmith.study import open_study
from lawsmith.study.live import LiveStudy

PAUSE = 0.3  # seconds between looks at the journal
QUICK = ("answer", "progress", "failures", "runs", "timeline")
FIND_NEXT, FIND_LAWS, FIND_MOMENTS = FINDS = ("find next", "find laws", "find moments")
REST = (*FINDS, *(name for name in CARDS if name not in QUICK))


@dataclass
class Opened:
    """A study by its file, opened again when the file changes."""

    file: Path
    _version: tuple[int, ...] = ()
    _study: LiveStudy | None = None

    def study(self) -> LiveStudy:
        """The study; raises the error of its file."""
        version = _version(self.file)
        if self._study is None or version != self._version:
            self._study, self._version = None, version
            self._study = open_study(self.file)
        return self._study


def _version(file: Path) -> tuple[int, ...]:
    """A value that changes when the file is edited or replaced; () if it does not exist."""
    try:
        stat = file.stat()
    except OSError:
        return ()
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


@dataclass
class Watch:
    """Follows a study and keeps its board up to date.

    record   makes the record of the report from the study
    """

    file: Path
    board: Board
    record: Callable[[LiveStudy], Record]
    _findings: Findings = field(default_factory=Findings)
    _error: str = ""
    _latest: tuple[object, ...] = ()
    _news: threading.Event = field(default_factory=threading.Event)
    _stop: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        """Show the quick cards, then follow the study in the background."""
        study = open_study(self.file)
        self._show(study, study.read(), QUICK)
        for target in (self._redraw, self._compute):
            thread = threading.Thread(target=target, daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self, seconds: float = 5.0) -> bool:
        """End the threads; False if one still runs after ``seconds`` for each."""
        self._stop.set()
        self._news.set()
        for thread in self._threads:
            thread.join(seconds)
        return not any(thread.is_alive() for thread in self._threads)

    def _redraw(self) -> None:
        """Redraw the quick cards when the journal, the study file or the findings change."""
        opened = Opened(self.file)
        shown: tuple[object, ...] = ()
        while not self._stop.is_set():
            self._news.wait(PAUSE)
            self._news.clear()
            try:
                study = opened.study()
                ledger, findings = study.read(), self._findings
                self._latest = _inputs(study, ledger)
                now = (ledger.n_events, study.digest(), findings)
                if now != shown:
                    self._show(study, ledger, QUICK)
                    shown = now
                self.board.set_state(_state(ledger) + self._error)
            except LawsmithError as error:
                opened = Opened(self.file)
                self.board.set_state(f"error: {error}")
            except Exception as error:  # an error in one card must not end the page
                self._error = _error_text(error)
                self.board.set_state(f"live{self._error}")

    def _compute(self) -> None:
        """Compute what takes a while when a run gets a result: first the answer, then the rest.

        The rest is done piece by piece; the piece that has waited longest comes first.
        """
        opened, memory = Opened(self.file), Memory()
        answered: tuple[object, ...] | None = None
        waiting: list[str] = []
        while not self._stop.is_set():
            try:
                study = opened.study()
                ledger = study.read()
                now = _inputs(study, ledger)
                if answered is None or now[0] != answered[0]:
                    memory = Memory()  # the study file was edited: targets, prices, …
                if now != answered:
                    answered = now  # before it may fail, as it would fail again
                    self._publish(find_answer(study, ledger, self._findings))
                    self._error = ""
                    waiting += [name for name in REST if name not in waiting]
                if waiting:
                    self._compute_piece(waiting.pop(0), study, ledger, memory)
                    continue
            except LawsmithError:
                opened = Opened(self.file)  # the other thread reads the same files and shows it
            except Exception as error:  # an error in one card must not end the page
                self._error = _error_text(error)
            self._stop.wait(PAUSE)

    def _compute_piece(self, name: str, study: LiveStudy, ledger: Ledger, memory: Memory) -> None:
        """Compute one piece of the rest: some of the findings, or a card."""
        if name == FIND_NEXT:
            self._publish(find_next(study, ledger, self._findings))
        elif name == FIND_LAWS:
            self._publish(find_laws(study, ledger, self._findings))
        elif name == FIND_MOMENTS:
            latest = partial(self._is_latest, _inputs(study, ledger))
            self._publish(find_moments(study, ledger, self._findings, memory, keep_going=latest))
        else:
            self._show(study, ledger, (name,))

    def _is_latest(self, inputs: tuple[object, ...]) -> bool:
        """Whether no newer result waits; else forecasts are left for later."""
        return not self._stop.is_set() and self._latest == inputs

    def _publish(self, findings: Findings) -> None:
        """Pass results to the quick thread, which shows them at once."""
        self._findings = findings
        self._news.set()

    def _show(self, study: LiveStudy, ledger: Ledger, names: tuple[str, ...]) -> None:
        source = live_source(study, ledger, self._findings, self.record(study))
        for name in names:
            if not self._stop.is_set():
                self.board.put(name, CARDS[name](source))


def _inputs(study: LiveStudy, ledger: Ledger) -> tuple[object, ...]:
    """The inputs of an answer: not the start of a run, nor each loss that it reports.

    The losses of a trunk count when it has saved a checkpoint.
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
