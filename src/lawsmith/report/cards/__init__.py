"""The cards of a report, in the order a reader asks; each a pure function of a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lawsmith.report.cards.along import along
from lawsmith.report.cards.answer import answer
from lawsmith.report.cards.laws import allocation, isoflop, law, residuals, tuning
from lawsmith.report.cards.progress import failures, progress, proposals, spend, timeline
from lawsmith.report.cards.record import record
from lawsmith.report.cards.runs import runs
from lawsmith.report.cards.tasks import tasks
from lawsmith.report.parts import Card
from lawsmith.report.source import Source

# By the name of its place in the page. A card that a source has nothing for is None.
CARDS: dict[str, Callable[[Source], Card | None]] = {
    "answer": answer,
    "tasks": tasks,
    "progress": progress,
    "next": proposals,
    "failures": failures,
    "along": along,
    "law": law,
    "isoflop": isoflop,
    "allocation": allocation,
    "tuning": tuning,
    "spend": spend,
    "timeline": timeline,
    "residuals": residuals,
    "runs": runs,
    "record": record,
}


def cards_of(source: Source, names: Iterable[str] = tuple(CARDS)) -> tuple[Card, ...]:
    """Every card there is to a source, or those of some names."""
    made = (CARDS[name](source) for name in names)
    return tuple(card for card in made if card is not None)
