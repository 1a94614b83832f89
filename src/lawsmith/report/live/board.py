"""The cards of a live page as HTML, each with the revision in which it last changed."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import NamedTuple

from lawsmith.report.page import links_html
from lawsmith.report.parts import ABSENT, Card, without_empty


class Shown(NamedTuple):
    """A card on the page, and the revision in which it last changed."""

    card: Card
    html: str
    revision: int


@dataclass(frozen=True)
class News:
    """The changes since a revision.

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
    """The cards of a live page; written by the threads of `Watch`, read by the server."""

    order: tuple[str, ...]
    revision: int = 0
    state: str = "reading the study"
    _shown: dict[str, Shown] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def put(self, name: str, card: Card | None) -> None:
        """Show a card in its place; None removes the card that is there."""
        html = "" if card is None else card.html
        with self._lock:
            old = self._shown.get(name)
            if card is None:
                self.revision += self._shown.pop(name, None) is not None
            elif old is None or old.html != html:
                self.revision += 1
                self._shown[name] = Shown(card, html, self.revision)

    def set_state(self, state: str) -> None:
        """Show one line on the state of the study."""
        with self._lock:
            self.revision += state != self.state
            self.state = state

    def news(self, since: int) -> News:
        """The changes since a revision; all cards for 0."""
        with self._lock:
            known = [self._shown[name] for name in self.order if name in self._shown]
            cards = without_empty([one.card for one in known])
            html = {one.card.name: one.html for one in known if one.revision > since}
            # This card depends on all others and is small: it is sent with any news.
            html |= {card.name: card.html for card in cards if card.name == ABSENT}
            return News(
                revision=self.revision,
                cards=tuple((card.name, html[card.name]) for card in cards if card.name in html),
                order=tuple(card.name for card in cards),
                links=links_html(cards),
                state=self.state,
            )
