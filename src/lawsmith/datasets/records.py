"""What reading a table of runs gives (Study, ReadLog), and how it is read (ReadOptions)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from lawsmith.datasets.cells import Fault
from lawsmith.digest import Columns, Digest, short
from lawsmith.errors import LawsmithError
from lawsmith.formats import count, flops, interval, listed, number, plural
from lawsmith.grid import AnyArray, BoolArray, FloatArray, Grid
from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.runs import Runs

if TYPE_CHECKING:
    import pandas as pd

    from lawsmith.datasets.curve_tables import Curves
    from lawsmith.datasets.synthetic import Truth

    Frame: TypeAlias = pd.DataFrame

_MAX_LISTED = 3  # names of replicates


@dataclass(frozen=True)
class ReadOptions:
    """How to read a table of runs.

    columns            N, D, C, loss or an axis → its name in the file; others are found by
                       well-known names; run → the column with the names of the runs.
                       'params_m:M' gives the unit of a column
    ignore             columns that do not matter; '*' for all that are neither given nor well known
    where              keep the rows for which this expression holds
    target             rows for which this expression holds are the source's own held-out region
    drop_largest_loss  leave out that many finished runs, those of largest loss
    skip_bad_rows      leave out rows with a bad cell instead of refusing the table
    diverged_above     a run with a loss above this diverged, as with NaN
    compute            'auto' (the C column if there is one, else 6ND), '6ND', or a column
    loss_sign          'any' for losses relative to a baseline; laws of log loss cannot use those
    metrics            further columns of numbers to keep, such as accuracies

    >>> options = ReadOptions(where="lr < 0.01", diverged_above=4.0)
    >>> load("tinylm", options).log.n_filtered > 0
    True
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()
    where: str | None = None
    target: str | None = None
    drop_largest_loss: int = 0
    skip_bad_rows: bool = False
    diverged_above: float = np.inf
    compute: str = "auto"
    loss_sign: Literal["positive", "any"] = "positive"
    metrics: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.drop_largest_loss < 0:
            got = self.drop_largest_loss
            raise LawsmithError("--drop-largest-loss", got=got, want="0 or a number of runs")
        if not self.diverged_above > 0.0:
            limit = f"{self.diverged_above:g}"
            raise LawsmithError("diverged_above", got=limit, want="a loss above 0")

    def then(self, other: ReadOptions) -> ReadOptions:
        """These options narrowed by ``other``: filters join, columns and compute override."""
        wheres = [f"({text})" for text in (self.where, other.where) if text]
        return replace(
            self,
            columns={**self.columns, **other.columns},
            ignore=(*self.ignore, *other.ignore),
            where=" and ".join(wheres) or None,
            target=other.target or self.target,
            drop_largest_loss=self.drop_largest_loss + other.drop_largest_loss,
            skip_bad_rows=self.skip_bad_rows or other.skip_bad_rows,
            diverged_above=min(self.diverged_above, other.diverged_above),
            compute=self.compute if other.compute == "auto" else other.compute,
            loss_sign=self.loss_sign if other.loss_sign == "positive" else other.loss_sign,
            metrics=(*self.metrics, *other.metrics),
        )


@dataclass(frozen=True)
class ReadLog:
    """What became of the rows of a table, counted from 1 below the header.

    unfinished   number of runs left out by state: crashed, running, …
    """

    n_rows: int
    n_filtered: int = 0
    unfinished: Mapping[str, int] = field(default_factory=dict)
    bad: tuple[Fault, ...] = ()
    dropped: tuple[int, ...] = ()
    diverged: tuple[int, ...] = ()
    replicates: tuple[tuple[int, ...], ...] = ()

    @property
    def n_bad(self) -> int:
        """Rows left out for a bad cell."""
        return len({fault.row for fault in self.bad})


