"""Warnings about the loss of a table: of training, one of several, or rows that are no runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lawsmith.arrays import AnyArray
from lawsmith.datasets import cells
from lawsmith.datasets.schema import Schema
from lawsmith.datasets.words import TRAINING, plain, quoted
from lawsmith.laws.diagnostics import Diagnostic

if TYPE_CHECKING:
    import pandas as pd

MANY = 5  # rows of one name


def loss_warnings(schema: Schema) -> list[Diagnostic]:
    """A loss that was passed over, or one of training."""
    column = schema.roles["loss"]
    if schema.passed is not None:
        other = schema.passed
        text = f"The loss is {column!r}, not {other!r}. If it should be: --loss {quoted(other)}."
        return [Diagnostic("another_loss", text, {"taken": column, "other": schema.passed})]
    if set(plain(column).split("_")) & set(TRAINING):
        text = f"The loss is {column!r}, of training. If data repeats, it is too low."
        return [Diagnostic("training_loss", text, {"taken": column})]
    return []


def curve_warnings(
    frame: pd.DataFrame, schema: Schema, table: Mapping[str, AnyArray]
) -> list[Diagnostic]:
    """A table with many moments of each run, which are no runs of their own."""
    if not schema.runs or "D" not in table:
        return []
    groups: dict[str, list[float]] = {}
    for name, tokens in zip(cells.texts(frame[schema.runs[0]]), table["D"].tolist(), strict=True):
        groups.setdefault(name, []).append(tokens)
    sizes = [len(moments) for moments in groups.values()]
    apart = all(len(set(moments)) == len(moments) for moments in groups.values())
    if np.median(sizes) < MANY or not apart:
        return []
    text = (
        f"Each of the {len(groups)} names in {schema.runs[0]!r} has many rows of different D. "
        "Losses along runs are no finished runs: keep the last row of each run here, and give "
        "this table as --curves."
    )
    return [Diagnostic("rows_along_runs", text, {"column": schema.runs[0]})]
