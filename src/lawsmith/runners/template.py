"""Placeholders of commands and templates: {name} is replaced by a run's value, as plain text.

A value is inserted as it is: braces in it are not placeholders, and without a shell nothing in it
is special. In a line for a shell, only values without special characters are allowed. {{ and }}
stand for braces.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from lawsmith.errors import LawsmithError, suggest

Value = float | int | str
_TOKEN = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}|[{}]")
PLAIN_TEXT = "letters, digits and _ . , : = @ % + / -"
PLAIN = re.compile(r"[A-Za-z0-9_.,:=@%+/-]+")  # nothing that is special to a shell


def value_text(value: Value) -> str:
    """A value as training code reads it: 1000000 for 1e6, 0.003 for 3e-3, text unchanged."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def with_common_values(values: Mapping[str, Value], folder: Path) -> dict[str, Value]:
    """The values of a run, and those of every command: the study's folder and this Python."""
    return {"study": str(folder.resolve()), "python": sys.executable, **values}


def fill(text: str, values: Mapping[str, Value], *, where: str = "command") -> str:
    """``text`` with its placeholders replaced."""

    def replaced(match: re.Match[str]) -> str:
        token, name = match.group(0), match.group(1)
        if token in ("{{", "}}"):
            return token[0]
        if name is None:
            hint = f"write {token * 2} for a brace"
            raise LawsmithError(where, got=f"a lone {token} in {text!r}", hint=hint)
        return placeholder_text(name, values, where=where, written=token)

    return _TOKEN.sub(replaced, text)


def placeholder_text(name: str, values: Mapping[str, Value], *, where: str, written: str) -> str:
    """The text that replaces a placeholder; ``written`` is the placeholder, for errors."""
    if name not in values:
        want = "one of " + ", ".join(values)
        raise LawsmithError(where, got=written, want=want, hint=suggest(name, values))
    return value_text(values[name])


def fill_shell(text: str, values: Mapping[str, Value], *, where: str = "command") -> str:
    """A line for a shell; values with characters that are special to a shell are refused."""
    for name in placeholders(text):
        value = value_text(values[name]) if name in values else ""
        if value and not PLAIN.fullmatch(value):
            want = f"{PLAIN_TEXT} in a value that a shell will read"
            hint = "pass it through a command without a shell, or read $LAWSMITH_CONFIG"
            raise LawsmithError(f"{where}: {{{name}}}", got=repr(value), want=want, hint=hint)
    return fill(text, values, where=where)


def placeholders(text: str) -> tuple[str, ...]:
    """The names of a text's placeholders, each once, in order."""
    return tuple(dict.fromkeys(name for name in _TOKEN.findall(text) if name))
