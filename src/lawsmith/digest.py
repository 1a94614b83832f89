"""Digest: what a result says to people, as plain text and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

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
class Digest:
    """A heading, then sentences and tables in the order they are read."""

    title: str
    parts: Sequence[str | Columns]

    def text(self) -> str:
        """One part below the other; a table has an empty line above and below it."""
        lines, after_table = [self.title], False
        for part in self.parts:
            is_table = isinstance(part, Columns)
            lines += [""] if is_table or after_table else []
            lines.append(part.text() if isinstance(part, Columns) else part)
            after_table = is_table
        return "\n".join(lines)

    def html(self) -> str:
        told = [
            part.html() if isinstance(part, Columns) else f"<p>{escape(part)}</p>"
            for part in self.parts
        ]
        return "".join([f"<p><b>{escape(self.title)}</b></p>", *told])


def short(title: str, lines: Sequence[str]) -> str:
    """A ``repr`` of a few lines: a title, and what is below it indented."""
    return "\n".join([title, *(f"  {line}" for line in lines)])


def codes(warnings: Sequence[str]) -> list[str]:
    """'2 warnings: at_bound, lack_of_fit' as a list of one line, empty without any."""
    if not warnings:
        return []
    named = list(dict.fromkeys(warnings))
    return [f"{len(warnings)} warning{'' if len(warnings) == 1 else 's'}: {', '.join(named)}"]
