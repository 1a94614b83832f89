"""Rows of plain values to a pandas table: what ``to_frame()`` of a result gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pandas as pd

    Frame: TypeAlias = pd.DataFrame


def frame_of(rows: Iterable[Mapping[str, Any]]) -> Frame:
    """One row a mapping; columns in the order in which they first appear."""
    import pandas as pd

    return pd.DataFrame([dict(row) for row in rows])
