"""Packages that only some surrogates need: their absence is told in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lawsmith.errors import LawsmithError


@contextmanager
def needs_extra(name: str) -> Iterator[None]:
    """Around the imports of surrogate ``name``: a missing package names the extra to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or name).split(".")[0]
        want = f"the extra (pip install 'lawsmith[{name}]')"
        where = f"surrogate {name}"
        raise LawsmithError(where, got=f"no package {package}", want=want) from None
