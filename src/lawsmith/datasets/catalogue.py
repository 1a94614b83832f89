"""The catalogue of studies by name, from bundled/catalogue.toml.

An entry says where a published study is, how to read it and what it must hold. The functions that
the file names are here: they prepare a table, convert a download or draw a synthetic study.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lawsmith.datasets.gadre import flatten
from lawsmith.datasets.records import ReadOptions, Study
from lawsmith.datasets.synthetic import demo_study
from lawsmith.errors import LawsmithError, unknown
from lawsmith.formats import flops

if TYPE_CHECKING:
    import pandas as pd

FOLDER = Path(__file__).parent / "bundled"  # tables that are part of the package
_BATCH = ("gbsz", "bs", "bsz", "batch")
_COMBINATIONS = ("N", "D", "ND", "lr", "batch", "lr_batch", "ND_lr_batch")
LABELS = {
    "runs": "runs",
    "configurations": "configurations",
    "N": "values of N",
    "D": "values of D",
    "ND": "pairs (N, D)",
    "lr": "learning rates",
    "batch": "batch sizes",
    "lr_batch": "pairs (lr, batch)",
    "ND_lr_batch": "combinations (N, D, lr, batch)",
    "C_total": "FLOPs in total",
}


@dataclass(frozen=True)
class Counts:
    """The size of a study, as in the paper's two dataset tables; None: not known.

    Only ``configurations`` is not in those tables. It counts every axis, where the paper's
    (N, D, lr, batch) counts lr and batch size alone.
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
    url      the public address, None if there is none
    sha256   of the original file, if known; ``n_bytes`` is its length
    convert  makes the file from what the address serves, if that is something else
    tag      the value of the column 'split' for its rows, if the study has several files
    """

    file: str
    url: str | None = None
    sha256: str | None = None
    n_bytes: int | None = None
    convert: Callable[[bytes], bytes] | None = None
    tag: str | None = None


@dataclass(frozen=True)
class Variant:
    """One way to read a study, loaded as ``name:variant``; '' is the default.

    curves   the file of losses along its runs, if it has one
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

    n_rows       rows its files must have; None if no published copy could be counted
    paper        its counts in the paper's dataset tables
    hold_out     fraction of compute that the paper holds out
    reach        factor by which the paper's window of candidates reaches beyond the frontier
    targets      computes at which laws are compared, where the paper's 1e25 FLOPs are too far away
    obtain       how to get it, if there is no public table to fetch
    make         draws it, if it is synthetic and has no files
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
        if name in self.variants:
            return self.variants[name]
        if others := [variant for variant in self.variants if variant]:
            raise unknown(f"{self.name}: variant", name, others)
        want = f"{self.name}, which has no variants"
        raise LawsmithError("study", got=f"'{self.name}:{name}'", want=want)


def count_study(study: Study) -> Counts:
    """The counts of a study as read."""
    grid = study.grid
    found: dict[str, Any] = {"runs": len(study.runs), "configurations": len(grid)}
    batch = next((axis for axis in _BATCH if axis in grid.hp), "")
    for name in _COMBINATIONS:
        parts = name.replace("ND", "N_D").split("_")
        columns = [batch if part == "batch" else part for part in parts]
        if set(columns) <= set(grid.columns):
            found[name] = int(grid.cells(columns).max()) + 1
    for name in {"N", "D"} & set(grid.columns):
        values = grid.numbers(name)
        found[f"{name}_range"] = (float(values.min()), float(values.max()))
    return Counts(C_total=float(grid.C.sum()), **found)


def differences(have: Counts, want: Counts) -> list[str]:
    """'909 runs, not 942' for every known count that differs."""
    lines = []
    for name, label in LABELS.items():
        got, expected = getattr(have, name), getattr(want, name)
        # Counts are exact; a total of FLOPs is printed to three digits.
        close = 5e-3 if name == "C_total" else 0.0
        if expected is None or (got is not None and abs(got - expected) <= close * expected):
            continue
        shown = [flops(x) if name == "C_total" and x else x for x in (got, expected)]
        lines.append(f"{shown[0] or 'no'} {label}, not {shown[1]}")
    return lines


