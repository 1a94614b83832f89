"""A report as one self-contained HTML page: offline, light and dark, for paper and phones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from html import escape
from pathlib import Path

from lawsmith.arrays import saturating
from lawsmith.charts.page import asset as asset_of
from lawsmith.charts.page import fill, head, library, theme_configs
from lawsmith.files import write_output
from lawsmith.report.cards import cards_of
from lawsmith.report.parts import Card, link_html, without_empty
from lawsmith.report.source import Source

asset = partial(asset_of, package="lawsmith.report")
STATE = '<p id="state" role="status" data-revision="{revision}">connected</p>'
KINDS = {"table": "Study report", "replay": "Replay report", "live": "Live study"}


def page(sections: Sequence[str], links: str, *, title: str, kind: str, revision: str = "") -> str:
    """The page of some cards; one with a ``revision`` asks its server for newer cards."""
    live = bool(revision)
    scripts = ["page.js", "runs.js", *(["live.js"] if live else []), "start.js"]
    return fill(
        asset("page.html"),
        head=head(escape(title), asset("page.css"), connect="'self'" if live else "'none'"),
        title=escape(title),
        kind=escape(KINDS[kind]),
        state=STATE.format(revision=escape(revision)) if live else "",
        links=links,
        cards="\n".join(sections),
        library=library(),
        configs=theme_configs(),
        script="\n".join(asset(name) for name in scripts),
    )


def links_html(cards: Sequence[Card]) -> str:
    """Links to all cards."""
    return "".join(link_html(card.name, card.title) for card in cards)


@saturating
def report_html(source: Source) -> str:
    """The whole page."""
    cards = without_empty(cards_of(source))
    sections, links = [card.html for card in cards], links_html(cards)
    return page(sections, links, title=source.name, kind=source.kind)


def write_report(source: Source, path: str | Path) -> Path:
    """Write the page, as a whole or not at all; its folder is created if need be."""
    return write_output(path, report_html(source), where="report")
