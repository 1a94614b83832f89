"""The error for a library that is not installed: which extra has it."""

from __future__ import annotations

from lawsmith.errors import LawsmithError


def needed(extra: str, source: str) -> LawsmithError:
    """What to install."""
    hint = f"pip install 'lawsmith[{extra}]'"
    return LawsmithError(source, got=f"no {extra} support", want="it installed", hint=hint)
