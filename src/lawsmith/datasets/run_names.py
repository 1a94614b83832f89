"""What a table calls its runs: text for people, which nothing is computed from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

MAX_LETTERS = 120  # a name is shown in a cell of a table


def run_names(
    frame: pd.DataFrame, columns: Sequence[str], *, told: bool
) -> tuple[str | None, tuple[str, ...]]:
    """(column, the names in it), of the first of ``columns`` that names runs; (None, ()) if none.

    A column that was ``told`` is taken as it is. One that only has the right name must tell the
    runs apart: 'name' may as well be that of a model, and 'id' that of a machine.
    """
    for column in columns:
        missing = frame[column].isna()
        cells = zip(missing, frame[column], strict=True)
        names = ["" if gone else name_text(value) for gone, value in cells]
        if told or (not missing.any() and "" not in names and len(set(names)) == len(names)):
            return column, tuple(names)
    return None, ()


def name_text(value: object) -> str:
    """A cell on one line; a whole number without its point, since a gap makes a column floats."""
    number = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    text = " ".join(f"{value:.0f}".split() if number else str(value).split())
    return text if len(text) <= MAX_LETTERS else f"{text[: MAX_LETTERS - 1]}…"
