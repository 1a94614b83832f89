"""What the catalogue knows of a published study: where it is, how to read it, what it must hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lawsmith.datasets.records import ReadOptions, Study
from lawsmith.errors import LawsmithError, unknown
from lawsmith.formats import flops

if TYPE_CHECKING:
    import pandas as pd

FOLDER = Path(__file__).parent / "bundled"  # tables that are part of the package
_LR = ("lr",)
_BATCH = ("gbsz", "bs", "bsz", "batch")
_WORDS = {
    "runs": "runs",
    "N": "values of N",
    "D": "values of D",
    "ND": "pairs (N, D)",
    "lr": "learning rates",
    "batch": "batch sizes",
    "lr_batch": "pairs (lr, batch)",
    "ND_lr_batch": "combinations (N, D, lr, batch)",
    "configurations": "configurations",
    "C_total": "FLOPs in total",
}


@dataclass(frozen=True)
class Counts:
    """The size of a study in the columns of the paper's two dataset tables; None: not known.

    ``configurations`` is not among them: it counts every axis, where the paper's (N, D, lr, batch)
    leaves out those beyond lr and batch size.
    """

    runs: int | None = None
    N: int | None = None
    D: int | None = None
    ND: int | None = None
    lr: int | None = None
    batch: int | None = None
    lr_batch: int | None = None
    ND_lr_batch: int | None = None
    C_total: float | None = None
    N_range: tuple[float, float] | None = None
    D_range: tuple[float, float] | None = None
    configurations: int | None = None


@dataclass(frozen=True)
class Source:
    """One file of a study.

    file     its name in the study's folder of $LAWSMITH_DATA and of the cache
    url      the public address, None where there is none
    sha256   of the original file, where the original is at hand; ``n_bytes`` is its length
    convert  makes the file from what the address serves, where that is something else
    tag      the value of the column 'split' for its rows, where a study has several files
    """

    file: str
    url: str | None = None
    sha256: str | None = None
    n_bytes: int | None = None
    convert: Callable[[bytes], bytes] | None = None
    tag: str | None = None


@dataclass(frozen=True)
class Variant:
    """One way to read a study, asked for as ``name:variant``; '' is the default one.

    curves   the file of losses along its runs, where it has one
    """

    about: str
    options: ReadOptions
    expected: Counts = field(default_factory=Counts)
    prepare: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    notes: tuple[str, ...] = ()
    curves: Source | None = None


@dataclass(frozen=True)
class Entry:
    """One catalogued study.

    n_rows       rows its files must have; None where no published copy could be counted
    paper        its counts as printed in the paper's dataset tables
    hold_out     fraction of compute the paper holds out; reach: of its window
    targets      computes at which laws are compared, where the paper's 1e25 FLOPs lie too far
    obtain       what to do to have it, where there is no public table to fetch
    make         draws it, where it is synthetic and has no files
    bundled      its files are part of the package
    """

    name: str
    title: str
    citation: str
    licence: str
    variants: Mapping[str, Variant]
    homepage: str = ""
    folder: str = ""
    sources: tuple[Source, ...] = ()
    n_rows: int | None = None
    default_law: str | None = "LC"
    paper: Counts | None = None
    hold_out: float | None = None
    reach: float | None = None
    targets: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()
    obtain: str | None = None
    make: Callable[[ReadOptions], Study] | None = None
    bundled: bool = False

    @property
    def synthetic(self) -> bool:
        """Whether its runs are drawn from a known law."""
        return self.make is not None

    def variant(self, name: str) -> Variant:
        """The variant of that name."""
        others = [variant for variant in self.variants if variant]
        if name not in self.variants and not others:
            want = f"{self.name}, which has no variants"
            raise LawsmithError("study", got=f"'{self.name}:{name}'", want=want)
        if name not in self.variants:
            raise unknown(f"{self.name}: variant", name, others)
        return self.variants[name]


def count(study: Study) -> Counts:
    """The counts of a study as read."""
    grid = study.grid
    lr = next((axis for axis in _LR if axis in grid.hp), None)
    batch = next((axis for axis in _BATCH if axis in grid.hp), None)
    return Counts(
        runs=len(study.runs),
        N=_n_distinct(study, "N"),
        D=_n_distinct(study, "D"),
        ND=_n_distinct(study, "N", "D"),
        lr=_n_distinct(study, lr),
        batch=_n_distinct(study, batch),
        lr_batch=_n_distinct(study, lr, batch),
        ND_lr_batch=_n_distinct(study, "N", "D", lr, batch),
        C_total=float(grid.C.sum()),
        N_range=_range(study, "N"),
        D_range=_range(study, "D"),
        configurations=len(grid),
    )


def differences(have: Counts, want: Counts) -> list[str]:
    """'909 runs, not 942' for every count that is known and not as wanted."""
    found = []
    for name, words in _WORDS.items():
        got, expected = getattr(have, name), getattr(want, name)
        # Counts are exact; a total of FLOPs is printed to three digits.
        close = 5e-3 if name == "C_total" else 0.0
        if expected is None or (got is not None and abs(got - expected) <= close * expected):
            continue
        shown = [flops(x) if name == "C_total" and x else x for x in (got, expected)]
        found.append(f"{shown[0] or 'no'} {words}, not {shown[1]}")
    return found


def verify(study: Study, expected: Counts) -> None:
    """Refuse a table whose counts are not the published ones."""
    found = differences(count(study), expected)
    if found:
        hint = "to read it as a table of your own, give the path of the file"
        raise LawsmithError(study.name, got="; ".join(found), want="the published table", hint=hint)


def _n_distinct(study: Study, *names: str | None) -> int | None:
    columns = [name for name in names if name is not None and name in study.grid.columns]
    if len(columns) < len(names):
        return None
    return int(study.grid.cells(columns).max()) + 1


def _range(study: Study, name: str) -> tuple[float, float] | None:
    if name not in study.grid.columns:
        return None
    values = study.grid.numbers(name)
    return float(values.min()), float(values.max())
