"""In which unit a column counts: said beside its name (params_m:M), or by its header (params_m)."""

from __future__ import annotations

import re
from collections.abc import Collection

from lawsmith.datasets.words import forms
from lawsmith.numbers import UNITS, as_float

LONGEST = 100  # letters of a name with a unit
_UNIT = re.compile(r"(.+?)[\s_]*[\[(]?\s*(?:in[\s_]+)?([a-z0-9e+.]+?)\s*[\])]?")
_COMPUTE = {
    **dict.fromkeys(("gflops", "gigaflops", "gflop"), 1e9),
    **dict.fromkeys(("pflops", "petaflops", "pflop"), 1e15),
    **dict.fromkeys(("eflops", "exaflops", "eflop", "exaflop"), 1e18),
    **dict.fromkeys(("zflops", "zettaflops", "zflop", "zettaflop"), 1e21),
    **dict.fromkeys(("pf_days", "pfdays", "petaflop_days", "pflops_days", "pf_day"), 8.64e19),
}
_NAMES = {1e3: "thousands", 1e6: "millions", 1e9: "billions", 1e12: "trillions"}


def split_unit(text: str, names: Collection[str]) -> tuple[str, float | None]:
    """'params_m:M' → ('params_m', 1e6); the factor is None where no unit is said."""
    column, colon, unit = text.rpartition(":")
    if text in names or not colon or not column:
        return text, None
    factor = unit_factor(unit)
    return (text, None) if factor is None else (column, factor)


def unit_factor(unit: str) -> float | None:
    """What one of that unit is: M is 1e6, 1e18 is itself, PF-days are 8.64e19."""
    word = unit.strip().lower()
    known = {**UNITS, **_COMPUTE, "pf-days": 8.64e19}
    number = known.get(word, as_float(word))
    return number if number is not None and 0.0 < number < 1e45 else None


def header_unit(name: str, aliases: Collection[str]) -> float | None:
    """The unit that a header says of a role: 'params (M)' counts millions; None if it says none."""
    for form in forms(name):
        if len(form) > LONGEST:
            return None
        if form in aliases:
            return None
        if form in _COMPUTE and "flops" in aliases:
            return _COMPUTE[form]
        found = _UNIT.fullmatch(form)
        if found and found[1].strip("_ ") in aliases:
            factor = unit_factor(found[2])
            if factor is not None and factor >= 1e3:
                return factor
    return None


def unit_name(factor: float) -> str:
    """'millions', '1e18'."""
    text = f"{factor:g}".replace("e+", "e").replace("e0", "e")
    return _NAMES.get(factor, "PF-days" if factor == 8.64e19 else text)
