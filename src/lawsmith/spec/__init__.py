"""The study file: study.toml to a checked `StudySpec`, and that to the candidates of a study."""

from __future__ import annotations

import tomllib
from pathlib import Path

from lawsmith.errors import LawsmithError, suggest
from lawsmith.files import read_bytes, reason
from lawsmith.spec.build import Candidates, build_candidates
from lawsmith.spec.models import StudySpec
from lawsmith.spec.reading import read_table

MAX_BYTES = 2**20  # study files have a few kilobytes


def load_spec(path: str | Path) -> StudySpec:
    """The study in the file at ``path``."""
    path = Path(path)
    try:
        raw = read_bytes(path, limit=MAX_BYTES)
    except IsADirectoryError:
        hint = f"try {path / 'study.toml'}"
        raise LawsmithError(str(path), got="a folder", want="a study file", hint=hint) from None
    except FileNotFoundError:
        near = [p.name for p in path.parent.glob("*.toml")] if path.parent.is_dir() else []
        hint = suggest(path.name, near) or "`lawsmith init` writes one"
        raise LawsmithError(str(path), got="no such file", want="a study file", hint=hint) from None
    except (OSError, ValueError) as error:
        want = "a readable study file"
        raise LawsmithError(str(path), got=reason(error), want=want) from None
    if len(raw) > MAX_BYTES:
        raise LawsmithError(str(path), got="more than 1 MB", want="a study file")
    return parse_spec(raw, where=str(path))


def parse_spec(raw: bytes, *, where: str = "study.toml") -> StudySpec:
    """The study in the bytes of a file."""
    try:
        values = tomllib.loads(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise LawsmithError(where, got="bytes that are not text", want="TOML in UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        # ValueError: an integer of thousands of digits.
        raise LawsmithError(where, got=str(error)[:200], want="TOML") from None
    try:
        return read_table(StudySpec, values)
    except LawsmithError as error:
        raise LawsmithError(f"{where}: {error}") from None
