"""Which column of a table is N, D, C, the loss, an axis or the name of the run.

The user names columns, the others are found by well-known names (`column_names`). An exact N, D, C
or loss wins over its aliases. Two aliases for one role are an error and not a guess, unless one is
a tracker's setting and the other its result. Run names are only shown, so the best known column is
taken.

The second part reads the columns about the runs themselves: their names, how they ended, what they
branched from. A run that crashed, was killed or is still running is no result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np

from lawsmith.arrays import BoolArray
from lawsmith.datasets import cells, column_names
from lawsmith.datasets.column_names import ALIASES, STATES, forms, is_one_of, plain, section
from lawsmith.datasets.records import Branches
from lawsmith.errors import LawsmithError, suggest, unknown
from lawsmith.formats import count, listed

if TYPE_CHECKING:
    import pandas as pd

ROLES = tuple(ALIASES)
SCALES = ("N", "D", "C")
MOST_IN_A_UNIT = 1e5  # no table has 100,000 million parameters as its median
RUN = "run"
EVERY = "*"  # --ignore '*': every column that is neither named nor well known
_MAX_LISTED = 20  # columns named in an error
MAX_LETTERS = 120  # of a run's name, which is shown in a cell of a table


@dataclass(frozen=True)
class Schema:
    """What the columns of a table are.

    roles       N, D, C, loss → its column, for those that the table has
    axes        axis → its column
    guessed     whether the axes were found by name: those that do not vary are dropped
    runs        columns that may hold the names of the runs, the best first
    units       role → what the column counts in, if not 1
    by_header   roles whose unit is only in the header
    other_loss  a validation loss beside the column 'loss', which is used
    ignored     columns that the user ignores
    """

    roles: Mapping[str, str]
    axes: Mapping[str, str]
    guessed: bool
    runs: tuple[str, ...]
    units: Mapping[str, float]
    by_header: tuple[str, ...]
    other_loss: str | None
    ignored: tuple[str, ...]


def resolve(
    names: Sequence[str],
    given: Mapping[str, str],
    *,
    source: str,
    ignored: Sequence[str] = (),
    roles: Sequence[str] = ROLES,
    option: str = "--columns",
) -> Schema:
    """The schema of a table with columns ``names``; ``given`` maps roles and axes to columns.

    Roles that are not given are found by their aliases. If no axis is given, well-known
    hyperparameters are axes, except those ``ignored``.
    """
    ignored = [_full_name(name, names) for name in ignored]
    for name in ignored:
        if name not in (EVERY, *names):
            raise unknown(f"{source}: --ignore", name, names)
    split = {role: column_names.split_unit(text, names) for role, text in given.items()}
    given = {role: _full_name(name, names) for role, (name, _) in split.items()}
    for role, name in given.items():
        if name not in names:
            raise _no_such_column(role, name, names, source)
    found: dict[str, str] = {}
    for role in roles:
        taken = {*ignored, *given.values(), *found.values()}
        free = [name for name in names if name not in taken]
        if column := given.get(role) or find_column(role, free, source, option):
            found[role] = column
    axes = {name: column for name, column in given.items() if name not in (*roles, RUN)}
    guessed = not axes
    if guessed:
        axes = _known_axes([n for n in names if n not in (*ignored, *found.values())])
    runs = (given[RUN],) if RUN in given else _run_columns(names, {*found.values(), *axes.values()})
    units = {role: unit for role, (_, unit) in split.items() if unit is not None}
    in_header = _header_units({role: c for role, c in found.items() if role not in units})
    other_loss = None
    if "loss" not in given and plain(found.get("loss", "")) == "loss":
        others = (n for n in names if n != found["loss"] and is_one_of(n, ALIASES["loss"]))
        other_loss = next(others, None)
    return Schema(
        roles=found,
        axes=axes,
        guessed=guessed,
        runs=runs,
        units={**in_header, **units},
        by_header=tuple(in_header),
        other_loss=other_loss,
        ignored=tuple(ignored),
    )


def _header_units(columns: Mapping[str, str]) -> dict[str, float]:
    """Role → the unit in its header, for N, D and C that have one."""
    scales = {role: name for role, name in columns.items() if role in SCALES and role != name}
    units = {r: column_names.header_unit(name, _aliases(r)) for r, name in scales.items()}
    return {role: unit for role, unit in units.items() if unit is not None}


def check_headers(
    frame: pd.DataFrame, schema: Schema, *, source: str, option: str = "--columns"
) -> None:
    """Refuse a header that says millions above numbers far too large for that."""
    for role in schema.by_header:
        unit, column = schema.units[role], schema.roles[role]
        values = cells.positive(frame[column])[0]
        if not np.isfinite(values).any() or np.nanmedian(values) < MOST_IN_A_UNIT:
            continue
        most, name = count(float(np.nanmax(values))), column_names.unit_name(unit)
        got = f"{column!r}, whose name says {name}, with values up to {most}"
        flag = f"{option} {role}={column}"
        hint = f"say {flag}:1 if they are single counts, {flag}:{unit:g} if not"
        raise LawsmithError(f"{source}: {role}", got=got, want="a unit", hint=hint)


def _aliases(role: str) -> tuple[str, ...]:
    return (role.lower(), *ALIASES[role])


def _full_name(name: str, names: Sequence[str]) -> str:
    """The column that ``name`` means: itself, or the only one that has it after a prefix."""
    same = [other for other in names if column_names.without_prefixes(other)[-1] == name]
    return same[0] if name not in names and len(same) == 1 else name


def _known_axes(names: Sequence[str]) -> dict[str, str]:
    """Axis → column of the well-known ones; a setting comes before a result of the same name."""
    axes: dict[str, str] = {}
    for name in sorted(names, key=lambda name: section(name) == "results"):
        if not is_one_of(name, column_names.AXES):
            continue
        if (axis := column_names.short(name)) not in axes:
            axes[axis] = name
        elif section(name) != "results":
            axes[name] = name
    return {axis: axes[axis] for axis in sorted(axes, key=lambda axis: names.index(axes[axis]))}


def find_column(
    role: str, names: Sequence[str], source: str, option: str = "--columns"
) -> str | None:
    """The column for a role, None if there is none.

    Several columns for N, D, C or the loss are an error. For other roles the best known is taken.
    """
    if role == RUN:
        return next(iter(_run_columns(names, ())), None)
    if role in column_names.MORE_ALIASES:
        ranked = ((known, name) for known in column_names.MORE_ALIASES[role] for name in names)
        return next((name for known, name in ranked if known in forms(name)), None)
    if role in names:
        return role
    ranks = [_aliases(role)]
    if role == "loss":
        ranks = [("loss",), ALIASES[role], column_names.LESSER_LOSSES]
    wrong = "settings" if role == "loss" else "results"
    for known in ranks:
        candidates = [name for name in names if may_be(role, name, known)]
        # Of a setting and a result of one name, the loss is the result, N, D and C are settings.
        candidates = [name for name in candidates if section(name) != wrong] or candidates
        if len(candidates) > 1:
            got = f"{len(candidates)} columns that may be {role} ({', '.join(candidates)})"
            hint = f"say which: {option} {role}={quote(candidates[0])}"
            raise LawsmithError(source, got=got, want="one", hint=hint)
        if candidates:
            return candidates[0]
    return None


def _run_columns(names: Sequence[str], taken: Collection[str]) -> tuple[str, ...]:
    """Columns named like names of runs, the best first."""
    rank = {name: rank for rank, name in enumerate(column_names.RUN_NAMES)}
    base = {name: column_names.base_name(name) for name in names if name not in taken}
    return tuple(sorted((n for n in base if base[n] in rank), key=lambda name: rank[base[name]]))


def may_be(role: str, name: str, known: tuple[str, ...]) -> bool:
    """Whether a column may have ``role`` by its name, perhaps with a unit after it."""
    if role == "loss":
        return is_one_of(name, known)
    aliases = [alias for alias in known if len(alias) > 1]  # 'n' and 'd' alone may be anything
    named = column_names.is_letter(name, role) or is_one_of(name, aliases)
    return named or column_names.header_unit(name, known) is not None


def _no_such_column(role: str, name: str, names: Sequence[str], source: str) -> LawsmithError:
    where = f"{source}: column for {role}"
    column, colon, unit = name.rpartition(":")
    if colon and _full_name(column, names) in names:
        want = "K, M, B, T or a number after the colon"
        return LawsmithError(where, got=f"the unit {unit!r}", want=want)
    want = f"one of {listed(names, _MAX_LISTED)}"
    return LawsmithError(where, got=repr(name), want=want, hint=suggest(name, names))


def missing(role: str, names: Sequence[str], source: str, option: str) -> LawsmithError:
    """The error for a table without a column for ``role``."""
    wants = {"loss": "one for the loss", "N": "N and D, or the compute C"}
    close = closest(role, names) if role in ALIASES else None
    known = f"{option} {role}={quote(close or 'NAME')}"
    hint = f"did you mean {known}?" if close else f"say which: {known}"
    want = wants.get(role, f"one for {role}")
    return LawsmithError(source, got=f"columns {listed(names, _MAX_LISTED)}", want=want, hint=hint)


def closest(role: str, names: Sequence[str]) -> str | None:
    """The column whose name is nearest to an alias of ``role``."""
    near = (n for n in names for f in forms(n) if get_close_matches(f, _aliases(role), 1, 0.75))
    parts = (name for name in names if role in plain(name).split("_"))
    return next(near, None) or next(parts, None)


def run_names(
    frame: pd.DataFrame, columns: Sequence[str], *, given: bool
) -> tuple[str | None, tuple[str, ...]]:
    """(column, its names) of the first of ``columns`` that names runs; (None, ()) if none does.

    A column that the user gave is taken as it is. One that only has the right name must tell the
    runs apart: 'name' may be the name of a model, and 'id' that of a machine.
    """
    for column in columns:
        names = tuple(cells.map_cells(frame[column], name_text))
        if given or ("" not in names and len(set(names)) == len(names)):
            return column, names
    return None, ()


def name_text(value: object) -> str:
    """A cell on one line; whole numbers without a point: one gap makes a column of ints floats."""
    number = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    text = f"{value:.0f}" if number else " ".join(str(value).split())
    return text if len(text) <= MAX_LETTERS else f"{text[: MAX_LETTERS - 1]}…"


def branches(frame: pd.DataFrame, *, source: str) -> Branches | None:
    """The columns 'parent' and 'branch_at'; None if there is neither."""
    names = list(map(str, frame.columns))
    parent, at = (find_column(role, names, source) for role in ("parent", "branch_at"))
    if parent is None and at is None:
        return None
    parents = () if parent is None else tuple(cells.map_cells(frame[parent], name_text))
    if at is None:
        return Branches(parents, np.full(len(frame), np.nan))
    tokens, faults = cells.optional(frame[at])
    return Branches(parents, tokens, tuple(faults))


def state_column(frame: pd.DataFrame) -> str | None:
    """The column that says how runs ended: it has such a name, and most of its words are known."""
    known = {state for states in STATES.values() for state in states}
    for name in map(str, frame.columns):
        if is_one_of(name, column_names.STATE_NAMES):
            states = set(_states(frame[name])) - {""}
            if states & known and 2 * len(states & known) >= len(states):
                return name
    return None


def finished(column: pd.Series[Any]) -> tuple[BoolArray, BoolArray, dict[str, int]]:
    """(rows that are results, rows that diverged, number of runs in each other state)."""
    states = _states(column)
    diverged, done = (np.isin(states, STATES[kind]) for kind in ("diverged", "finished"))
    kept = diverged | done
    others = Counter(states[i] or "of no state" for i in np.flatnonzero(~kept))
    return kept, diverged, dict(others.most_common())


def _states(column: pd.Series[Any]) -> list[str]:
    """The states in plain form: 'TrialState.COMPLETE' is complete."""
    return cells.map_cells(column, lambda cell: plain(str(cell).rsplit(".", 1)[-1].lower()))
