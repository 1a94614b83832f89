"""Which column of a table is N, D, C, the loss, an axis or the runs' names: asked for or known.

Names are matched as `words` says. An exact N, D, C or loss wins over its aliases. Two aliases for
one role are an error, not a guess, unless one is a tracker's setting and the other its result.
A name of runs is only shown: of several columns that may hold it the best known is taken.

The last part reads the columns about the runs themselves: what they are called, how they ended,
what they branched from. A run that crashed, was killed or still runs is no result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from lawsmith.arrays import BoolArray, FloatArray
from lawsmith.datasets import cells, words
from lawsmith.datasets.records import Branches
from lawsmith.errors import LawsmithError, suggest, unknown
from lawsmith.formats import count

if TYPE_CHECKING:
    import pandas as pd

ROLES = tuple(words.ALIASES)
SCALES = ("N", "D", "C")
MOST_IN_A_UNIT = 1e5  # no table has 100,000 million parameters as its median
RUN = "run"
EVERY = "*"  # --ignore '*': all columns that are neither asked for nor well known
_MAX_LISTED = 20  # columns named in an error
MAX_LETTERS = 120  # of the name of a run, which is shown in a cell of a table


@dataclass(frozen=True)
class Schema:
    """Names in the file: of the roles N, D, C and loss that it has, and of each axis.

    ``guessed`` axes are kept only where their column has more than one value.
    ``runs`` are columns that may name the runs, the best known first; the one asked for, if any.
    ``units`` are what one of a role's column counts, where it is not 1; ``by_header`` those that
    only the header says. ``passed`` is a loss that was passed over for an exact 'loss'.
    ``ignored`` are columns that do not matter, as the table calls them.
    """

    roles: Mapping[str, str]
    axes: Mapping[str, str]
    guessed: bool
    runs: tuple[str, ...] = ()
    units: Mapping[str, float] = field(default_factory=dict)
    by_header: tuple[str, ...] = ()
    passed: str | None = None
    ignored: tuple[str, ...] = ()


def resolve(
    names: Sequence[str],
    asked: Mapping[str, str],
    *,
    source: str,
    ignored: Sequence[str] = (),
    roles: Sequence[str] = ROLES,
    option: str = "--columns",
) -> Schema:
    """The schema of a table with columns ``names``; ``asked`` maps N, D, … to names in the file.

    Roles that are not asked for are looked up among the aliases. Further names that are asked for
    are axes. If there are none, well-known settings are, except those ``ignored``.
    """
    ignored = [_full_name(name, names) for name in ignored]
    for column in ignored:
        if column not in (EVERY, *names):
            raise unknown(f"{source}: --ignore", column, names)
    split = {role: words.split_unit(text, names) for role, text in asked.items()}
    asked = {role: _full_name(name, names) for role, (name, _) in split.items()}
    for role, name in asked.items():
        if name not in names:
            raise _no_such_column(role, name, names, source)
    found: dict[str, str] = {}
    for role in roles:
        taken = {*ignored, *asked.values(), *found.values()}
        free = [name for name in names if name not in taken]
        played = asked.get(role) or find_column(role, free, source, option)
        if played is not None:
            found[role] = played
    axes = {name: column for name, column in asked.items() if name not in (*roles, RUN)}
    guessed = not axes
    if guessed:
        axes = _known_axes([n for n in names if n not in (*ignored, *found.values())])
    runs = (asked[RUN],) if RUN in asked else _run_columns(names, {*found.values(), *axes.values()})
    headers = {role: _header_factor(role, name) for role, name in found.items() if role in SCALES}
    given = {role: factor for role, (_, factor) in split.items() if factor is not None}
    units = {**{role: f for role, f in headers.items() if f is not None}, **given}
    by_header = tuple(role for role in units if role not in given)
    passed = _passed_over(names, found.get("loss", ""), asked)
    return Schema(found, axes, guessed, runs, units, by_header, passed, tuple(ignored))


def check_headers(
    frame: pd.DataFrame, schema: Schema, *, source: str, option: str = "--columns"
) -> None:
    """Refuse a header that says millions above numbers far too large for that."""
    for role in schema.by_header:
        unit, column = schema.units[role], schema.roles[role]
        values = cells.positive(frame[column])[0]
        if not np.isfinite(values).any() or np.nanmedian(values) < MOST_IN_A_UNIT:
            continue
        most = count(float(np.nanmax(values)))
        got = f"{column!r}, whose name says {words.unit_name(unit)}, with values up to {most}"
        flag = f"{option} {role}={column}"
        hint = f"say {flag}:1 if they are single counts, {flag}:{unit:g} if not"
        raise LawsmithError(f"{source}: {role}", got=got, want="a unit", hint=hint)


def _full_name(name: str, names: Sequence[str]) -> str:
    """The column meant by ``name``: itself, or the only one that has it after a prefix."""
    found = [other for other in names if words.stripped(other)[-1] == name]
    return found[0] if name not in names and len(found) == 1 else name


def _header_factor(role: str, name: str) -> float | None:
    return None if name == role else words.header_unit(name, (role.lower(), *words.ALIASES[role]))


def _passed_over(names: Sequence[str], loss: str, asked: Mapping[str, str]) -> str | None:
    """A validation loss beside the column 'loss' that was taken."""
    if "loss" in asked or words.plain(loss) != "loss":
        return None
    known = [n for n in names if n != loss and words.is_one_of(n, words.ALIASES["loss"])]
    return known[0] if known else None


def _known_axes(names: Sequence[str]) -> dict[str, str]:
    """Axis → column, of the well-known ones; a setting before a result of the same name."""
    axes: dict[str, str] = {}
    for name in sorted(names, key=lambda name: words.place(name) == "results"):
        if not words.is_one_of(name, words.AXES):
            continue
        if words.short(name) not in axes:
            axes[words.short(name)] = name
        elif words.place(name) != "results":
            axes[name] = name
    return {axis: axes[axis] for axis in sorted(axes, key=lambda axis: names.index(axes[axis]))}


def find_column(
    role: str, names: Sequence[str], source: str, option: str = "--columns"
) -> str | None:
    """The column that may play a role, None if there is none.

    Of several for N, D, C or the loss none is taken, but an error asks back. For the others the
    best known one is.
    """
    if role == RUN:
        return next(iter(_run_columns(names, set())), None)
    if role in words.MORE_ALIASES:
        ranked = ((known, name) for known in words.MORE_ALIASES[role] for name in names)
        return next((name for known, name in ranked if known in words.forms(name)), None)
    if role in names:
        return role
    for known in _ranks(role):
        found = _apart(role, [name for name in names if plays(role, name, known)])
        if len(found) > 1:
            got = f"{len(found)} columns that may be {role} ({', '.join(found)})"
            hint = f"say which: {option} {role}={words.quoted(found[0])}"
            raise LawsmithError(source, got=got, want="one", hint=hint)
        if found:
            return found[0]
    return None


def _run_columns(names: Sequence[str], taken: set[str]) -> tuple[str, ...]:
    """Columns called as names of runs are, the best known first."""
    known = [name for name in names if name not in taken and words.is_run_name(name)]
    last = {name: words.RUN_NAMES.index(words.plain(words.stripped(name)[-1])) for name in known}
    return tuple(sorted(known, key=lambda name: last[name]))


def _ranks(role: str) -> list[tuple[str, ...]]:
    """Names for a role, the better ones first."""
    if role == "loss":
        return [("loss",), words.ALIASES[role], words.LESSER_LOSSES]
    return [(role.lower(), *words.ALIASES[role])]


def plays(role: str, name: str, known: tuple[str, ...]) -> bool:
    """Whether a column may play ``role``, by its name or with a unit after it."""
    if role == "loss":
        return words.is_one_of(name, known)
    letters = words.is_letter(name, role)
    aliases = [alias for alias in known if len(alias) > 1]  # 'n' and 'd' alone may be anything
    named = words.is_one_of(name, tuple(aliases))
    return letters or named or words.header_unit(name, known) is not None


def _apart(role: str, found: list[str]) -> list[str]:
    """Of a setting and a result of one name: the result for the loss, the setting for the rest."""
    wrong = "settings" if role == "loss" else "results"
    better = [name for name in found if words.place(name) != wrong]
    return better or found


def _no_such_column(role: str, name: str, names: Sequence[str], source: str) -> LawsmithError:
    where = f"{source}: column for {role}"
    column, colon, unit = name.rpartition(":")
    if colon and _full_name(column, names) in names:
        want = "K, M, B, T or a number after the colon"
        raise LawsmithError(where, got=f"the unit {unit!r}", want=want)
    return LawsmithError(where, got=repr(name), want=_one_of(names), hint=suggest(name, names))


def missing(role: str, names: Sequence[str], source: str, option: str) -> LawsmithError:
    """The error for a table without a column for ``role``."""
    want = {"loss": "one for the loss", "N": "N and D, or the compute C"}.get(
        role, f"one for {role}"
    )
    close = closest(role, names) if role in words.ALIASES else None
    known = f"{option} {role}={words.quoted(close or 'NAME')}"
    hint = f"did you mean {known}?" if close else f"say which: {known}"
    return LawsmithError(source, got=f"columns {_listed(names)}", want=want, hint=hint)


def closest(role: str, names: Sequence[str]) -> str | None:
    """The column whose name is nearest to an alias of ``role``."""
    for name in names:
        for form in words.forms(name):
            if get_close_matches(form, (role.lower(), *words.ALIASES[role]), n=1, cutoff=0.75):
                return name
    called = [name for name in names if role in words.plain(name).split("_")]
    return called[0] if called else None


def _one_of(names: Sequence[str]) -> str:
    return f"one of {_listed(names)}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MAX_LISTED])
    more = len(names) - _MAX_LISTED
    return f"{shown} and {more} more" if more > 0 else shown


def run_names(
    frame: pd.DataFrame, columns: Sequence[str], *, asked: bool
) -> tuple[str | None, tuple[str, ...]]:
    """(column, the names in it), of the first of ``columns`` that names runs; (None, ()) if none.

    A column that was ``asked`` for is taken as it is. One that only has the right name must tell
    the runs apart: 'name' may as well be that of a model, and 'id' that of a machine.
    """
    for column in columns:
        names = tuple(cells.mapped(frame[column], name_text))
        if asked or ("" not in names and len(set(names)) == len(names)):
            return column, names
    return None, ()


def name_text(value: object) -> str:
    """A cell on one line; a whole number without its point, since a gap makes a column floats."""
    number = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    text = " ".join(f"{value:.0f}".split() if number else str(value).split())
    return text if len(text) <= MAX_LETTERS else f"{text[: MAX_LETTERS - 1]}…"


def branches(frame: pd.DataFrame, *, source: str) -> Branches | None:
    """What the columns 'parent' and 'branch_at' say; None where there is neither."""
    names = list(map(str, frame.columns))
    parent, at = (find_column(role, names, source) for role in ("parent", "branch_at"))
    if parent is None and at is None:
        return None
    missing: tuple[FloatArray, list[cells.Fault]] = (np.full(len(frame), np.nan), [])
    tokens, faults = missing if at is None else cells.optional(frame[at])
    return Branches(
        () if parent is None else tuple(cells.mapped(frame[parent], name_text)),
        tokens,
        tuple(faults),
    )


def state_column(frame: pd.DataFrame) -> str | None:
    """The column that says how runs ended: called so, and most of its words are known."""
    for name in map(str, frame.columns):
        if words.is_one_of(name, words.STATE_NAMES):
            said = set(_states(frame[name])) - {""}
            known = said & {state for states in words.STATES.values() for state in states}
            if known and 2 * len(known) >= len(said):
                return name
    return None


def finished(column: pd.Series[Any]) -> tuple[BoolArray, BoolArray, dict[str, int]]:
    """(rows that are results, rows that diverged, how many of each other state are left out)."""
    said = _states(column)
    diverged, done = (np.isin(said, words.STATES[kind]) for kind in ("diverged", "finished"))
    kept = diverged | done
    others = Counter(said[i] or "of no state" for i in np.flatnonzero(~kept))
    return kept, diverged, dict(others.most_common())


def _states(column: pd.Series[Any]) -> list[str]:
    """The states in plain form: 'TrialState.COMPLETE' is complete."""
    return cells.mapped(column, lambda cell: words.plain(str(cell).rsplit(".", 1)[-1].lower()))
