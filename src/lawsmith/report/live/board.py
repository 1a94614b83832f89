"""What a live page shows by now: its cards as HTML, each with the revision it last changed in."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from lawsmith.report.markup import card_html
from lawsmith.report.page import links_html
from lawsmith.report.parts import Card


@dataclass(frozen=True)
class Shown:
    """A card as it is shown."""

    card: Card
    html: str
    revision: int


@dataclass(frozen=True)
class News:
    """What a page that has ``since`` is to change.

    cards   (name, HTML) of those that changed
    order   the names of all, from top to bottom
    """

    revision: int
    cards: tuple[tuple[str, str], ...]
    order: tuple[str, ...]
    links: str
    state: str


@dataclass
class Board:
    """The cards of a live page; written by those who watch the study, read by the server."""

    order: tuple[str, ...]
    revision: int = 0
    state: str = "reading the study"
    _shown: dict[str, Shown] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, names: Sequence[str], cards: Sequence[Card]) -> None:
        """Show ``cards`` in the places ``names``; a place without a card is taken away."""
        made = {card.name: Shown(card, card_html(card), 0) for card in cards}
        with self._lock:
            changed = False
            for name in names:
                old, new = self._shown.get(name), made.get(name)
                if new is None:
                    changed |= self._shown.pop(name, None) is not None
                elif old is None or old.html != new.html:
                    self._shown[name] = Shown(new.card, new.html, self.revision + 1)
                    changed = True
            self.revision += changed

    def say(self, state: str) -> None:
        """One line on how things stand."""
        with self._lock:
            self.revision += state != self.state
            self.state = state

    def news(self, since: int) -> News:
        """What changed after a revision; 0 for all."""
        with self._lock:
            shown = [self._shown[name] for name in self.order if name in self._shown]
            return News(
                revision=self.revision,
                cards=tuple((one.card.name, one.html) for one in shown if one.revision > since),
                order=tuple(one.card.name for one in shown),
                links=links_html([one.card for one in shown]),
                state=self.state,
            )
