"""The names that columns of runs usually have, from bundled/column_names.toml, and their units.

Names are compared in plain form: lower case, underscores for spaces, slashes, dots, dashes and
humps. The prefixes under which trackers write settings and results (config.lr, summary/val_loss,
optim.lr, hparams/lr, params.lr) are dropped. A unit stands after the name (params_m:M), or is part
of the header itself (params_m).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from pathlib import Path

from lawsmith.numbers import UNITS, as_float

_FILE = tomllib.loads((Path(__file__).parent / "bundled/column_names.toml").read_text("utf-8"))
_TABLES = {
    table: {key: tuple(values) for key, values in names.items()} for table, names in _FILE.items()
}
ALIASES, MORE_ALIASES, STATES = _TABLES["roles"], _TABLES["more_roles"], _TABLES["states"]
_NAMES, _PREFIXES, _WORDS = _TABLES["names"], _TABLES["prefixes"], _TABLES["words"]
LESSER_LOSSES, AXES, RUN_NAMES = _NAMES["lesser_losses"], _NAMES["axes"], _NAMES["runs"]
SEEDS, STATE_NAMES, TRAINING = _NAMES["seeds"], _NAMES["states"], _WORDS["training"]
_TRACKER = (*_PREFIXES["settings"], *_PREFIXES["results"])
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PREFIX = re.compile(r"([^./:]+)[./:]+(.*\S.*)")
_UNIT = re.compile(r"(.+?)[\s_]*[\[(]?\s*(?:in[\s_]+)?([a-z0-9e+.]+?)\s*[\])]?")
_LONGEST = 100  # letters of a name with a unit; longer ones would make _UNIT slow
_PF_DAY = 8.64e19
_COMPUTE_UNITS = {
    **dict.fromkeys(("gflops", "gigaflops", "gflop"), 1e9),
    **dict.fromkeys(("pflops", "petaflops", "pflop"), 1e15),
    **dict.fromkeys(("eflops", "exaflops", "eflop", "exaflop"), 1e18),
    **dict.fromkeys(("zflops", "zettaflops", "zflop", "zettaflop"), 1e21),
    **dict.fromkeys(("pf_days", "pfdays", "petaflop_days", "pflops_days", "pf_day"), _PF_DAY),
}
_UNIT_NAMES = {1e3: "thousands", 1e6: "millions", 1e9: "billions", 1e12: "trillions"}
_UNIT_NAMES[_PF_DAY] = "PF-days"


def plain(name: str) -> str:
    """The name as it is compared, prefixes included."""
    word = _HUMP.sub("_", name.strip().strip("#").strip())
    return re.sub(r"[\s/.:\-]+", "_", word.lower()).strip("_")


def without_prefixes(name: str, prefixes: tuple[str, ...] = _TRACKER) -> list[str]:
    """The name, then the name with one prefix less each time."""
    names = [name]
    while (
        len(name) <= 500
        and (parts := _PREFIX.fullmatch(names[-1])) is not None
        and plain(parts[1]) in prefixes
    ):
        names.append(parts[2])
    return names


def forms(name: str) -> list[str]:
    """All plain forms: config.optim.lr, optim.lr, lr; also what follows params_ and the like."""
    names = [plain(one) for one in without_prefixes(name, (*_TRACKER, *_PREFIXES["groups"]))]
    rest = [names[0].removeprefix(u) for u in _PREFIXES["underscored"] if names[0].startswith(u)]
    return names if len(names) > 1 else [*names, *(word for word in rest if word)]


def short(name: str) -> str:
    """The name as written, without tracker prefixes; group prefixes go if the rest is known."""
    last = forms(name)[-1]
    if last not in AXES:
        return without_prefixes(name)[-1].strip()
    written = without_prefixes(name, (*_TRACKER, *_PREFIXES["groups"]))[-1].strip()
    return written if plain(written) == last else last


def base_name(name: str) -> str:
    """The plain name without tracker prefixes."""
    return plain(without_prefixes(name)[-1])


def is_one_of(name: str, known: Collection[str]) -> bool:
    """Whether the name, with or without prefixes, is a known one."""
    return any(form in known for form in forms(name))


def is_letter(name: str, letter: str) -> bool:
    """Whether the name is that letter in the same case, perhaps after a prefix: config.N is N."""
    last = without_prefixes(name)[-1].strip()
    return last == letter or any(last == f"{u}{letter}" for u in _PREFIXES["underscored"])


def section(name: str) -> str:
    """'settings' or 'results', by the first tracker prefix; '' without one."""
    parts = _PREFIX.fullmatch(name)
    first = plain(parts[1]) if parts is not None else ""
    return next((kind for kind in ("settings", "results") if first in _PREFIXES[kind]), "")


def is_metadata(name: str) -> bool:
    """Whether it is named like a note on the run: a time, a host, a step."""
    words = set(forms(name)[-1].split("_"))
    return name.startswith("_") or bool(words & set(_WORDS["metadata"]))


def is_measurement(name: str) -> bool:
    """Whether it is named like a measurement."""
    last = forms(name)[-1]
    words = {*last.split("_"), last.removeprefix("train_")}
    return section(name) == "results" or bool(words & set(_WORDS["measurements"]))


def split_unit(text: str, names: Collection[str]) -> tuple[str, float | None]:
    """'params_m:M' → ('params_m', 1e6); the factor is None without a unit."""
    column, _, unit = text.rpartition(":")
    factor = _unit_factor(unit) if column and text not in names else None
    return (text, None) if factor is None else (column, factor)


def _unit_factor(unit: str) -> float | None:
    """What one of that unit is: M is 1e6, 1e18 is itself, PF-days are 8.64e19."""
    word = unit.strip().lower()
    known = {**UNITS, **_COMPUTE_UNITS, "pf-days": _PF_DAY}
    number = known.get(word, as_float(word))
    return number if number is not None and 0.0 < number < 1e45 else None


def header_unit(name: str, aliases: Collection[str]) -> float | None:
    """The unit in the header of a role: 'params (M)' counts millions; None without one."""
    for form in forms(name):
        if len(form) > _LONGEST or form in aliases:
            return None
        if form in _COMPUTE_UNITS and "flops" in aliases:
            return _COMPUTE_UNITS[form]
        parts = _UNIT.fullmatch(form)
        if parts and parts[1].strip("_ ") in aliases:
            factor = _unit_factor(parts[2])
            if factor is not None and factor >= 1e3:
                return factor
    return None


def unit_name(factor: float) -> str:
    """'millions', '1e18'."""
    return _UNIT_NAMES.get(factor) or f"{factor:g}".replace("e+", "e").replace("e0", "e")
