"""A table of losses along runs, one row a moment, to thinned curves; errors name row and column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lawsmith.arrays import AnyArray, BoolArray, FloatArray, IntArray
from lawsmith.datasets import cells
from lawsmith.datasets.cells import Fault
from lawsmith.datasets.readers import read_curve_frame
from lawsmith.datasets.schema import find_column, find_run_column, name_text
from lawsmith.errors import LawsmithError, unknown
from lawsmith.formats import plural
from lawsmith.numbers import as_float
from lawsmith.trajectory import KINDS, MOST_POINTS, Curve, Kind, curve

if TYPE_CHECKING:
    import pandas as pd

ROLES = ("run", "D", "loss", "N", "lr", "kind")
KIND_BY = "a column 'kind' with trunk or scheduled in every row, or --curve-kind trunk|scheduled"


@dataclass(frozen=True)
class CurveOptions:
    """How to read a table of curves.

    columns        run, D, loss, N, lr or kind → its name in the file; well-known names are found
    kind           of every curve, where the table has no column for it
    carry          further columns to keep, one value a run: the hyperparameters of the study
    skip_bad_rows  leave out rows with a bad cell instead of refusing the table

    >>> import pandas as pd
    >>> table = pd.DataFrame({"job": ["a", "a"], "tokens": [1e9, 2e9], "loss": [3.5, 3.2]})
    >>> load_curves(table, CurveOptions(columns={"run": "job"}, kind="scheduled")).name
    'DataFrame'
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    kind: str | None = None
    carry: tuple[str, ...] = ()
    skip_bad_rows: bool = False


@dataclass(frozen=True, eq=False)
class Curves:
    """The curves of a table, in the order their runs first appear.

    notes   one sentence each, on what was thinned or left out
    """

    name: str
    curves: tuple[Curve, ...]
    n_rows: int
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.curves)


def load_curves(path: str | Path, options: CurveOptions | None = None) -> Curves:
    """The curves in a file, or the histories of a tracker's runs."""
    return curves_from_frame(read_curve_frame(path), options, name=str(path))


def curves_from_frame(
    frame: pd.DataFrame, options: CurveOptions | None = None, *, name: str = "curves"
) -> Curves:
    """The curves of a table with one row for each moment of each run."""
    options = options or CurveOptions()
    frame = cells.numbered(frame, source=name)
    played = _columns(list(frame.columns), options, source=name)
    table, faults = _numbers(frame, played)
    names, codes, more = _runs(frame, played["run"])
    kinds, wrong = _kinds(frame, played.get("kind"), options, source=name)
    faults += [*more, *wrong]
    if not options.skip_bad_rows:
        cells.raise_first(faults, source=name)
    good = ~np.isin(frame.index, [fault.row for fault in faults])
    carried = {c: frame[c].to_numpy() for c in options.carry if c in frame.columns}
    found, notes = _curves(names, codes, kinds, good, table, carried)
    if not found:
        raise LawsmithError(name, got="no row with a loss", want="losses along at least one run")
    return Curves(name, tuple(found), len(frame), tuple(notes))


def _columns(names: Sequence[str], options: CurveOptions, *, source: str) -> dict[str, str]:
    """Role → column, of those that the table has; run, D and loss it must have."""
    asked = dict(options.columns)
    for role, name in asked.items():
        if role not in ROLES:
            raise unknown("--curve-columns", role, ROLES)
        if name not in names:
            raise unknown(f"{source}: column for {role}", name, names)
    found: dict[str, str] = {}
    for role in ROLES:
        taken = {*asked.values(), *found.values()}
        free = [name for name in names if name not in taken]
        known = find_run_column(free) if role == "run" else find_column(role, free, source)
        column = asked.get(role) or known
        if column is not None:
            found[role] = column
        elif role in ("run", "D", "loss"):
            got = f"columns {', '.join(names)}"
            hint = f"say which: --curve-columns {role}=NAME"
            raise LawsmithError(source, got=got, want=f"one for {role}", hint=hint)
    return found


def _numbers(
    frame: pd.DataFrame, played: Mapping[str, str]
) -> tuple[dict[str, FloatArray], list[Fault]]:
    """The columns of numbers; a rate or a size may be missing, a loss too."""
    table: dict[str, FloatArray] = {}
    faults: list[Fault] = []
    readers: dict[str, cells.Reader] = {
        "D": cells.positive,
        "loss": cells.loss,
        "N": cells.optional,
        "lr": cells.rate,
    }
    for role, read in readers.items():
        if role in played:
            table[role], found = read(frame[played[role]])
            faults += found
    return table, faults


