"""What a live page shows by now: its cards as HTML, each with the revision it last changed in."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lawsmith.report.page import links_html
from lawsmith.report.parts import ABSENT, Card, without_empty


@dataclass(frozen=True)
class Shown:
    """A card as it is shown."""

    card: Card
    html: str
    revision: int


@dataclass(frozen=True)
class News:
    """What changed after a revision.

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
        made = {card.name: Shown(card, card.html, 0) for card in cards}
        with self._lock:
            changed = [self._change(name, made.get(name)) for name in names]
            self.revision += any(changed)

    def _change(self, name: str, new: Shown | None) -> bool:
        """Show what is new in a place; whether it is another card than before."""
        old = self._shown.get(name)
        if new is None:
            return self._shown.pop(name, None) is not None
        if old is not None and old.html == new.html:
            return False
        self._shown[name] = replace(new, revision=self.revision + 1)
        return True

    def say(self, state: str) -> None:
        """One line on how things stand."""
        with self._lock:
            self.revision += state != self.state
            self.state = state

    def news(self, since: int) -> News:
        """What changed after the revision ``since``; 0 for all."""
        with self._lock:
            known = [self._shown[name] for name in self.order if name in self._shown]
            cards = without_empty([one.card for one in known])
            html = {one.card.name: one.html for one in known if one.revision > since}
            # It depends on all others and is small: sent with any news.
            html |= {card.name: card.html for card in cards if card.name == ABSENT}
            return News(
                revision=self.revision,
                cards=tuple((card.name, html[card.name]) for card in cards if card.name in html),
                order=tuple(card.name for card in cards),
                links=links_html(cards),
                state=self.state,
            )
