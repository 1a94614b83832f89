"""The board: what changed since a revision, and nothing else."""

from __future__ import annotations

from lawsmith.report.live.board import Board
from lawsmith.report.parts import Absent, Card, Paragraph

from .serving import put_all

ORDER = ("a", "b", "c")


def card(name: str, text: str) -> Card:
    return Card(name, name.upper(), text, (Paragraph(text),))


def test_only_what_changed_is_news():
    board = Board(ORDER)
    put_all(board, [card("b", "one"), card("a", "one")], ORDER)
    first = board.news(0)
    assert [name for name, _ in first.cards] == ["a", "b"]
    assert first.order == ("a", "b")
    put_all(board, [card("a", "one"), card("b", "two")], ORDER)
    news = board.news(first.revision)
    assert [name for name, _ in news.cards] == ["b"]
    assert "two" in news.cards[0][1]
    assert news.revision > first.revision


def test_the_same_again_is_no_news():
    board = Board(ORDER)
    put_all(board, [card("a", "one")], ORDER)
    board.set_state("still")
    seen = board.revision
    put_all(board, [card("a", "one")], ORDER)
    board.set_state("still")
    assert board.revision == seen
    assert board.news(seen).cards == ()


def test_a_place_that_is_not_asked_about_is_left_alone():
    board = Board(ORDER)
    put_all(board, [card("a", "one"), card("b", "one")], ORDER)
    board.put("b", None)
    assert board.news(0).order == ("a",)


def test_a_card_that_goes_is_news_and_its_link_goes_too():
    board = Board(ORDER)
    put_all(board, [card("a", "one"), card("c", "one")], ORDER)
    seen = board.revision
    put_all(board, [card("a", "one")], ORDER)
    news = board.news(seen)
    assert news.revision > seen
    assert news.cards == ()
    assert "card-c" not in news.links


def test_a_new_line_of_state_is_news():
    board = Board(ORDER)
    seen = board.revision
    board.set_state("error: gone")
    assert (board.news(seen).state, board.revision) == ("error: gone", seen + 1)


def test_an_empty_card_is_named_at_the_end_until_there_is_something_to_show():
    board = Board(ORDER)
    empty = Card("b", "B", "Lead.", (Absent("b", "too few runs"),))
    put_all(board, [card("a", "one"), empty], ORDER)
    news = board.news(0)
    assert news.order == ("a", "absent")
    assert "too few runs" in dict(news.cards)["absent"]
    assert "card-b" not in news.links
    board.put("b", card("b", "two"))
    news = board.news(news.revision)
    assert news.order == ("a", "b")
    assert [name for name, _ in news.cards] == ["b"]
    board.put("b", empty)
    assert board.news(news.revision).order == ("a", "absent")
