"""The names that columns of runs usually have, of bundled/words.toml, and the units they count in.

A name is compared in its plain form: lower case, with underscores for spaces, slashes, dots, dashes
and humps, and without the prefixes under which trackers write settings and results (config.lr,
summary/val_loss, optim.lr, hparams/lr, params.lr). A unit is said beside the name (params_m:M), or
by the header itself (params_m).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from pathlib import Path

from lawsmith.numbers import UNITS, as_float

_FILE = tomllib.loads((Path(__file__).parent / "bundled" / "words.toml").read_text("utf-8"))


def _lists(table: str, *keys: str) -> list[tuple[str, ...]]:
    return [tuple(_FILE[table][key]) for key in keys]


ALIASES, MORE_ALIASES, STATES = (
    {name: tuple(values) for name, values in _FILE[table].items()}
    for table in ("roles", "more_roles", "states")
)
LESSER_LOSSES, AXES, RUN_NAMES = _lists("names", "lesser_losses", "axes", "runs")
SEEDS, STATE_NAMES = _lists("names", "seeds", "states")
SETTINGS, RESULTS, _GROUPS = _lists("prefixes", "settings", "results", "groups")
(_UNDERSCORED,) = _lists("prefixes", "underscored")
_NOTED, _MEASURED, TRAINING = _lists("words", "noted", "measured", "training")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PREFIX = re.compile(r"([^./:]+)[./:]+(.*\S.*)")
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


def plain(name: str) -> str:
    """The name as it is compared, with its prefixes."""
    word = _HUMP.sub("_", name.strip().strip("#").strip())
    return re.sub(r"[\s/.:\-]+", "_", word.lower()).strip("_")


def stripped(name: str, prefixes: tuple[str, ...] = (*SETTINGS, *RESULTS)) -> list[str]:
    """The name, then without one prefix of trackers after the other."""
    found = [name]
    while (
        len(name) <= 500
        and (parts := _PREFIX.fullmatch(found[-1])) is not None
        and plain(parts[1]) in prefixes
    ):
        found.append(parts[2])
    return found


def forms(name: str) -> list[str]:
    """Plain forms: config.optim.lr, optim.lr, lr; also what follows params_ and the like."""
    found = [plain(one) for one in stripped(name, (*SETTINGS, *RESULTS, *_GROUPS))]
    rest = [found[0].removeprefix(u) for u in _UNDERSCORED if found[0].startswith(u)]
    return found if len(found) > 1 else [*found, *(word for word in rest if word)]


def short(name: str) -> str:
    """The name without prefixes, in its own letters; those of groups go where the rest is known."""
    known = forms(name)[-1] in AXES
    last = stripped(name, (*SETTINGS, *RESULTS, *(_GROUPS if known else ())))[-1].strip()
    return forms(name)[-1] if known and plain(last) != forms(name)[-1] else last


def is_run_name(name: str) -> bool:
    """Whether it is called as names of runs are."""
    return plain(stripped(name)[-1]) in RUN_NAMES


def is_seed(name: str) -> bool:
    """Whether it is called as seeds and numbers of repeats are."""
    return plain(stripped(name)[-1]) in SEEDS


def is_one_of(name: str, known: tuple[str, ...]) -> bool:
    """Whether the name, with or without prefixes, is a known one."""
    return any(form in known for form in forms(name))


def is_letter(name: str, letter: str) -> bool:
    """Whether the name is that letter, in its case, perhaps behind a prefix: config.N is N."""
    last = stripped(name)[-1].strip()
    return last == letter or any(last == f"{prefix}{letter}" for prefix in _UNDERSCORED)


def place(name: str) -> str:
    """'settings' or 'results' by the first prefix of trackers; '' without one."""
    parts = _PREFIX.fullmatch(name)
    if parts is None:
        return ""
    first = plain(parts[1])
    return "settings" if first in SETTINGS else "results" if first in RESULTS else ""


def is_noted(name: str) -> bool:
    """Whether it is called as what is noted of a run: times, hosts, steps."""
    return name.startswith("_") or bool(set(forms(name)[-1].split("_")) & set(_NOTED))


def is_measured(name: str) -> bool:
    """Whether it is called as measurements are."""
    last = forms(name)[-1]
    words = {*last.split("_"), last.removeprefix("train_")}
    return place(name) == "results" or bool(words & set(_MEASURED))


def quoted(name: str) -> str:
    """A name as a shell takes it for one word."""
    return f"'{name}'" if set(name) & set(" ()[]*&;'\"$") else name


def split_unit(text: str, names: Collection[str]) -> tuple[str, float | None]:
    """'params_m:M' → ('params_m', 1e6); the factor is None without a unit."""
    column, colon, unit = text.rpartition(":")
    if text in names or not colon or not column:
        return text, None
    factor = _unit_factor(unit)
    return (text, None) if factor is None else (column, factor)


def _unit_factor(unit: str) -> float | None:
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
            factor = _unit_factor(found[2])
            if factor is not None and factor >= 1e3:
                return factor
    return None


def unit_name(factor: float) -> str:
    """'millions', '1e18'."""
    text = f"{factor:g}".replace("e+", "e").replace("e0", "e")
    return _NAMES.get(factor, "PF-days" if factor == 8.64e19 else text)
