"""Text that fits: lines end at spaces, but not inside a formula, and hold plain spaces."""

from __future__ import annotations

from lawsmith.charts.text import text_width, unbroken, wrap


def test_a_formula_stays_on_one_line():
    text = f"Loss against compute: tinylm, {unbroken('L(C) = E + A·C^α')}"
    lines = wrap(text, 15.5, 290)
    assert lines == ["Loss against compute: tinylm,", "L(C) = E + A·C^α"]
    assert wrap(text.replace("\N{NO-BREAK SPACE}", " "), 15.5, 290) != lines
    assert all(text_width(line, 15.5) <= 290 for line in lines)


def test_a_formula_wider_than_a_line_is_broken_all_the_same():
    formula = unbroken("L(N, D) = E + A·N^-α + B·D^-β")
    assert len(wrap(formula, 15.5, 120)) > 1


def test_no_text_is_one_empty_line():
    assert wrap("", 12, 100) == [""]
