"""What it takes to make the report again: commands, settings, files with checksums, versions."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from lawsmith import __version__
from lawsmith.formats import number
from lawsmith.report.parts import Card, Command, Facts, Listing, Part, Words
from lawsmith.report.source import Source

PACKAGES = ("numpy", "scipy", "pandas", "altair", "vl-convert-python")


def record(source: Source) -> Card:
    """Settings, versions, checksums, commands."""
    told = source.record
    parts: list[Part] = [Command(text) for text in told.commands]
    if told.settings:
        rows = tuple((key.replace("_", " "), _text(value)) for key, value in told.settings.items())
        parts.append(Facts(tuple(row for row in rows if row[1])))
    if told.files:
        files = tuple((f.name, f.sha256, f"{f.n_bytes:,}") for f in told.files)
        parts.append(Listing("files", ("file", "sha256", "bytes"), files, n_words=2))
    else:
        parts.append(Words("No file was read."))
    parts.append(Facts(_versions(told.made)))
    return Card(
        "record", "How to reproduce it", "Commands, settings, checksums, versions.", tuple(parts)
    )


def _versions(made: str) -> tuple[tuple[str, str], ...]:
    found = [("lawsmith", __version__), ("Python", platform.python_version())]
    for name in PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return (*found, *((("made", made),) if made else ()))


def _text(value: object) -> str:
    """A setting as text; '' for one that was not set."""
    match value:
        case None | "" | [] | ():
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return number(value, 6)
        case list() | tuple():
            return ", ".join(_text(item) for item in value)
        case dict():
            return ", ".join(f"{key} = {_text(item)}" for key, item in value.items())
    return str(value)
