"""Packages that only some surrogates need: their absence is told in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lawsmith.errors import LawsmithError

EXTRAS = ("tabpfn",)  # all others come with lawsmith-paper itself


@contextmanager
def needs_extra(name: str) -> Iterator[None]:
    """Around the imports of surrogate ``name``: a missing package is told in one line."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or name).split(".")[0]
        extra = f"[{name}]" if name in EXTRAS else ""
        want = f"what lawsmith-paper{extra} installs"
        where = f"surrogate {name}"
        raise LawsmithError(where, got=f"no package {package}", want=want) from None
