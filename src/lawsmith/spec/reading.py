"""Values of a file to a checked model: every fault is an error ``key: got, want (hint)``.

Below are the checks of single words: names, patterns, paths that stay inside, lengths of time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from lawsmith.errors import LawsmithError, suggest
from lawsmith.formats import plural
from lawsmith.numbers import as_float, short_repr
from lawsmith.plausible import Bounds


class Table(BaseModel):
    """A table of a study file: strict types, unknown keys are refused, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _know_every_key(cls, values: Any) -> Any:
        """A misspelt key is named before the one that it leaves missing."""
        known = [info.alias or name for name, info in cls.model_fields.items()]
        for key in values if isinstance(values, dict) else ():
            if key not in known:
                want, hint = "one of " + ", ".join(known), suggest(str(key), known)
                error = LawsmithError(str(key), got="an unknown key", want=want, hint=hint)
                raise ValueError(error)
        return values


T = TypeVar("T", bound=BaseModel)
P = ParamSpec("P")
R = TypeVar("R")

_WANTS = {
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "finite_number": "a finite number",
}


def checking(check: Callable[P, R]) -> Callable[P, R]:
    """A check of ours as one of pydantic's, which adds the key to what the check says.

    The check's own ``where`` is what lies within the key, or '' for the key itself.
    """

    @wraps(check)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return check(*args, **kwargs)
        except LawsmithError as error:
            raise ValueError(error) from None

    return checked


def within(bounds: Bounds) -> Callable[[float], float]:
    """The check that a number lies inside ``bounds``."""

    @checking
    def check(value: float) -> float:
        if not bounds.contains(value):
            raise LawsmithError("", got=f"{value:g}", want=bounds.want)
        return value

    return check


def read_table(model: type[T], values: Mapping[str, Any], *, where: str = "") -> T:
    """``values`` as a ``model``; ``where`` is the key under which they stand in the file."""
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        raise _error_of(error, where) from None


def _error_of(error: ValidationError, where: str) -> LawsmithError:
    """The first fault, in our words, and how many more there are."""
    faults = error.errors(include_url=False)
    first = faults[0]
    key = _key_text(where, first["loc"])
    more = f"; {plural(len(faults) - 1, 'more error')}" if len(faults) > 1 else ""
    cause = getattr(first.get("ctx", {}).get("error"), "args", (None,))[0]
    if isinstance(cause, LawsmithError):
        where = ".".join(part for part in (key, cause.where) if part)
        return LawsmithError(where, got=cause.got, want=cause.want, hint=cause.hint)
    if first["type"] == "missing":
        return LawsmithError(key, got="nothing", want="a value: the key is required" + more)
    want = _WANTS.get(first["type"]) or first["msg"].removeprefix("Input should be ")
    return LawsmithError(key, got=short_repr(first["input"]), want=want + more)


def _key_text(where: str, loc: Sequence[str | int]) -> str:
    """'model[2].N' for ('model', 1, 'N'): people count from 1."""
    text = where
    for part in loc:
        if isinstance(part, int):
            text += f"[{part + 1}]"
        else:
            text += f".{part}" if text else str(part)
    return text


_OF_A_RUN = ("N", "D", "C", "model", "tokens_per_param", "loss", "trial", "attempt", "name", "seed")
_OF_A_TRUNK = ("kind", "parent", "parent_folder", "branch_at", "save_at", "folder")
RESERVED = (*_OF_A_RUN, *_OF_A_TRUNK)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_TEXT = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(s|min|m|h|d)\s*")
LONGEST = 3650 * 86400.0  # ten years: more is a mistake in the unit


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


def seconds_of(value: object) -> float:
    """Seconds of a number or of a text with a unit."""
    seconds = math.nan
    if isinstance(value, int | float) and (number := as_float(value)) is not None:
        seconds = number
    elif isinstance(value, str) and (found := _TEXT.fullmatch(value)):
        seconds = float(found[1]) * _UNITS[found[2]]
    if not 0.0 <= seconds <= LONGEST:
        want = "seconds, or text such as '90s', '15min', '2h' or '1d'"
        raise LawsmithError("", got=short_repr(value), want=want)
    return seconds