def not_published(where: str, got: str, want: str) -> LawsmithError:
    """The error for a file that is not what its authors published."""
    hint = "to read it as a table of your own, give the path of the file"
    return LawsmithError(where, got=got, want=want, hint=hint)


def _round_lr(frame: pd.DataFrame) -> pd.DataFrame:
    """Learning rates to three digits: 3.453e-4 and 3.4526698e-4 are one value printed twice."""
    return frame.assign(lr=[float(f"{lr:.3g}") for lr in frame["lr"]])


def _best_over_beta2(frame: pd.DataFrame) -> pd.DataFrame:
    """The run of least loss for each (N, batch, lr)."""
    best = frame.groupby(["N", "bs", "lr"], sort=False)["loss"].idxmin()
    return frame.loc[best.sort_values()]


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "round_lr": _round_lr,
    "best_over_beta2": _best_over_beta2,
    "flatten": flatten,
    "demo": lambda options: demo_study(options=options),
}


def _entry(name: str, table: dict[str, Any]) -> Entry:
    """An entry of the file; ``facts`` names a file with the rows, bytes and checksums of others."""
    bundled = table.pop("facts", None)
    facts = json.loads((FOLDER / bundled).read_text(encoding="utf-8")) if bundled else {}
    sources = tuple(_source(one, facts) for one in table.pop("source", ()))
    variants = {one.get("name", ""): _variant(one, facts) for one in table.pop("variant")}
    if bundled:
        table |= {"n_rows": facts[sources[0].file]["rows"], "bundled": True}
    return Entry(name=name, folder=name, sources=sources, variants=variants, **_values(table))


def _source(table: Mapping[str, Any], facts: Mapping[str, Any]) -> Source:
    known = facts.get(table["file"])
    checks = {"sha256": known["sha256"], "n_bytes": known["bytes"]} if known else {}
    return Source(**_values(table), **checks)


def _variant(table: Mapping[str, Any], facts: Mapping[str, Any]) -> Variant:
    pairs = [text.partition("=") for text in table["columns"]]
    options = {key: table[key] for key in ("where", "diverged_above") if key in table}
    given = {key: table[key] for key in ("about", "expected", "prepare", "notes") if key in table}
    return Variant(
        options=ReadOptions(columns={role: column or role for role, _, column in pairs}, **options),
        curves=_source(table["curves"], facts) if "curves" in table else None,
        **_values(given),
    )


def _values(table: Mapping[str, Any]) -> dict[str, Any]:
    """Values of the file as an entry keeps them: functions for their names, tuples for lists."""
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key in ("convert", "make", "prepare"):
            values[key] = _FUNCTIONS[value]
        elif key in ("paper", "expected"):
            values[key] = Counts(**_values(value))
        else:
            values[key] = tuple(value) if isinstance(value, list) else value
    return values


def _read_catalogue() -> dict[str, Entry]:
    tables = tomllib.loads((FOLDER / "catalogue.toml").read_text(encoding="utf-8"))
    return {
        name: _entry(name, {**tables.get(table.pop("like", ""), {}), **table})
        for name, table in tables.items()
    }


ENTRIES: Mapping[str, Entry] = _read_catalogue()


def names() -> tuple[str, ...]:
    """Names of the catalogued studies, in the order of the catalogue."""
    return tuple(ENTRIES)


def entry(name: str, entries: Mapping[str, Entry] = ENTRIES) -> Entry:
    """The catalogued study ``name``, which may carry a :variant."""
    base = name.split(":", 1)[0]
    if base not in entries:
        raise unknown("study", base, tuple(entries))
    return entries[base]
