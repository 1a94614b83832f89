"""JSON to rows of a table: one object per line, an array of objects, or columns; nested or not.

{"config": {"lr": 0.1}} becomes the column config.lr. So does a dictionary as text in a column
config or summary, as pandas writes W&B's exports to CSV. It is read as data, never executed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any

from lawsmith.errors import LawsmithError
from lawsmith.numbers import read_json

if TYPE_CHECKING:
    import pandas as pd

MAX_TEXT = 100_000  # letters of a dictionary: Python's parser takes many times that memory
MAX_DEPTH = 8  # deeper dictionaries stay as they are
DICTIONARIES = ("config", "summary", "hparams", "params", "metrics", "user_attrs", "args")
_LINES = "one object per line, as pandas writes with to_json(orient='records', lines=True)"


def read_rows(text: str, *, source: str) -> list[dict[str, Any]]:
    """The rows of a JSON text, each a flat dictionary."""
    try:
        rows = _rows_of(whole := read_json(text))
    except ValueError as error:  # not JSON as a whole: one object per line
        if not isinstance(error, JSONDecodeError) and "\n" not in text.strip():
            raise LawsmithError(source, got=str(error), want="JSON") from None
        lines = enumerate(text.split("\n"), start=1)
        rows = [_object(line, f"{source}: line {n}") for n, line in lines if line.strip()]
    if rows is None:
        got, want = f"a JSON {type(whole).__name__}", "one JSON object a run"
        raise LawsmithError(f"{source}: line 1", got=got, want=want, hint=_LINES)
    return [spread(row) for row in rows]


def _rows_of(whole: Any) -> list[dict[str, Any]] | None:
    """The objects of an array, of the only array in an object, or of columns; None otherwise."""
    match whole:
        case [*rows] if rows and all(isinstance(row, dict) for row in rows):
            return rows
        case {"columns": list(names), "data": list(rows)}:
            if not all(isinstance(row, list) and len(row) == len(names) for row in rows):
                return None
            return [dict(zip(map(str, names), row, strict=True)) for row in rows]
        case dict() if whole:
            values = list(whole.values())
        case _:
            return None
    arrays = [v for v in values if isinstance(v, list) and _rows_of(v) is not None]
    if len(arrays) == 1:
        return _rows_of(arrays[0])
    orders = {tuple(v) for v in values if isinstance(v, dict)}
    columns = [list(v.values()) if isinstance(v, dict) else v for v in values]
    lengths = {len(v) if isinstance(v, list) else -1 for v in columns}
    if len(orders) <= 1 and len(lengths) == 1 and lengths != {-1}:
        return [dict(zip(whole, row, strict=True)) for row in zip(*columns, strict=True)]
    return [whole] if any(isinstance(v, int | float) for v in values) else None


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        row = read_json(line)
    except JSONDecodeError:
        got = repr(line.strip() if len(line) <= 40 else f"{line[:39]}…")
    except ValueError as error:
        got = str(error)
    else:
        if isinstance(row, dict):
            return row
        got = f"a JSON {type(row).__name__}"
    hint = _LINES if line.lstrip().startswith(("[", "{")) else None
    raise LawsmithError(where, got=got, want="one JSON object", hint=hint)


def spread(row: Mapping[Any, Any]) -> dict[str, Any]:
    """A row with nested dictionaries flattened: names are joined by dots."""
    return dict(_leaves(row, "", 0))


def _leaves(row: Mapping[Any, Any], before: str, depth: int) -> Iterator[tuple[str, Any]]:
    for key, value in row.items():
        inner = value
        if isinstance(inner, dict) and "value" in inner and set(inner) <= {"value", "desc"}:
            inner = inner["value"]  # W&B writes settings like this
        if isinstance(inner, dict) and depth < MAX_DEPTH:
            yield from _leaves(inner, f"{before}{key}.", depth + 1)
        else:
            yield f"{before}{key}", inner


def spread_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with dictionaries as text, in columns like 'config', flattened."""
    import pandas as pd

    parts = [frame]
    for name in [name for name in map(str, frame.columns) if name.lower() in DICTIONARIES]:
        found = [_dictionary(value) for value in frame[name]]
        if any(found):
            rows = pd.DataFrame([spread({name: one}) for one in found], index=frame.index)
            parts[0] = parts[0].drop(columns=name)
            parts.append(rows[[column for column in rows.columns if column not in frame.columns]])
    return pd.concat(parts, axis=1)


def _dictionary(value: object) -> Mapping[Any, Any]:
    """The dictionary in a text, an empty one for anything else."""
    if not isinstance(value, str) or not value.startswith("{") or len(value) > MAX_TEXT:
        return {}
    for read in (read_json, ast.literal_eval):
        try:
            parsed = read(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        if isinstance(parsed, dict):
            return parsed
    return {}
