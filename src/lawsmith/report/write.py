"""A source to the file of its report."""

from __future__ import annotations

from pathlib import Path

from lawsmith.errors import LawsmithError
from lawsmith.report.cards import cards_of
from lawsmith.report.markup import card_html
from lawsmith.report.page import links_html, page
from lawsmith.report.source import Source


def report_html(source: Source) -> str:
    """The whole page."""
    cards = cards_of(source)
    sections = [card_html(card) for card in cards]
    return page(sections, links_html(cards), title=source.name, kind=source.kind)


def write_report(source: Source, path: str | Path) -> Path:
    """Write the page; its folder is made if need be, the file is there as a whole or not at all."""
    file = Path(path)
    data = report_html(source)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f"{file.name}.part")
        part.write_text(data, encoding="utf-8")
        part.replace(file)
    except OSError as error:
        got = f"{file}: {error.strerror or error}"
        raise LawsmithError("report", got=got, want="a file that can be written") from None
    return file
