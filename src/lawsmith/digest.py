"""Digest: a result for people, as plain text and as HTML for notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypeAlias

Row = tuple[str, ...]


@dataclass(frozen=True)
class Columns:
    """A heading, the names of the columns, and rows of as many cells."""

    title: str
    heads: Row
    rows: Sequence[Row]

    def text(self) -> str:
        """Columns aligned, the first to the left."""
        table = [self.heads, *self.rows]
        widths = [max(len(row[i]) for row in table) for i in range(len(self.heads))]
        lines = [
            "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
            for row in table
        ]
        return "\n".join([self.title, *(line.rstrip() for line in lines)])

    def html(self) -> str:
        head = "".join(f"<th>{escape(cell)}</th>" for cell in self.heads)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self.rows
        )
        return f"<p>{escape(self.title)}</p><table><tr>{head}</tr>{body}</table>"


@dataclass(frozen=True)
class Remarks:
    """A heading, and remarks below it, each by its name: warnings by their codes."""

    title: str
    rows: Sequence[tuple[str, str]]

    def text(self) -> str:
        return "\n".join([self.title, *(f"{name}: {text}" for name, text in self.rows)])

    def html(self) -> str:
        rows = (f"<li><code>{escape(k)}</code>: {escape(v)}</li>" for k, v in self.rows)
        return f"<p>{escape(self.title)}</p><ul>{''.join(rows)}</ul>"


@dataclass(frozen=True)
class Digest:
    """A heading, then sentences, tables, remarks and sections in the order they are read."""

    title: str
    parts: Sequence[Part]

    def spaced(self) -> Iterator[tuple[bool, Part]]:
        """Each part, with whether it is a sentence below a table, which an empty line sets apart.

        A table and a section have one anyhow.
        """
        below = False
        for part in self.parts:
            sentence = isinstance(part, str)
            yield below and sentence, part
            below = below or not sentence

    def text(self) -> str:
        """One part below the other."""
        lines = [self.title]
        for apart, part in self.spaced():
            if isinstance(part, str):
                lines += [""] if apart else []
                lines.append(part)
            else:
                lines += ["", part.text()]
        return "\n".join(lines)

    def html(self) -> str:
        parts = [
            f"<p>{escape(part)}</p>" if isinstance(part, str) else part.html()
            for part in self.parts
        ]
        return "".join([f"<p><b>{escape(self.title)}</b></p>", *parts])


Part: TypeAlias = str | Columns | Remarks | Digest


def as_remarks(title: str, rows: Sequence[tuple[str, str]]) -> list[Part]:
    """Remarks as a list of one part, empty where there are none."""
    return [Remarks(title, rows)] if rows else []


def as_warnings(title: str, warnings: Iterable[Any]) -> list[Part]:
    """Warnings as remarks by their codes."""
    return as_remarks(title, [(warning.code, warning.message) for warning in warnings])


def sentence(text: str) -> str:
    """The text with a capital letter at the start and a full stop at the end."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def as_notes(notes: Sequence[str], title: str = "Notes on this study") -> list[Part]:
    """Notes as a section of sentences, in a list of one; empty where there are none."""
    return [Digest(title, [sentence(note) for note in notes])] if notes else []


def plain(value: Any) -> Any:
    """Mappings, sequences and numpy values as JSON has them; NaN and infinities are null."""
    if hasattr(value, "tolist"):  # an array or a number of numpy
        value = value.tolist()
    match value:
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case bool() | None:
            return value
        case int():
            return int(value)
        case float():
            return value if math.isfinite(value) else None
    return str(value)


def short(title: str, lines: Sequence[str]) -> str:
    """A ``repr`` of a few lines: a title, and what is below it indented."""
    return "\n".join([title, *(f"  {line}" for line in lines)])


def warning_codes(warnings: Sequence[str]) -> list[str]:
    """'2 warnings: at_bound, lack_of_fit' as a list of one line, empty without any."""
    if not warnings:
        return []
    named = list(dict.fromkeys(warnings))
    return [f"{len(warnings)} warning{'' if len(warnings) == 1 else 's'}: {', '.join(named)}"]
