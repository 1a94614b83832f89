"""A table of losses along runs, one row per step, to thinned curves; errors name row and column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lawsmith.arrays import AnyArray, BoolArray, FloatArray, IntArray
from lawsmith.datasets import cells, roles
from lawsmith.datasets.cells import Fault
from lawsmith.datasets.readers import read_curve_frame
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
    kind           of every curve, if the table has no column for it
    carry          further columns to keep, one value per run: the hyperparameters of the study
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
    """The curves of a table with one row per step of each run."""
    options = options or CurveOptions()
    frame = cells.number_rows(frame, source=name)
    for role in options.columns:
        if role not in ROLES:
            raise unknown("--curve-columns", role, ROLES)
    names, option = list(frame.columns), "--curve-columns"
    schema = roles.resolve(names, options.columns, source=name, roles=ROLES, option=option)
    for role in ("run", "D", "loss"):
        if role not in schema.roles:
            raise roles.missing(role, names, name, option)
    roles.check_headers(frame, schema, source=name, option=option)
    columns = {role: frame[column] for role, column in schema.roles.items()}
    codes, runs = cells.factorize(columns["run"])
    kinds, faults = _kinds(columns.get("kind"), len(frame), options, source=name)
    table: dict[str, FloatArray] = dict.fromkeys(("N", "lr"), np.full(len(frame), np.nan))
    readers: dict[str, cells.Reader] = {
        "D": partial(cells.positive, unit=schema.units.get("D", 1.0)),
        "loss": cells.loss,
        "N": partial(cells.optional, unit=schema.units.get("N", 1.0)),
        "lr": cells.rate,
    }
    for role in [role for role in readers if role in columns]:
        table[role], bad = readers[role](columns[role])
        faults += bad
    for row in frame.index.to_numpy()[codes < 0].tolist():
        faults.append(Fault(row, schema.roles["run"], "nothing", "the name of a run"))
    if not options.skip_bad_rows:
        cells.raise_first(faults, source=name)
    good = ~np.isin(frame.index, [fault.row for fault in faults])
    carried = {c: frame[c].to_numpy() for c in options.carry if c in frame.columns}
    curves, notes = _curves([*map(roles.name_text, runs)], codes, kinds, good, table, carried)
    if not curves:
        raise LawsmithError(name, got="no row with a loss", want="losses along at least one run")
    return Curves(name, tuple(curves), len(frame), tuple(notes))


def _kinds(
    column: pd.Series[Any] | None, n: int, options: CurveOptions, *, source: str
) -> tuple[AnyArray, list[Fault]]:
    """(n,) the kind of each row, from the option or the column, and the cells with another one."""
    if options.kind not in (None, *KINDS):
        raise unknown("--curve-kind", str(options.kind), KINDS)
    if column is None and options.kind is None:
        raise LawsmithError(source, got="curves of unknown kind", want=KIND_BY)
    if column is None:
        return np.full(n, options.kind), []
    if options.kind is not None:
        got = f"{options.kind}, and the column {str(column.name)!r} in {source}"
        raise LawsmithError("--curve-kind", got=got, want="one of the two")
    kinds = np.array(cells.map_cells(column, lambda cell: str(cell).strip().lower()))
    bad = np.flatnonzero(~np.isin(kinds, KINDS)).tolist()
    shown = cells.map_cells(column, lambda cell: repr(str(cell)))
    return kinds, [
        Fault(column.index[i], str(column.name), shown[i] or "nothing", "trunk or scheduled")
        for i in bad
    ]


def _curves(
    names: Sequence[str],
    codes: IntArray,
    kinds: AnyArray,
    good: BoolArray,
    table: Mapping[str, FloatArray],
    carried: Mapping[str, AnyArray],
) -> tuple[list[Curve], list[str]]:
    """One curve per run, and notes on them."""
    curves, notes = [], []
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
        N, D, loss, lr = (table[role][rows] for role in ("N", "D", "loss", "lr"))
        planned = kind == "scheduled" and np.isfinite(lr).sum() >= 2
        if not planned and not np.isfinite(loss).any():
            n_empty += 1
            continue
        cell = {c: values[rows[0]] for c, values in carried.items()}
        read = {c: v if isinstance(v, str) else as_float(v) for c, v in cell.items()}
        hp = {c: v for c, v in read.items() if v is not None and v == v}
        curves.append(curve(name, kind, D, loss, lr, N=float(N[0]), hp=hp))
        n_thinned += len(rows) > MOST_POINTS
    if n_thinned:
        what = plural(n_thinned, "curve")
        notes.append(f"{what} thinned to {MOST_POINTS} points, evenly in log D")
    if n_empty:
        notes.append(f"{plural(n_empty, 'curve')} without any loss left out")
    if n_decays:
        what = f"{plural(n_decays, 'run')} of both kinds"
        notes.append(f"{what}: the trunk is used, the decay after it is a run of the table of runs")
    return curves, notes
