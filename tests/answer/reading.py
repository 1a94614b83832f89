"""What people see of an answer, read back as numbers: from text, from HTML, from a report's page.

A forecast is read as {what: numbers}: 'best loss' and 'one further run' have a value and two ends,
N, D, D/N and hyperparameters two more of what is within 0.5 % of the best; a category is its word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import unescape

from lawsmith.formats import parse_number

Numbers = tuple[float, ...] | str
Read = dict[str, Numbers]


def of_text(text: str, labels: Sequence[str]) -> dict[str, Read]:
    """Forecasts by target, from the terminal or a summary."""
    found: dict[str, Read] = {}
    inside: Read | None = None
    for line in text.splitlines():
        named = [label for label in labels if re.match(rf"{re.escape(label)}, ", line)]
        if line and not line.startswith(" "):
            inside = None  # a heading of something else ends a table
        if named and max(named, key=len) not in found:
            found[max(named, key=len)] = inside = {}
        cells = re.split(r"\s{2,}", line.strip())
        row = line.startswith(" ") and len(cells) >= 2 and cells[0] != "value"
        if inside is not None and row:
            inside.update(_row(cells))
    return found


def of_tables(html: str) -> dict[str, Read]:
    """Forecasts by target, from the tables of `_repr_html_`."""
    found = {}
    for title, table in re.findall(r"<p>([^<]*)</p><table>(.*?)</table>", html, re.S):
        found[_label(title)] = _table(table)
    return found


def of_page(html: str) -> dict[str, Read]:
    """Forecasts by target, from the answer card of a report: tiles, then tables."""
    card = section(html)
    found: dict[str, Read] = {}
    first: Read = {}
    for label, value, details in re.findall(
        r'<div class="tile"><span>(.*?)</span><strong>(.*?)</strong>(.*?)</div>', card, re.S
    ):
        told = [unescape(line) for line in re.findall(r"<small>(.*?)</small>", details)]
        ends = {
            start: line.removeprefix(start)
            for line in told
            for start in ("95% interval ", "of one further run ", "within 0.5% of the best: ")
            if line.startswith(start)
        }
        what = unescape(label)
        if what.startswith("Best loss at "):
            found[what.removeprefix("Best loss at ")] = first
            first.update(_row(["best loss", unescape(value), ends["95% interval "]]))
            first.update(_row(["one further run", unescape(value), ends["of one further run "]]))
        elif what.startswith("Best "):
            spans = [ends[k] for k in ("95% interval ", "within 0.5% of the best: ") if k in ends]
            first.update(_row([what.removeprefix("Best "), unescape(value), *spans]))
    for title, table in re.findall(
        r'id="table-target-\d+"><thead><tr><th[^>]*>(.*?)</th>.*?<tbody>(.*?)</tbody>', card, re.S
    ):
        found[_label(title)] = _table(table)
    return found


def _label(title: str) -> str:
    """The target's label in the title of its table."""
    return re.sub(r", (inside the data|[\d.]+ decades of compute.*)$", "", unescape(title))


def section(html: str) -> str:
    """The answer card of a page."""
    return html.partition('id="card-answer"')[2].partition("</section>")[0]


def codes_of_page(html: str) -> list[str]:
    """The codes of the warnings in the answer card."""
    listed = re.search(r'<ul class="cautions">(.*?)</ul>', section(html), re.S)
    return re.findall(r"<code>(\w+)</code>", listed[1]) if listed else []


def codes_of_text(text: str) -> list[str]:
    """The codes of the warnings about the answer on a terminal."""
    told = text.partition("Warnings about the answer\n")[2].partition("\n\n")[0]
    return re.findall(r"^  (\w+): ", told, re.M)


def words(text: str) -> str:
    """Text without line ends, tags and escapes."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())


def _table(html: str) -> Read:
    found: Read = {}
    for row in re.findall(r"<tr>(.*?)</tr>", html, re.S):
        cells = [unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.S)]
        told = [cell for cell in cells if cell and not cell.startswith("at the edge")]
        found.update(_row(told) if told else {})
    return found


def _row(cells: Sequence[str]) -> Read:
    what, value, *spans = cells
    number = parse_number(value)
    if number != number:
        return {what: value}
    return {what: (number, *_ends(spans))}


def _ends(spans: Iterable[str]) -> Iterable[float]:
    for span in spans:
        low, high = span.strip("[]").split(", ")
        yield parse_number(low)
        yield parse_number(high)
