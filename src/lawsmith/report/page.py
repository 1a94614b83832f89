"""A report as one self-contained HTML page: offline, light and dark, on paper, on a telephone."""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from lawsmith.charts.page import library, script_json
from lawsmith.charts.theme import DARK, FONT, LIGHT, PRINT, config, variables
from lawsmith.report.markup import text
from lawsmith.report.parts import Card

# The policy lets the page's own script run (Vega compiles expressions) and nothing be fetched but,
# by a live page, from where it came.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; connect-src {connect}; base-uri 'none'; form-action 'none'"
)
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><p class="kind">{kind}</p><h1>{title}</h1>{state}
<nav aria-label="cards">{links}</nav></header>
<main>
{cards}
</main>
<script>{library}</script>
<script>
{{
const configs = {configs};
{script}
}}
</script>
</body>
</html>
"""
STATE = '<p id="state" role="status" data-revision="{revision}">connected</p>'
KINDS = {"table": "Study report", "replay": "Replay report", "live": "Live study"}


def page(sections: Sequence[str], links: str, *, title: str, kind: str, revision: str = "") -> str:
    """The page of some cards as HTML; one of a ``revision`` asks where it came from for newer."""
    live = bool(revision)
    scripts = ["page.js", "runs.js", *(["live.js"] if live else []), "start.js"]
    return PAGE.format(
        policy=POLICY.format(connect="'self'" if live else "'none'"),
        title=text(title),
        kind=text(KINDS[kind]),
        state=STATE.format(revision=text(revision)) if live else "",
        style=style(),
        links=links,
        cards="\n".join(sections),
        library=library(),
        configs=script_json({theme.name: config(theme) for theme in (LIGHT, DARK, PRINT)}),
        script="\n".join(asset(name) for name in scripts),
    )


def links_html(cards: Sequence[Card]) -> str:
    """A link to each card."""
    links = (f'<a href="#card-{html.escape(card.name)}">{text(card.title)}</a>' for card in cards)
    return "".join(links)


@cache
def asset(name: str) -> str:
    """A file of the page's own script or style."""
    return files("lawsmith.report").joinpath("assets", name).read_text(encoding="utf-8")


def style() -> str:
    """The style, its colours those of the charts' themes."""
    return (
        f":root {{ color-scheme: light dark; --font: {FONT}; {variables(LIGHT)} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {variables(DARK)} }} }}\n"
        f"@media print {{ :root {{ color-scheme: light; {variables(PRINT)} }} }}\n"
        f"{asset('page.css')}"
    )
