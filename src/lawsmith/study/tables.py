"""A table of past runs as columns of the study's own names: CSV, Parquet, JSON lines, W&B exports.

W&B writes settings and results under prefixes (config.lr, summary.loss), or as dictionaries in two
columns, config and summary; both are spread out. A run that its State column does not call finished
is left out: its last loss is one on the way.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lawsmith.arrays import AnyArray
from lawsmith.datasets import read_frame
from lawsmith.datasets.schema import ROLES, resolve
from lawsmith.errors import LawsmithError
from lawsmith.expressions import mask
from lawsmith.numbers import as_float, read_json, shown
from lawsmith.spreadsheet import unguarded

Columns = dict[str, AnyArray]
_PREFIXES = ("config.", "config/", "summary.", "summary/")
_STATES = {"finished", "running", "crashed", "failed", "killed", "preempted", "preempting"}
MAX_TEXT = 100_000


def read_columns(
    path: Path, axes: Sequence[str], asked: Mapping[str, str], *, where: str | None
) -> Columns:
    """N, D, loss and ``axes`` of the rows kept, by the study's names; 'row' counts from 1.

    asked   the table's names of N, D, loss and the axes, where they are not the usual ones
    where   an expression over the table's own columns
    """
    rows = [_spread(row) for row in read_frame(path).to_dict("records")]
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = {name: _column([row.get(name) for row in rows]) for name in names}
    table["row"] = np.arange(1, len(rows) + 1, dtype=np.float64)
    kept = _finished(table)
    if where is not None:
        kept &= mask(where, table)
    if not kept.any():
        got = f"none of {len(rows)} rows kept"
        raise LawsmithError(str(path), got=got, want="at least one finished run")
    known = {role: name for role, name in asked.items() if role in (*ROLES, *axes, "model")}
    for name in set(asked) - set(known):
        want = "one of " + ", ".join((*ROLES[:2], "loss", *axes, "model"))
        raise LawsmithError("--columns", got=repr(name), want=want)
    roles = resolve(names, known, source=str(path)).roles
    plays = {axis: axis for axis in (*axes, "model") if axis in table}
    plays |= {**roles, **known}
    found = {role: table[column][kept] for role, column in plays.items()}
    return {**found, "row": table["row"][kept]}


def _spread(row: Mapping[Any, Any]) -> dict[str, Any]:
    """A row with W&B's dictionaries spread out and its prefixes taken off."""
    flat: dict[str, Any] = {}
    for key, value in row.items():
        name = str(key)
        inner = _mapping(value) if name in ("config", "summary") else None
        if inner is not None:
            flat |= {str(k): v for k, v in inner.items() if not isinstance(v, dict | list)}
            continue
        for prefix in _PREFIXES:
            name = name.removeprefix(prefix)
        flat[name] = value
    return flat


def _mapping(value: object) -> Mapping[Any, Any] | None:
    """A dictionary, or the text of one as pandas writes it to CSV; read as data, never run."""
    if isinstance(value, Mapping):
        return value
    if not isinstance(value, str) or not value.startswith("{") or len(value) > MAX_TEXT:
        return None
    for read in (read_json, ast.literal_eval):
        try:
            found = read(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        if isinstance(found, dict):
            return found
    return None


def _column(values: Sequence[Any]) -> AnyArray:
    """Numbers where all there are can be read as such, else text."""
    present = [v for v in values if not _missing(v)]
    # W&B writes 'NaN' and 'Infinity' as text.
    numbers = [as_float(v) for v in present if v != ""]
    if all(number is not None for number in numbers):
        read = (np.nan if _missing(v) or v == "" else as_float(v) for v in values)
        return np.array(list(read), dtype=np.float64)
    return np.array(["" if _missing(v) else _text(v) for v in values], dtype=np.str_)


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))


def _text(value: Any) -> str:
    return unguarded(value) if isinstance(value, str) else shown(value, 1000)


def _finished(table: Columns) -> AnyArray:
    """(k,) rows that W&B's State column, if there is one, calls finished."""
    n = len(next(iter(table.values())))
    for name in ("State", "state"):
        if name in table and table[name].dtype.kind == "U":
            words = np.char.lower(table[name].astype(np.str_))
            if set(words.tolist()) <= _STATES | {""}:
                return np.asarray(words == "finished")
    return np.ones(n, dtype=np.bool_)
