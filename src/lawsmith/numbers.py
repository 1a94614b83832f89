"""Text and JSON to numbers. Every number from outside is read here.

Python raises different exceptions for a number of 5,000 digits, an integer too large for a float
and a lone surrogate. Here they are just "not a number" or "not JSON".
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from lawsmith.errors import LawsmithError


def as_float(value: object) -> float | None:
    """``value``, a number or text, as a float; None if it is not a number. NaN and inf are numbers.

    An integer too large for a float is infinite, like 1e400. True and False are not numbers.
    """
    if isinstance(value, bool) or (hasattr(value, "__len__") and not isinstance(value, str)):
        return None  # an array with one number is not a number
    if isinstance(value, str) and "_" in value:
        return None  # float() reads 1_000, which no other reader of tables does
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        return math.inf if isinstance(value, int) and value > 0 else -math.inf
    except (TypeError, ValueError):
        return None


UNITS = {
    **dict.fromkeys(("k", "thousand", "thousands"), 1e3),
    **dict.fromkeys(("m", "mm", "mn", "mil", "million", "millions"), 1e6),
    **dict.fromkeys(("b", "bn", "g", "bil", "billion", "billions"), 1e9),
    **dict.fromkeys(("t", "tn", "trillion", "trillions"), 1e12),
}
_WORDS = ("params", "parameters", "tokens", "toks", "tok", "flop", "flops")
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:([,_ \u00a0\u202f'])\d{3})(?:\1\d{3})*(?:\.\d+)?")
_AMOUNT = re.compile(r"(.*[\d.])\s*([a-z]+)(?:\s*(?:params|parameters|tokens|toks|tok|flops?))?")


def as_amount(value: object) -> float | None:
    """Like `as_float`, but also 125M, 1.3 billion, 20B tokens and 1,300,000.

    A comma that does not group three digits is refused: 2,31 may be 2.31 or 231.
    """
    number = as_float(value)
    if number is not None or not isinstance(value, str) or len(value) > 100:
        return number
    word = value.strip().lower()
    scale = 1.0
    if (found := _AMOUNT.fullmatch(word)) is not None:
        word, unit = found[1].strip(), found[2]
        scale = 1.0 if unit in _WORDS else UNITS.get(unit, math.nan)
    if _GROUPED.fullmatch(word):
        word = re.sub(r"[^\d.+-]", "", word)
    number = as_float(word)
    if number is None or math.isnan(scale):
        return None
    # 1.1B is 1100000000, not 1100000000.0000001, so the exponent is added to the text.
    exact = as_float(f"{word}e{round(math.log10(scale))}") if "e" not in word else None
    return number * scale if exact is None else exact


def as_finite(value: object, *, where: str, want: str = "a finite number") -> float:
    """``value`` as a finite number, or an error that names the place."""
    number = as_float(value)
    if number is None or not math.isfinite(number):
        raise LawsmithError(where, got=short_repr(value), want=want)
    return number


def short_repr(value: object, limit: int = 60) -> str:
    """A value as shown in messages, shortened; 'nothing' for None."""
    if value is None:
        return "nothing"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**limit:
        return f"a whole number of more than {limit} digits"
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text; ValueError if it is not JSON that can be written again."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("too many nested brackets") from None
    except UnicodeDecodeError:
        raise ValueError("bytes that are not UTF-8 text") from None
    except json.JSONDecodeError:
        raise
    except ValueError:  # Python reads no integer of more than 4,300 digits
        raise ValueError("a whole number of thousands of digits") from None
    if (b"\\u" in text) if isinstance(text, bytes) else ("\\u" in text):
        try:  # no file, terminal or page can show a lone surrogate
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("text with a lone surrogate, \\ud800 to \\udfff") from None
    return value
