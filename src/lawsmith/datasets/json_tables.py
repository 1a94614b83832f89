"""JSON to rows of a table: an object a line, an array of objects, or columns; nested or not.

{"config": {"lr": 0.1}} becomes the column config.lr. So does the text of a dictionary in a column
config or summary, as pandas writes W&B's exports to CSV; it is read as data, never run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any

from lawsmith.errors import LawsmithError
from lawsmith.numbers import read_json

if TYPE_CHECKING:
    import pandas as pd

MAX_TEXT = 100_000
MAX_DEPTH = 8
DICTIONARIES = ("config", "summary", "hparams", "params", "metrics", "user_attrs", "args")
_LINES = "one object per line, as pandas writes with to_json(orient='records', lines=True)"


def read_rows(text: str, *, source: str) -> list[dict[str, Any]]:
    """The rows of a JSON text, each a flat dictionary."""
    try:
        whole = read_json(text)
    except JSONDecodeError:
        return [spread(row) for row in _lines(text, source)]
    except ValueError as error:
        if "\n" in text.strip():
            return [spread(row) for row in _lines(text, source)]
        raise LawsmithError(source, got=str(error), want="JSON") from None
    rows = _rows_of(whole)
    if rows is None:
        kind = f"a JSON {type(whole).__name__}"
        want = "one JSON object a run"
        raise LawsmithError(f"{source}: line 1", got=kind, want=want, hint=_LINES)
    return [spread(row) for row in rows]


def _rows_of(whole: Any) -> list[dict[str, Any]] | None:
    """Objects of an array, of the only array in an object, or made of columns; None otherwise."""
    if isinstance(whole, list):
        return whole if whole and all(isinstance(row, dict) for row in whole) else None
    if not isinstance(whole, dict) or not whole:
        return None
    split = [whole.get("columns"), whole.get("data")]
    if all(isinstance(part, list) for part in split):
        names = [str(name) for name in whole["columns"]]
        same = all(isinstance(row, list) and len(row) == len(names) for row in whole["data"])
        return [dict(zip(names, row, strict=True)) for row in whole["data"]] if same else None
    arrays = [v for v in whole.values() if isinstance(v, list) and _rows_of(v) is not None]
    if len(arrays) == 1:
        return _rows_of(arrays[0])
    orders = {tuple(v) for v in whole.values() if isinstance(v, dict)}
    columns = [list(v.values()) if isinstance(v, dict) else v for v in whole.values()]
    if (
        len(orders) <= 1
        and all(isinstance(v, list) for v in columns)
        and len({len(v) for v in columns}) == 1
    ):
        return [dict(zip(whole, row, strict=True)) for row in zip(*columns, strict=True)]
    return [whole] if any(isinstance(v, int | float) for v in whole.values()) else None


def _lines(text: str, source: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield _object(line, where=f"{source}: line {number}")


def _object(line: str, *, where: str) -> dict[str, Any]:
    try:
        row = read_json(line)
        got = f"a JSON {type(row).__name__}"
    except JSONDecodeError:
        row, got = None, repr(line.strip() if len(line) <= 40 else f"{line[:39]}…")
    except ValueError as error:
        row, got = None, str(error)
    if isinstance(row, dict):
        return row
    hint = _LINES if line.lstrip().startswith(("[", "{")) else None
    raise LawsmithError(where, got=got, want="one JSON object", hint=hint)


def spread(row: Mapping[Any, Any]) -> dict[str, Any]:
    """A row with its dictionaries spread out: names joined by dots."""
    return dict(_leaves(row, "", 0))


def _leaves(row: Mapping[Any, Any], before: str, depth: int) -> Iterator[tuple[str, Any]]:
    for key, value in row.items():
        inner = value
        if isinstance(inner, dict) and "value" in inner and set(inner) <= {"value", "desc"}:
            inner = inner["value"]  # as W&B writes settings
        if isinstance(inner, dict) and depth < MAX_DEPTH:
            yield from _leaves(inner, f"{before}{key}.", depth + 1)
        else:
            yield f"{before}{key}", inner


def spread_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with columns like 'config' that hold dictionaries as text spread out."""
    import pandas as pd

    names = [name for name in map(str, frame.columns) if name.lower() in DICTIONARIES]
    parts = [frame]
    for name in names:
        found = [dictionary(value) for value in frame[name]]
        if any(one is not None for one in found):
            rows = pd.DataFrame([spread({name: one or {}}) for one in found], index=frame.index)
            parts[0] = parts[0].drop(columns=name)
            parts.append(rows[[column for column in rows.columns if column not in frame.columns]])
    return pd.concat(parts, axis=1)


def dictionary(value: object) -> Mapping[Any, Any] | None:
    """A dictionary, or the text of one; None for anything else."""
    if isinstance(value, Mapping):
        return value
    if not isinstance(value, str) or not value.startswith("{") or len(value) > MAX_TEXT:
        return None
    readers: Sequence[Any] = (read_json, ast.literal_eval)
    for read in readers:
        try:
            found = read(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        if isinstance(found, dict):
            return found
    return None
