"""Which places of a shell script take a quoted word: the bare ones, outside quotes and comments.

A value in single quotes is one word of text wherever a shell expects words. Inside other quotes, a
comment, a here-document or arithmetic it is not: there `'` means itself, and `$(…)` within it would
run. Nor is it for what reads its words a second time (eval, declare -i, a subscript, sh -c). What
this reader does not follow counts as such a place, from there on to the end.
"""

from __future__ import annotations

import re

# What ends the reader's knowledge in bare text and in double quotes: nested or other grammars.
_LOST_BARE = re.compile(
    r"(?<!<)<<(?!<)|`|\(\(|\[\[|\w\[|\$'|\$\{(?!\w+\})"
    r"|\b(?:eval|let|declare|typeset|local|trap|unset|read|mapfile|readarray|ssh)\b"
    r"|(?<!\S)-\w*[cv]\b"  # sh -c, bash -lc, test -v, printf -v
)
_LOST_DOUBLE = re.compile(r"`|\$\(|\$\{(?!\w+\})")
_WORD_START = re.compile(r"(?:^|[\s;&|()])$")


def bare_places(script: str) -> set[int]:
    """Positions of ``script`` at which a quoted word may stand."""
    found: set[int] = set()
    at = 0
    while at < len(script):
        char = script[at]
        if _LOST_BARE.match(script, at):
            return found
        if char == "\\":
            at += 2
        elif char == "'":
            at = _after(script, "'", at + 1)
        elif char == '"':
            end = _after_double(script, at + 1)
            if end is None:
                return found
            at = end
        elif char == "#" and _WORD_START.search(script[:at][-1:]):
            at = _after(script, "\n", at)
        else:
            found.add(at)
            at += 1
    return found


def _after(script: str, mark: str, start: int) -> int:
    """The place behind the next ``mark``."""
    found = script.find(mark, start)
    return len(script) if found < 0 else found + 1


def _after_double(script: str, start: int) -> int | None:
    """The place behind the closing double quote; None if what is inside is not followed."""
    at = start
    while at < len(script) and script[at] != '"':
        if _LOST_DOUBLE.match(script, at):
            return None
        at += 2 if script[at] == "\\" else 1
    return at + 1
