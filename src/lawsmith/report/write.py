"""A source to the file of its report."""

from __future__ import annotations

from pathlib import Path

from lawsmith.arrays import saturating
from lawsmith.charts.page import write_page
from lawsmith.report.cards import cards_of
from lawsmith.report.markup import card_html
from lawsmith.report.page import links_html, page
from lawsmith.report.source import Source


@saturating
def report_html(source: Source) -> str:
    """The whole page."""
    cards = cards_of(source)
    sections = [card_html(card) for card in cards]
    return page(sections, links_html(cards), title=source.name, kind=source.kind)


def write_report(source: Source, path: str | Path) -> Path:
    """Write the page; its folder is made if need be, the file is there as a whole or not at all."""
    return write_page(report_html(source), path, what="report")