@dataclass(frozen=True, eq=False)
class Branches:
    """The trunk that each run of a table was branched from, and where.

    parent   '' for a run that is not a branch; empty if the table has no such column
    at       (k,) tokens at the branch point, NaN if not known
    faults   cells of ``at`` that are not numbers: an error once they are needed
    """

    parent: tuple[str, ...]
    at: FloatArray
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """Runs on a grid, with notes for readers of results: what `load` returns.

    >>> study = load("tinylm")
    >>> study
    Study tinylm
      1739 runs of 1519 configurations: 1739 done
      inputs (values): N (6), D (7), lr (8), batch (5)
      compute from 6.57e11 to 1.69e15 FLOPs
    >>> study.to_frame().columns.tolist()
    ['N', 'D', 'C', 'lr', 'batch', 'loss', 'state']

    target       (m,) configurations of the source's own held-out region
    notes        one sentence each, shown beside results
    default_law  a law's name; None if no built-in law applies
    truth        the law behind a synthetic study
    columns      N, D, C, loss or an axis → its column in the table; run → the column with the names
                 of the runs
    run_names    names of the runs, in their order; empty if the table has none
    metrics      further columns by name, one value per run, NaN if missing
    branches     which run each was branched from, and where; None if the table does not say
    curves       losses along runs that come with the study
    units        what the column of a role counts in, if not 1
    measured     columns that vary and look like measurements; they are not used
    warnings     about how the table was read, shown before any result
    """

    name: str
    title: str
    grid: Grid
    runs: Runs
    log: ReadLog
    target: BoolArray
    default_law: str | None
    notes: tuple[str, ...] = ()
    truth: Truth | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    run_names: tuple[str, ...] = ()
    metrics: Mapping[str, FloatArray] = field(default_factory=dict)
    branches: Branches | None = None
    curves: Curves | None = None
    units: Mapping[str, float] = field(default_factory=dict)
    measured: tuple[str, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()

    def __post_init__(self) -> None:
        if self.run_names and len(self.run_names) != len(self.runs):
            got, want = f"{len(self.run_names)} names", f"{len(self.runs)}, one a run, or none"
            raise LawsmithError("run_names", got=got, want=want)

    def config_names(self) -> list[str]:
        """The names of each configuration's runs as one text, '' if there are none."""
        named: list[list[str]] = [[] for _ in range(len(self.grid))]
        for row, name in zip(self.runs.index.tolist(), self.run_names, strict=False):
            named[row].append(name)
        return [listed(one, _MAX_LISTED) for one in named]

    @property
    def synthetic(self) -> bool:
        return self.truth is not None

    @property
    def has_compute(self) -> bool:
        """Whether the cost of a run is known: from a column, or from N and D."""
        names = set(self.grid.names)
        return "C" in names or {"N", "D"} <= names

    def __repr__(self) -> str:
        axes = self.grid.axes
        named = [f"{axis.name} ({len(np.unique(self.grid.column(axis.name)))})" for axis in axes]
        lines = [self._runs_text, f"inputs (values): {', '.join(named)}"]
        if self.has_compute:
            low, high = float(self.grid.C.min()), float(self.grid.C.max())
            lines.append(f"compute from {flops(low)} to {flops(high)} FLOPs")
        return short(f"Study {self.name}", lines)

    def summary(self) -> str:
        """The study as text: runs, inputs with their columns and ranges, notes."""
        return self._digest.text()

    def _repr_html_(self) -> str:
        return self._digest.html()

    @property
    def _digest(self) -> Digest:
        rows = []
        for axis in self.grid.axes:
            name, values = axis.name, self.grid.column(axis.name)
            column = self.columns.get(name, name)
            rows.append((name, column, str(len(np.unique(values))), _range(name, values)))
        table = Columns("Inputs", ("name", "column", "values", "range"), rows)
        return Digest(f"Study: {self.title}", [self._runs_text, table, *self.notes])

    @property
    def _runs_text(self) -> str:
        counts = [f"{n} {state}" for state, n in self.runs.counts().items() if n]
        of = f"{plural(len(self.runs), 'run')} of {plural(len(self.grid), 'configuration')}"
        return f"{of}: {', '.join(counts)}"

    def to_frame(self) -> Frame:
        """One row per run: its name, configuration, compute C, metrics, loss and state."""
        import pandas as pd

        runs, grid = self.runs, self.grid
        named = {"run": list(self.run_names)} if self.run_names else {}
        columns = {name: grid.column(name)[runs.index] for name in grid.names}
        if self.has_compute:
            columns["C"] = grid.C[runs.index]
        ends = {"loss": runs.loss, "state": runs.state.tolist()}
        return pd.DataFrame({**named, **columns, **self.metrics, **ends})

    def to_dict(self) -> dict[str, Any]:
        """The study as plain values, without the runs."""
        return {
            "name": self.name,
            "title": self.title,
            "runs": self.runs.counts(),
            "configurations": len(self.grid),
            "columns": dict(self.columns),
            "default_law": self.default_law,
            "notes": list(self.notes),
        }


def _range(name: str, values: AnyArray) -> str:
    if values.dtype.kind not in "fi":
        return ", ".join(map(str, np.unique(values)[:4]))
    form = {"N": count, "D": count, "C": flops}.get(name, number)
    return interval(float(values.min()), float(values.max()), form)


def study_name(study: Study) -> str:
    """The name in a title: a file without its folders; a synthetic study always says so."""
    return short_name(study.name, synthetic=study.synthetic)


def short_name(path: str, *, synthetic: bool) -> str:
    """A name or a path as it stands in a title."""
    file = path.rsplit("/", 1)[-1]
    name = file if "." in file else path
    return f"{name} (synthetic)" if synthetic and "synthetic" not in name else name


def frame_of(rows: Iterable[Mapping[str, Any]]) -> Frame:
    """A table with one row a mapping; columns in the order in which they first appear."""
    import pandas as pd

    return pd.DataFrame([dict(row) for row in rows])
