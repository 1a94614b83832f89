"""The page: one file that loads nothing, with every card, written whole or not at all."""

from __future__ import annotations

import re

import pytest

from lawsmith.errors import LawsmithError
from lawsmith.report import report_html, write_report
from lawsmith.report.page import asset
from lawsmith.report.parts import without_empty

from .sources import cards, page
from .test_markup import Tags


def test_a_page_loads_nothing_from_outside(source):
    found = Tags(page(source))
    for tag, attributes in found.tags:
        assert not {"src", "action", "srcset", "data"} & set(attributes), tag
        assert (attributes.get("href") or "#").startswith("#")
    policy = next(a["content"] for _, a in found.tags if "http-equiv" in a)
    assert policy.startswith("default-src 'none'")
    assert "connect-src 'none'" in policy
    assert "http" not in policy
    for name in ("page.js", "runs.js", "live.js", "start.js", "page.css"):
        assert not re.search(r"https?:|@import|url\(", asset(name)), name


def test_a_page_has_a_section_and_a_link_for_every_card(source):
    found = Tags(page(source))
    names = [card.name for card in without_empty(cards(source))]
    sections = [a["id"] for tag, a in found.tags if tag == "section"]
    assert sections == [f"card-{name}" for name in names]
    links = [a["href"] for tag, a in found.tags if tag == "a"]
    assert links[: len(names)] == [f"#card-{name}" for name in names]
    assert set(links) == set(links[: len(names)])  # those in the text lead somewhere too


def test_the_same_source_gives_the_same_page(table):
    assert report_html(table) == page(table)


def test_only_a_live_page_asks_for_more(table):
    text = page(table)
    assert "async function live" not in text
    assert 'id="state"' not in text


def test_a_report_is_written_into_folders_that_are_made(table, tmp_path):
    path = write_report(table, tmp_path / "a" / "b" / "report.html")
    assert path.read_text(encoding="utf-8") == page(table)
    assert [p.name for p in path.parent.iterdir()] == ["report.html"]


def test_a_place_that_cannot_be_written_is_told_in_one_line(table, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LawsmithError, match="want a file that can be written"):
        write_report(table, tmp_path / "file" / "report.html")
