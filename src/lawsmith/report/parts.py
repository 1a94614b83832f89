"""Cards and their parts as values, and their HTML, in which all text is escaped.

The data of charts and of the table of runs are JSON for the page's script.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from lawsmith.answer.text import loss_text
from lawsmith.charts import NARROW, WIDE, Chart, ChartUnavailable, spec_of
from lawsmith.charts.page import Spec, script_json, shared
from lawsmith.formats import count, flops
from lawsmith.journal import Trial
from lawsmith.laws.diagnostics import Diagnostic

Rows = tuple[tuple[str, ...], ...]
ABSENT = "absent"
MAX_STOPPED = 20  # runs that were stopped and are listed


@dataclass(frozen=True)
class Figure:
    """A chart as Vega-Lite specifications for a wide page and for a phone."""

    name: str
    caption: str
    wide: Spec
    narrow: Spec
    cautions: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class Absent:
    """The reason why something is not shown, in its place."""

    name: str
    reason: str
    cautions: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Links:
    """Links to other cards: the text before them, then (text, name of the card)."""

    text: str
    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Notes:
    """Remarks of one sentence each, in small print."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Tile:
    """A large number: its name, its value, and details.

    mark   a short warning beside the value
    """

    label: str
    value: str
    detail: str = ""
    mark: str = ""


@dataclass(frozen=True)
class Tiles:
    """Numbers side by side; the first is the largest."""

    tiles: tuple[Tile, ...]


@dataclass(frozen=True)
class Facts:
    """Names and values."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Listing:
    """A small table; its first ``n_words`` columns are text, the others numbers."""

    name: str
    columns: tuple[str, ...]
    rows: Rows
    n_words: int = 1


def stopped_listing(stopped: Sequence[Trial]) -> Listing:
    """The runs that were stopped: how far they had trained, and the FLOPs saved."""
    rows = tuple(
        (
            trial.name,
            count(float(trial.config["N"])),
            count(trial.D),
            "n/a" if trial.report is None else count(trial.report[0]),
            "n/a" if trial.report is None else loss_text(trial.report[1]),
            flops(trial.cost - trial.spend),
        )
        for trial in stopped[:MAX_STOPPED]
    )
    columns = ("stopped", "N", "D planned", "last report at", "loss there", "FLOPs saved")
    return Listing("stopped", columns, rows, n_words=1)


@dataclass(frozen=True)
class Log:
    """The output of a program."""

    title: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command to copy into a shell."""

    text: str


@dataclass(frozen=True)
class RunColumn:
    """A column of the table of runs.

    form    format of its values: 'text', 'count' (1.7B), 'flops' (1e21), 'loss' (2.8230),
            'percent' (−0.21) or 'number'
    values  one for each run, None if there is none
    """

    name: str
    form: str
    values: Sequence[float | str | None]


@dataclass(frozen=True)
class RunTable:
    """All runs, to be sorted and filtered by the reader."""

    columns: tuple[RunColumn, ...]

    @property
    def n_runs(self) -> int:
        return len(self.columns[0].values)


Part = (
    Figure | Absent | Paragraph | Links | Notes | Tiles | Facts | Listing | Log | Command | RunTable
)


@dataclass(frozen=True)
class Card:
    """A section of the page.

    name      of its place in the page
    lead      one sentence on what it shows
    cautions  warnings about the whole card
    """

    name: str
    title: str
    lead: str
    parts: tuple[Part, ...]
    cautions: tuple[Diagnostic, ...] = ()

    @property
    def why_empty(self) -> tuple[str, ...]:
        """The reasons why it is empty; () if it shows something."""
        absent = [part for part in self.parts if isinstance(part, Absent) and not part.cautions]
        if self.cautions or len(absent) < len(self.parts):
            return ()
        return tuple(dict.fromkeys(part.reason for part in absent))

    @property
    def html(self) -> str:
        name = escape(self.name)
        first, *rest = map(part_html, self.parts)
        return (
            f'<section class="card" id="card-{name}" aria-labelledby="title-{name}">'
            f'<h2 id="title-{name}">{escape(self.title)}</h2>'
            f'<p class="lead">{escape(self.lead)}</p>'
            f"{first}{_cautions(self.cautions)}{''.join(rest)}</section>"
        )


def part_html(part: Part) -> str:
    """A part of a card as HTML."""
    match part:
        case Figure():
            return _figure(part)
        case Absent(name, reason, cautions):
            why = f'<p class="absent"><b>Not shown:</b> {escape(reason)}.</p>'
            return f'<div id="absent-{escape(name)}">{why}{_cautions(cautions)}</div>'
        case Paragraph(text):
            return f"<p>{escape(text)}</p>"
        case Links(text, links):
            joined = ", ".join(link_html(name, label) for label, name in links)
            return f"<p>{escape(text)} {joined}.</p>"
        case Notes(items):
            return f'<ul class="notes">{_each("<li>{}</li>", items)}</ul>'
        case Tiles(tiles):
            return f'<div class="tiles">{"".join(map(_tile, tiles))}</div>'
        case Facts(rows):
            pairs = (f"<dt>{escape(what)}</dt><dd>{escape(value)}</dd>" for what, value in rows)
            return f"<dl>{''.join(pairs)}</dl>"
        case Listing():
            return _listing(part)
        case Log(title, text):
            head = f"<summary>{escape(title)}</summary>"
            return f"<details open>{head}<pre>{escape(text)}</pre></details>"
        case Command(text):
            return f'<pre class="command">{escape(text)}</pre>'
        case RunTable():
            return _run_table(part)


