"""Lengths of time in a study file: seconds, or text such as '90s', '15min', '2h', '1d'."""

from __future__ import annotations

import math
import re

from lawsmith.errors import LawsmithError
from lawsmith.numbers import as_float, shown

_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_TEXT = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(s|min|m|h|d)\s*")
LONGEST = 3650 * 86400.0


def seconds_of(value: object) -> float:
    """Seconds of a number or of a text with a unit."""
    seconds = math.nan
    if isinstance(value, int | float) and (number := as_float(value)) is not None:
        seconds = number
    elif isinstance(value, str) and (found := _TEXT.fullmatch(value)):
        seconds = float(found[1]) * _UNITS[found[2]]
    if not 0.0 <= seconds <= LONGEST:
        want = "seconds, or text such as '90s', '15min', '2h' or '1d'"
        raise LawsmithError("", got=shown(value), want=want)
    return seconds
