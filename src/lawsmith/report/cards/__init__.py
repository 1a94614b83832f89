"""The cards of a report, in the order a reader asks; each a pure function of a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lawsmith.report.cards import figures, progress
from lawsmith.report.cards.answer import answer
from lawsmith.report.cards.record import record, runs
from lawsmith.report.parts import Card
from lawsmith.report.source import Source

# By the name of its place in the page. A card that a source has nothing for is None.
CARDS: dict[str, Callable[[Source], Card | None]] = {
    "answer": answer,
    "tasks": figures.tasks,
    "progress": progress.progress,
    "next": progress.proposals,
    "failures": progress.failures,
    "along": figures.along,
    "law": figures.law,
    "isoflop": figures.isoflop,
    "allocation": figures.allocation,
    "tuning": figures.tuning,
    "spend": progress.spend,
    "timeline": progress.timeline,
    "residuals": figures.residuals,
    "runs": runs,
    "record": record,
}


def cards_of(source: Source, names: Iterable[str] = tuple(CARDS)) -> tuple[Card, ...]:
    """Every card there is to a source, or those of some names."""
    made = (CARDS[name](source) for name in names)
    return tuple(card for card in made if card is not None)
