"""CSV that is safe to open in a spreadsheet: no text of a study becomes a formula.

A spreadsheet may run a cell that begins with = + - @, a tab or a carriage return. Such text gets an
apostrophe in front, which spreadsheets hide. Numbers stay as they are.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from lawsmith.numbers import as_float

_RISKY = ("=", "+", "-", "@", "\t", "\r")


def csv_text(names: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """The rows under a header; missing values are blank."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([guarded(name) for name in names])
    for row in rows:
        values = (row.get(name) for name in names)
        writer.writerow(["" if value is None else guarded(value) for value in values])
    return file.getvalue()


def guarded(value: object) -> object:
    """A cell that no spreadsheet reads as a formula."""
    if not isinstance(value, str) or not value.lstrip("'").startswith(_RISKY):
        return value
    return value if as_float(value) is not None else f"'{value}"


def unguarded(text: str) -> str:
    """The text before `guarded`."""
    risky = text.startswith("'") and text.lstrip("'").startswith(_RISKY)
    return text[1:] if risky else text
