"""Errors of the command line's readers in the words of Python: options become keywords."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from lawsmith.errors import LawsmithError

P = ParamSpec("P")
R = TypeVar("R")

# What an option is called here, where that is another name.
KEYWORDS = {"target": "targets", "at": "targets", "fix": "fixed", "prior": "priors"}
_PAIRS = re.compile(r"--((?:curve-)?columns) ((?:[\w./]+=[\w./]+,?)+)")
_WORD = re.compile(r"--(law|objective|curve-kind) ([\w.|]+)")
_FLAG = re.compile(r"--(force|skip-bad-rows)\b")
_OPTION = re.compile(r"--([a-z][a-z-]*)")


def in_python(function: Callable[P, R]) -> Callable[P, R]:
    """Raise the errors of ``function`` with keywords where they name options."""

    @wraps(function)
    def told(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except LawsmithError as error:
            got = keywords(error.got) if isinstance(error.got, str) else error.got
            want = None if error.want is None else keywords(error.want)
            hint = None if error.hint is None else keywords(error.hint)
            raise LawsmithError(keywords(error.where), got=got, want=want, hint=hint) from None

    return told


def keywords(text: str) -> str:
    """'say which: --columns N=NAME' → "say which: columns={'N': 'NAME'}"."""
    text = _PAIRS.sub(lambda m: f"{_name(m[1])}={_mapping(m[2])}", text)
    text = _WORD.sub(lambda m: f"{_name(m[1])}={m[2]!r}", text)
    text = _FLAG.sub(lambda m: f"{_name(m[1])}=True", text)
    return _OPTION.sub(lambda m: _name(m[1]), text)


def _name(option: str) -> str:
    return KEYWORDS.get(option, option.replace("-", "_"))


def _mapping(pairs: str) -> dict[str, str]:
    parts = (pair.partition("=") for pair in pairs.rstrip(",").split(","))
    return {name: value for name, _, value in parts}
