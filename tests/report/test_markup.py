"""Cards as HTML: whatever a text says, it stays text."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest

from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.report.parts import (
    Absent,
    Card,
    Command,
    Facts,
    Figure,
    Links,
    Listing,
    Log,
    Notes,
    Paragraph,
    RunColumn,
    RunTable,
    Tile,
    Tiles,
    by_column,
)

from .sources import ATTACK

QUOTES = "\"'><img src=x onerror=alert(1)>"


class Tags(HTMLParser):
    """Tags with their attributes, texts outside scripts, and the text of every script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        last = self.tags[-1][0] if self.tags else ""
        (self.scripts if last == "script" else self.words).append(data)


def parts(text: str):
    """Every kind of part, saying ``text`` wherever it can say anything."""
    caution = (Diagnostic(text, text),)
    spec = {"title": text, "datasets": {"d": [{"a": text, "b": 1.0}]}}
    return (
        Figure("f", text, spec, spec, caution),
        Absent(text, text, caution),
        Paragraph(text),
        Links(text, ((text, text),)),
        Notes((text,)),
        Tiles((Tile(text, text, text, text),)),
        Facts(((text, text),)),
        Listing(text, (text,), ((text,),)),
        Log(text, text),
        Command(text),
        RunTable((RunColumn(text, "text", [text, None]),)),
    )


@pytest.mark.parametrize("attack", [ATTACK, QUOTES, "</script><b>", "\u2028<!--"])
def test_no_text_becomes_a_tag_or_ends_a_script(attack):
    plain = Tags(Card("c", "t", "l", parts("word"), (Diagnostic("code", "text"),)).html)
    found = Tags(Card("c", attack, attack, parts(attack), (Diagnostic(attack, attack),)).html)
    assert [tag for tag, _ in found.tags] == [tag for tag, _ in plain.tags]
    assert [set(a) for _, a in found.tags] == [set(a) for _, a in plain.tags]
    assert "".join(found.words).count(attack) == "".join(plain.words).count("word") + 4


def test_the_data_of_charts_and_runs_are_json_that_says_what_was_said():
    scripts = Tags(Card("c", "t", "l", parts(ATTACK)).html).scripts
    chart, runs = (json.loads(text) for text in scripts)
    assert chart["datasets"]["d"] == {"n": 1, "columns": {"a": [ATTACK], "b": [1.0]}}
    assert chart["specs"]["wide"] == {"title": ATTACK}
    assert runs == [{"name": ATTACK, "form": "text", "values": [ATTACK, None]}]


def test_rows_become_columns():
    rows = [{"x": 1, "y": None}, {"x": 2, "y": "b"}]
    assert by_column(rows) == {"n": 2, "columns": {"x": [1, 2], "y": [None, "b"]}}
    assert by_column([]) == {"n": 0, "columns": {}}


def test_what_is_absent_says_why_in_its_place():
    found = Tags(Card("c", "t", "l", (Absent("law", "too few runs"),)).html)
    assert ("div", {"id": "absent-law"}) in found.tags
    assert "too few runs" in "".join(found.words)
