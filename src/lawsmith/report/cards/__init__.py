"""The cards of a report in their order on the page; each is a pure function of a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lawsmith.report.cards import figures, progress
from lawsmith.report.cards.answer import answer
from lawsmith.report.cards.record import record, runs
from lawsmith.report.parts import Card
from lawsmith.report.source import Source

# By the name of its place in the page. None for a card that does not apply to the source.
CARDS: dict[str, Callable[[Source], Card | None]] = {
    "answer": answer,
    "tasks": figures.tasks,
    "progress": progress.progress,
    "next": progress.next_runs,
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
    """All cards of a source, or those of some names."""
    made = (CARDS[name](source) for name in names)
    return tuple(card for card in made if card is not None)
