"""The plain values at the top of a YAML file: all that trackers' small files need, and no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lawsmith.files import read_bytes
from lawsmith.numbers import as_float

MAX_BYTES = 16 * 2**20
_WORDS: dict[str, Any] = {"null": None, "~": None, "": None, "true": True, "false": False}
_NUMBERS = {".nan": float("nan"), ".inf": float("inf"), "-.inf": float("-inf")}


def read_flat(path: Path) -> dict[str, Any]:
    """``key: value`` lines of a file; what is nested, or goes on in further lines, is left out."""
    data = read_bytes(path, limit=MAX_BYTES)
    found: dict[str, Any] = {}
    for line in data[:MAX_BYTES].decode("utf-8", "replace").splitlines():
        key, colon, value = line.partition(":")
        if not colon or line[:1] in (" ", "\t", "#", "-", "?", "{", "[", "!", "%"):
            continue
        if value and not value.startswith(" "):
            continue  # a word with a colon, not a key
        found[_unquoted(key.strip())] = _value(value.split(" #", 1)[0].strip())
    return found


def _value(word: str) -> Any:
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    if word.lower() in _NUMBERS:
        return _NUMBERS[word.lower()]
    number = as_float(word)
    if number is not None and word.lower().lstrip("+-") not in ("nan", "inf", "infinity"):
        return int(word) if word.lstrip("+-").isdecimal() and len(word) < 19 else number
    return _unquoted(word)


def _unquoted(word: str) -> str:
    quoted = len(word) > 1 and word[0] == word[-1] and word[0] in "'\""
    return word[1:-1] if quoted else word
