"""Titles broken into lines that fit a chart, by estimated widths."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

JOINED = "\N{NO-BREAK SPACE}"


def title(text: str, subtitle: Sequence[str], *, pixels: int) -> dict[str, Any]:
    """A title and its subtitle lines, broken so that none is wider than ``pixels``."""
    lines = [line for part in subtitle for line in wrap(part, 12, pixels)]
    return {"text": wrap(text, 15.5, pixels), "subtitle": lines}


def wrap(text: str, size: float, pixels: int) -> list[str]:
    """The text in lines of at most ``pixels``; a text from `unbroken` stays on one line."""
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size) <= pixels:
            lines[-1] = longer
        elif text_width(word, size) <= pixels:
            lines.append(word)
        else:
            lines += textwrap.wrap(word, max(int(pixels / size), 8))  # a word wider than a line
    return [line.replace(JOINED, " ") for line in lines] or [""]


def unbroken(text: str) -> str:
    """The text with spaces at which no line may end, for formulae."""
    return text.replace(" ", JOINED)


def text_width(text: str, size: float) -> int:
    """Estimated width of a text in Arial, in pixels."""
    return round(size * sum(_width(letter) for letter in text))


def _width(letter: str) -> float:
    if letter in f" {JOINED}.,:;'|!()[]/ijlftI·":
        return 0.3
    return 0.72 if letter.isupper() or letter in "mw%" else 0.55
