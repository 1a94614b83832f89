"""Columns about the runs themselves: what they are called, how they ended, what they branched from.

Names are text for people, which nothing is computed from. A run that crashed, was killed or still
runs is no result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lawsmith.arrays import BoolArray, FloatArray
from lawsmith.datasets import cells, words
from lawsmith.datasets.records import Branches
from lawsmith.datasets.schema import find_column
from lawsmith.datasets.words import STATES

if TYPE_CHECKING:
    import pandas as pd

MAX_LETTERS = 120  # a name is shown in a cell of a table


def run_names(
    frame: pd.DataFrame, columns: Sequence[str], *, asked: bool
) -> tuple[str | None, tuple[str, ...]]:
    """(column, the names in it), of the first of ``columns`` that names runs; (None, ()) if none.

    A column that was ``asked`` for is taken as it is. One that only has the right name must tell
    the runs apart: 'name' may as well be that of a model, and 'id' that of a machine.
    """
    for column in columns:
        names = _names(frame[column])
        if asked or ("" not in names and len(set(names)) == len(names)):
            return column, names
    return None, ()


def _names(column: pd.Series[Any]) -> tuple[str, ...]:
    """The names in a column, '' where it is blank."""
    pairs = zip(column.isna(), column, strict=True)
    return tuple("" if missing else name_text(value) for missing, value in pairs)


def name_text(value: object) -> str:
    """A cell on one line; a whole number without its point, since a gap makes a column floats."""
    number = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    text = " ".join(f"{value:.0f}".split() if number else str(value).split())
    return text if len(text) <= MAX_LETTERS else f"{text[: MAX_LETTERS - 1]}…"


def branches(frame: pd.DataFrame, *, source: str) -> Branches | None:
    """What the columns 'parent' and 'branch_at' say; None where there is neither."""
    names = list(map(str, frame.columns))
    parent, at = (find_column(role, names, source) for role in ("parent", "branch_at"))
    if parent is None and at is None:
        return None
    missing: tuple[FloatArray, list[cells.Fault]] = (np.full(len(frame), np.nan), [])
    tokens, faults = missing if at is None else cells.optional(frame[at])
    return Branches(() if parent is None else _names(frame[parent]), tokens, tuple(faults))


def state_column(frame: pd.DataFrame) -> str | None:
    """The column that says how runs ended: called so, and most of its words are known."""
    for name in map(str, frame.columns):
        if words.is_one_of(name, words.STATE_NAMES):
            said = set(_states(frame[name])) - {""}
            known = said & {state for states in STATES.values() for state in states}
            if known and 2 * len(known) >= len(said):
                return name
    return None


def finished(column: pd.Series[Any]) -> tuple[BoolArray, BoolArray, dict[str, int]]:
    """(rows that are results, rows that diverged, how many of each other state are left out)."""
    said = _states(column)
    diverged, done = (
        np.array([word in STATES[kind] for word in said], dtype=np.bool_)
        for kind in ("diverged", "finished")
    )
    kept = diverged | done
    others = Counter(said[i] or "of no state" for i in np.flatnonzero(~kept))
    return kept, diverged, dict(others.most_common())


def _states(column: pd.Series[Any]) -> list[str]:
    """The states in plain form: 'TrialState.COMPLETE' is complete."""
    cells = zip(column.tolist(), column.isna().tolist(), strict=True)
    return ["" if no else words.plain(str(cell).rsplit(".", 1)[-1].lower()) for cell, no in cells]
