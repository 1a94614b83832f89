"""Placeholders of commands and templates: {name} becomes a run's value, as text and nothing more.

A value is put in whole and is never read again: braces in it are no placeholders, and without a
shell nothing in it is special. Where a shell will read the line, only values that no shell gives a
meaning to are let in. {{ and }} are braces.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from lawsmith.errors import LawsmithError, suggest

Value = float | int | str
_TOKEN = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)\}|[{}]")
PLAIN_TEXT = "letters, digits and _ . , : = @ % + / -"
PLAIN = re.compile(r"[A-Za-z0-9_.,:=@%+/-]+")  # means nothing to a shell


def value_text(value: Value) -> str:
    """A value as a trainer reads it: 1000000 for 1e6, 0.003 for 3e-3, text as it is."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def with_common_values(values: Mapping[str, Value], folder: Path) -> dict[str, Value]:
    """The values of a run, and what every command may use: the study's folder and this Python."""
    return {"study": str(folder.resolve()), "python": sys.executable, **values}


def fill(text: str, values: Mapping[str, Value], *, where: str = "command") -> str:
    """``text`` with its placeholders replaced."""

    def replaced(found: re.Match[str]) -> str:
        token, name = found.group(0), found.group(1)
        if token in ("{{", "}}"):
            return token[0]
        if name is None:
            hint = f"write {token * 2} for a brace"
            raise LawsmithError(where, got=f"a lone {token} in {text!r}", hint=hint)
        return placeholder_text(name, values, where=where, written=token)

    return _TOKEN.sub(replaced, text)


def placeholder_text(name: str, values: Mapping[str, Value], *, where: str, written: str) -> str:
    """The value of a placeholder as text; ``written`` is how the placeholder is."""
    if name not in values:
        want = "one of " + ", ".join(values)
        raise LawsmithError(where, got=written, want=want, hint=suggest(name, values))
    return value_text(values[name])


def fill_all(texts: Sequence[str], values: Mapping[str, Value], *, where: str) -> list[str]:
    """Every argument of a command that no shell will read."""
    return [fill(text, values, where=where) for text in texts]


def fill_shell(text: str, values: Mapping[str, Value], *, where: str = "command") -> str:
    """A line for a shell; a value that a shell might read as more than text is refused."""
    for name in placeholders(text):
        value = value_text(values[name]) if name in values else ""
        if value and not PLAIN.fullmatch(value):
            want = f"{PLAIN_TEXT} in a value that a shell will read"
            hint = "pass it through a command without a shell, or read $LAWSMITH_CONFIG"
            raise LawsmithError(f"{where}: {{{name}}}", got=repr(value), want=want, hint=hint)
    return fill(text, values, where=where)


def placeholders(text: str) -> tuple[str, ...]:
    """The names a text asks for, each once, in order."""
    return tuple(dict.fromkeys(name for name in _TOKEN.findall(text) if name))
