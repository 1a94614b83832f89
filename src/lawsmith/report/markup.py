"""Cards as HTML: every text escaped, the data of charts and of the table of runs as JSON."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from lawsmith.charts.page import bare, script_json
from lawsmith.report.parts import (
    Absent,
    Card,
    Caution,
    Command,
    Facts,
    Figure,
    Links,
    Listing,
    Log,
    Notes,
    Part,
    RunTable,
    Tile,
    Tiles,
    Words,
)

Json = dict[str, Any]


def card_html(card: Card) -> str:
    """The section of a card."""
    name = html.escape(card.name)
    first, *rest = (part_html(part) for part in card.parts)
    return (
        f'<section class="card" id="card-{name}" aria-labelledby="title-{name}">'
        f'<h2 id="title-{name}">{text(card.title)}</h2><p class="lead">{text(card.lead)}</p>'
        f"{first}{cautions_html(card.cautions)}{''.join(rest)}</section>"
    )


def part_html(part: Part) -> str:
    """One part of a card."""
    match part:
        case Figure():
            return figure_html(part)
        case Absent():
            why = f'<p class="absent"><b>Not shown:</b> {text(part.reason)}.</p>'
            name = html.escape(part.name)
            return f'<div id="absent-{name}">{why}{cautions_html(part.cautions)}</div>'
        case Words():
            return f"<p>{text(part.text)}</p>"
        case Links():
            links = ", ".join(link_html(name, label) for label, name in part.items)
            return f"<p>{text(part.text)} {links}.</p>"
        case Notes():
            notes = "".join(f"<li>{text(item)}</li>" for item in part.items)
            return f'<ul class="notes">{notes}</ul>'
        case Tiles():
            return f'<div class="tiles">{"".join(tile_html(tile) for tile in part.tiles)}</div>'
        case Facts():
            items = (f"<dt>{text(what)}</dt><dd>{text(value)}</dd>" for what, value in part.rows)
            return f"<dl>{''.join(items)}</dl>"
        case Listing():
            return listing_html(part)
        case Log():
            title = f"<summary>{text(part.title)}</summary>"
            return f"<details open>{title}<pre>{text(part.text)}</pre></details>"
        case Command():
            return f'<pre class="command">{text(part.text)}</pre>'
        case RunTable():
            return run_table_html(part)


def cautions_html(cautions: Sequence[Caution]) -> str:
    """Cautions, each with its code, as a list."""
    if not cautions:
        return ""
    items = (
        f"<li><code>{text(caution.code)}</code> {text(caution.text)}</li>" for caution in cautions
    )
    return f'<ul class="cautions">{"".join(items)}</ul>'


def link_html(name: str, label: str) -> str:
    """A link to the card called ``name``."""
    return f'<a href="#card-{html.escape(name)}">{text(label)}</a>'


def tile_html(tile: Tile) -> str:
    mark = f"<em>{text(tile.mark)}</em>" if tile.mark else ""
    # Not splitlines, which breaks at more than a line's end.
    lines = (f"<small>{text(line)}</small>" for line in tile.detail.split("\n") if line)
    return (
        f'<div class="tile"><span>{text(tile.label)}</span><strong>{text(tile.value)}</strong>'
        f"{mark}{''.join(lines)}</div>"
    )


def figure_html(part: Figure) -> str:
    """A place for the chart, its data, and beside it the caption and what to beware of."""
    datasets: Json = {**part.wide.get("datasets", {}), **part.narrow.get("datasets", {})}
    told = {
        "specs": {"wide": bare(dict(part.wide)), "narrow": bare(dict(part.narrow))},
        "datasets": {name: by_column(rows) for name, rows in datasets.items()},
    }
    name = html.escape(part.name)
    return (
        f'<figure id="figure-{name}"><div class="chart" data-name="{name}"><noscript>This chart is '
        "drawn by a script.</noscript></div>"
        f'<script type="application/json" class="data">{script_json(told)}</script>'
        f"<figcaption>{cautions_html(part.cautions)}<p>{text(part.caption)}</p></figcaption></figure>"
    )


def by_column(rows: Sequence[Mapping[str, Any]]) -> Json:
    """Rows of equal keys as {'n': how many, 'columns': {name: values}}, which is half the size."""
    names = list(rows[0]) if rows else []
    return {"n": len(rows), "columns": {name: [row[name] for row in rows] for name in names}}


def listing_html(part: Listing) -> str:
    """A table in a frame of its own that scrolls, so that the page does not."""
    heads = (
        f'<th scope="col"{_kind(i, part)}>{text(name)}</th>' for i, name in enumerate(part.columns)
    )
    rows = (
        "<tr>"
        + "".join(f"<td{_kind(i, part)}>{text(cell)}</td>" for i, cell in enumerate(row))
        + "</tr>"
        for row in part.rows
    )
    name = html.escape(part.name)
    label = f"Table: {name.replace('-', ' ')}"
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table '
        f'class="listing" id="table-{name}"><thead><tr>{"".join(heads)}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _kind(i: int, part: Listing) -> str:
    return ' class="word"' if i < part.n_words else ""


def run_table_html(part: RunTable) -> str:
    """The table of runs: the page's script fills it from the columns beside it."""
    told = [{"name": c.name, "form": c.form, "values": list(c.values)} for c in part.columns]
    return (
        '<div class="runs"><div class="tools"><label>Filter <input type="search" '
        'placeholder="done lr&gt;=0.001 N&lt;1B" spellcheck="false"></label>'
        '<output aria-live="polite"></output></div>'
        '<div class="scroll" tabindex="0" role="region" aria-label="Table: runs">'
        '<table id="table-runs">'
        "<thead></thead><tbody></tbody></table></div>"
        '<nav class="pages" aria-label="pages of runs"><button type="button" data-step="-1">'
        'Previous</button><span></span><button type="button" data-step="1">Next</button></nav>'
        f'<script type="application/json" class="data">{script_json(told)}</script></div>'
    )


def text(value: str) -> str:
    """Escaped, as text between tags or in an attribute."""
    return html.escape(value)