def link_html(name: str, label: str) -> str:
    """A link to the card called ``name``."""
    return f'<a href="#card-{escape(name)}">{escape(label)}</a>'


def _each(template: str, items: Sequence[str]) -> str:
    """``template`` filled with each text in turn, joined."""
    return "".join(template.format(escape(item)) for item in items)


def _cautions(cautions: Sequence[Diagnostic]) -> str:
    """A list of warnings with their codes."""
    items = (f"<li><code>{escape(w.code)}</code> {escape(w.message)}</li>" for w in cautions)
    return f'<ul class="cautions">{"".join(items)}</ul>' if cautions else ""


def _figure(part: Figure) -> str:
    """A place for the chart, its data, and beside it the caption and warnings."""
    specs, datasets = shared(part.wide, part.narrow)
    columns = {name: by_column(rows) for name, rows in datasets.items()}
    data = script_json({"specs": specs, "datasets": columns})
    name, cautions = escape(part.name), _cautions(part.cautions)
    return (
        f'<figure id="figure-{name}"><div class="chart" data-name="{name}"><noscript>This '
        "chart is drawn by a script.</noscript></div>"
        f'<script type="application/json" class="data">{data}</script>'
        f"<figcaption>{cautions}<p>{escape(part.caption)}</p></figcaption></figure>"
    )


def by_column(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Rows with the same keys as {'n': their number, 'columns': {name: values}}: half the size."""
    names = list(rows[0]) if rows else []
    return {"n": len(rows), "columns": {name: [row[name] for row in rows] for name in names}}


def _tile(tile: Tile) -> str:
    mark = f"<em>{escape(tile.mark)}</em>" if tile.mark else ""
    # Not splitlines, which also breaks at other characters.
    lines = [line for line in tile.detail.split("\n") if line]
    value = f"<strong>{escape(tile.value)}</strong>{mark}"
    more = _each("<small>{}</small>", lines)
    return f'<div class="tile"><span>{escape(tile.label)}</span>{value}{more}</div>'


def _listing(part: Listing) -> str:
    """A table in a frame that scrolls sideways, so that the page does not."""
    kinds = [' class="word"'] * part.n_words + [""] * len(part.columns)

    def cells(template: str, texts: Sequence[str]) -> str:
        return "".join(map(template.format, kinds, map(escape, texts)))

    heads = cells('<th scope="col"{}>{}</th>', part.columns)
    rows = (f"<tr>{cells('<td{}>{}</td>', row)}</tr>" for row in part.rows)
    name = escape(part.name)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Table: '
        f'{name.replace("-", " ")}"><table class="listing" id="table-{name}"><thead><tr>'
        f"{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _run_table(part: RunTable) -> str:
    """An empty table, which the page's script fills from the columns beside it."""
    columns = script_json([vars(column) for column in part.columns])
    return (
        '<div class="runs"><div class="tools"><label>Filter <input type="search" '
        'placeholder="done lr&gt;=0.001 N&lt;1B" spellcheck="false"></label>'
        '<output aria-live="polite"></output></div>'
        '<div class="scroll" tabindex="0" role="region" aria-label="Table: runs">'
        '<table id="table-runs"><thead></thead><tbody></tbody></table></div>'
        '<nav class="pages" aria-label="pages of runs"><button type="button" data-step="-1">'
        'Previous</button><span></span><button type="button" data-step="1">Next</button></nav>'
        f'<script type="application/json" class="data">{columns}</script></div>'
    )


def without_empty(cards: Sequence[Card]) -> list[Card]:
    """The cards that show something, and at the end one that says why the others do not."""
    why: dict[str, list[str]] = {}
    for card in cards:
        if card.why_empty:
            why.setdefault("; ".join(card.why_empty), []).append(card.title)
    shown = [card for card in cards if not card.why_empty]
    if why:
        rows = tuple((", ".join(titles), f"{reason}.") for reason, titles in why.items())
        shown.append(Card(ABSENT, "Not shown", "What could not be made, and why.", (Facts(rows),)))
    return shown


def figure(
    name: str, caption: str, draw: Callable[..., Chart], *, cautions: Sequence[Diagnostic] = ()
) -> Figure | Absent:
    """The chart of ``draw(width=…)``, or why there is none."""
    try:
        wide, narrow = (spec_of(draw(width=width)) for width in (WIDE, NARROW))
    except ChartUnavailable as error:
        return Absent(name, error.reason, tuple(cautions))
    return Figure(name, caption, wide, narrow, tuple(cautions))
