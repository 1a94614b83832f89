"""Checks on the words of a study file: names, patterns, paths that stay inside."""

from __future__ import annotations

import re

from lawsmith.errors import LawsmithError

_OF_A_RUN = ("N", "D", "C", "model", "tokens_per_param", "loss", "trial", "attempt", "name", "seed")
_OF_A_TRUNK = ("kind", "parent", "parent_folder", "branch_at", "save_at", "folder")
RESERVED = (*_OF_A_RUN, *_OF_A_TRUNK)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def plain_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        want = "letters, digits, '.', '_' and '-' alone, at most 64"
        raise LawsmithError("", got=repr(text), want=want)
    return text


def inside(text: str) -> str:
    """A file name that stays in the folder it is looked up in."""
    if not text or text.startswith(("/", "~")) or ".." in text.split("/") or "\0" in text:
        raise LawsmithError("", got=repr(text), want="a path inside the run's folder")
    return text


def check_word(key: str) -> None:
    """A name that a placeholder and an expression can use, and that means nothing else."""
    if not _WORD.fullmatch(key):
        raise LawsmithError(repr(key), got="no word", want="letters, digits and _ alone")
    if key in RESERVED:
        want = f"another name than {', '.join(RESERVED)}"
        raise LawsmithError(key, got="a reserved name", want=want)


def check_pattern(pattern: str, *, key: str = "pattern", groups: bool = True) -> None:
    try:
        found = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        got = f"{pattern!r} ({error})"
        raise LawsmithError(key, got=got, want="a regular expression") from None
    if groups and found.groups != 1:
        got = f"{pattern!r} with {found.groups} groups"
        raise LawsmithError(key, got=got, want="one group (…) around the loss")