def _runs(frame: pd.DataFrame, column: str) -> tuple[list[str], IntArray, list[Fault]]:
    """Names of the runs, which one each row is of (-1 where it is blank), and blank cells."""
    codes, values = frame[column].factorize()
    blank = frame.index.to_numpy()[codes < 0].tolist()
    faults = [Fault(row, column, "nothing", "the name of a run") for row in blank]
    return [name_text(value) for value in values], codes.astype(np.int64), faults


def _kinds(
    frame: pd.DataFrame, column: str | None, options: CurveOptions, *, source: str
) -> tuple[AnyArray, list[Fault]]:
    """(n,) the kind of each row, by the option or by the column."""
    if options.kind is not None:
        if options.kind not in KINDS:
            raise unknown("--curve-kind", options.kind, KINDS)
        if column is None:
            return np.full(len(frame), options.kind), []
        got = f"{options.kind}, and the column {column!r} in {source}"
        raise LawsmithError("--curve-kind", got=got, want="one of the two")
    if column is None:
        got = "curves of unknown kind"
        raise LawsmithError(source, got=got, want=KIND_BY)
    codes, values = frame[column].factorize()
    words = [str(value).strip().lower() for value in values]
    known = np.array([word in KINDS for word in words] + [False], dtype=np.bool_)
    bad = np.flatnonzero(~known[codes])
    shown = [repr(str(values[i])) if i >= 0 else "nothing" for i in codes[bad].tolist()]
    rows = frame.index.to_numpy()[bad].tolist()
    want = "trunk or scheduled"
    faults = [Fault(row, column, got, want) for row, got in zip(rows, shown, strict=True)]
    return np.array([*words, ""])[codes], faults


def _curves(
    names: Sequence[str],
    codes: IntArray,
    kinds: AnyArray,
    good: BoolArray,
    table: Mapping[str, FloatArray],
    carried: Mapping[str, AnyArray],
) -> tuple[list[Curve], list[str]]:
    """One curve a run, and notes on them."""
    found, notes = [], []
    n_thinned = n_empty = n_decays = 0
    order = np.lexsort((table["D"], codes))
    starts = np.searchsorted(codes[order], np.arange(len(names) + 1))
    for i, name in enumerate(names):
        rows = order[starts[i] : starts[i + 1]]
        rows = rows[good[rows]]
        trunk = kinds[rows] == "trunk"
        if trunk.any() and not trunk.all():
            rows, n_decays = rows[trunk], n_decays + 1
        kind: Kind = "trunk" if trunk.any() else "scheduled"
        if not _says_something(kind, rows, table):
            n_empty += 1
            continue
        found.append(_curve(name, kind, rows, table, carried))
        n_thinned += len(rows) > MOST_POINTS
    if n_thinned:
        what = plural(n_thinned, "curve")
        notes.append(f"{what} thinned to {MOST_POINTS} points, evenly in log D")
    if n_empty:
        notes.append(f"{plural(n_empty, 'curve')} without any loss left out")
    if n_decays:
        what = f"{plural(n_decays, 'run')} of both kinds"
        notes.append(f"{what}: the trunk is used, the decay after it is a run of the table of runs")
    return found, notes


def _says_something(kind: Kind, rows: IntArray, table: Mapping[str, FloatArray]) -> bool:
    """Whether there is a loss, or the plan of a schedule."""
    planned = kind == "scheduled" and "lr" in table and np.isfinite(table["lr"][rows]).sum() >= 2
    return bool(planned or np.isfinite(table["loss"][rows]).any())


def _curve(
    name: str,
    kind: Kind,
    rows: IntArray,
    table: Mapping[str, FloatArray],
    carried: Mapping[str, AnyArray],
) -> Curve:
    first = rows[0]
    cells_of_run = {c: v[first] for c, v in carried.items()}
    read = {c: v if isinstance(v, str) else as_float(v) for c, v in cells_of_run.items()}
    hp = {c: v for c, v in read.items() if v is not None and v == v}
    return curve(
        name,
        kind,
        table["D"][rows],
        table["loss"][rows],
        table["lr"][rows] if "lr" in table else None,
        N=float(table["N"][first]) if "N" in table else np.nan,
        hp=hp,
    )
