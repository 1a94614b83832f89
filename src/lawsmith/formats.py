"""Numbers for people: 1.71B parameters, 300B tokens, 1.5e21 FLOPs, intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from lawsmith.numbers import as_amount

_GREEK = {"alpha": "α", "beta": "β", "alpha_N": "αN", "alpha_D": "αD"}
_SUFFIXES = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"))


def number(x: float, digits: int = 4) -> str:
    """``x`` to ``digits`` significant digits, without trailing zeros: 0.4498, 1.5e21.

    NaN is 'n/a' and infinity 'unbounded', since people read neither nan nor inf.
    """
    if math.isnan(x):
        return "n/a"
    if math.isinf(x):
        return "unbounded"
    rounded = float(f"{x:.{digits - 1}e}") + 0.0  # + 0.0: no minus sign on zero
    if rounded == 0.0 or 1e-4 <= abs(rounded) < 1e6:
        places = digits - 1 - (math.floor(math.log10(abs(rounded))) if rounded else 0)
        text = f"{rounded:.{max(places, 0)}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return scientific(rounded, digits)


def padded(x: float, digits: int = 4) -> str:
    """``x`` to ``digits`` significant digits, with trailing zeros, for tables: 0.2220."""
    if not math.isfinite(x) or x == 0 or not 1e-4 <= abs(x) < 10**digits:
        return number(x, digits)
    places = digits - 1 - math.floor(math.log10(abs(float(f"{x:.{digits - 1}e}"))))
    return f"{x:.{max(places, 0)}f}"


def formatted(x: float, form: str) -> str:
    """``x`` in one of Python's formats, such as '.3f'; 'unbounded' or 'n/a' if not finite."""
    return format(x, form) if math.isfinite(x) else number(x)


def scientific(x: float, digits: int = 3) -> str:
    """``x`` as mantissa and exponent: 1.5e21, 2e-5; zero as 0."""
    if not math.isfinite(x) or x == 0.0:
        return number(x, digits)
    mantissa, exponent = f"{x:.{digits - 1}e}".split("e")
    short = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{short}e{int(exponent)}"


def count(x: float, digits: int = 3) -> str:
    """Parameters or tokens with a suffix: 125M, 1.71B, 300B, 1.2T; 1e15 and above as 1e15."""
    # Rounded first, so that 999,999 becomes 1M and not 1000K.
    rounded = float(f"{x:.{digits - 1}e}") if math.isfinite(x) else x
    for size, suffix in _SUFFIXES:
        if size <= abs(rounded) < 1e15:
            return number(rounded / size, digits) + suffix
    return number(rounded, digits) if abs(rounded) < 1e15 else scientific(rounded, digits)


def parse_number(text: str) -> float:
    """The number in ``text``: 2e9, 125M, 1.3B, 1,300,000,000, 1_000; NaN if there is none."""
    value = as_amount(text)
    return math.nan if value is None else value


def flops(x: float, digits: int = 3) -> str:
    """Compute in FLOPs: 1.5e21."""
    return scientific(x, digits)


def percent(x: float, digits: int = 3) -> str:
    """A fraction as a percentage: 0.0123 is 1.23%."""
    return f"{number(100.0 * x, digits)}%" if math.isfinite(x) else number(x, digits)


def listed(items: Sequence[object], most: int) -> str:
    """At most ``most`` of the items: 'a, b and 3 more'."""
    more = len(items) - most
    return ", ".join(map(str, items[:most])) + (f" and {more} more" if more > 0 else "")


def gpu_hours(compute: float, flops_per_second: float | None) -> str:
    """' (12.5 GPU-hours)'; '' if the speed is not known."""
    if flops_per_second is None:
        return ""
    return f" ({number(compute / flops_per_second / 3600, 3)} GPU-hours)"


def interval(low: float, high: float, form: Callable[[float], str] = number) -> str:
    """Two ends written by ``form``: [1.62, 1.81]."""
    return f"[{form(low)}, {form(high)}]"


def symbol(name: str) -> str:
    """A parameter of a law as its formula writes it: α for alpha."""
    return _GREEK.get(name, name)


def plural(n: int, noun: str) -> str:
    """'no runs', '1 run', '2 runs'."""
    return f"{n or 'no'} {noun}{'' if n == 1 else 's'}"
