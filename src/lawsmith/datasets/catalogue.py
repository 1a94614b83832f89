"""The catalogued studies by name: what is known of each, of bundled/catalogue.toml.

An entry says where a published study is, how to read it and what it must hold. What a study needs
beyond data is here, by the name that the file gives it: how a table is prepared, how a download is
converted, how a synthetic study is made.
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
WORDS = {
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


def count_study(study: Study) -> Counts:
    """The counts of a study as read."""
    grid = study.grid
    batch = next((axis for axis in _BATCH if axis in grid.hp), "")
    found: dict[str, Any] = {}
    for name in _COMBINATIONS:
        parts = name.replace("ND", "N_D").split("_")
        columns = [batch if part == "batch" else part for part in parts]
        if set(columns) <= set(grid.columns):
            found[name] = int(grid.cells(columns).max()) + 1
    for name in {"N", "D"} & set(grid.columns):
        values = grid.numbers(name)
        found[f"{name}_range"] = (float(values.min()), float(values.max()))
    total = float(grid.C.sum())
    return Counts(runs=len(study.runs), C_total=total, configurations=len(grid), **found)


def differences(have: Counts, want: Counts) -> list[str]:
    """'909 runs, not 942' for every known count that differs."""
    found = []
    for name, words in WORDS.items():
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
    if found := differences(count_study(study), expected):
        raise not_published(study.name, "; ".join(found), "the published table")


def not_published(where: str, got: str, want: str) -> LawsmithError:
    """The error for a file that is not what its authors published."""
    hint = "to read it as a table of your own, give the path of the file"
    return LawsmithError(where, got=got, want=want, hint=hint)


Facts = Mapping[str, Mapping[str, Any]]


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


def _entries() -> dict[str, Entry]:
    tables = tomllib.loads((FOLDER / "catalogue.toml").read_text(encoding="utf-8"))
    return {
        name: _entry(name, {**tables.get(table.pop("like", ""), {}), **table})
        for name, table in tables.items()
    }


def _entry(name: str, table: dict[str, Any]) -> Entry:
    bundled = table.pop("facts", None)
    facts: Facts = json.loads((FOLDER / bundled).read_text(encoding="utf-8")) if bundled else {}
    sources = tuple(_source(one, facts) for one in table.pop("source", ()))
    variants = {one.get("name", ""): _variant(one, facts) for one in table.pop("variant")}
    given = {key: _value(key, value) for key, value in table.items()}
    if facts:
        given |= {"n_rows": facts[sources[0].file]["rows"], "bundled": True}
    return Entry(name=name, folder=name, sources=sources, variants=variants, **given)


def _source(table: Mapping[str, Any], facts: Facts) -> Source:
    given = {key: _value(key, value) for key, value in table.items()}
    if known := facts.get(table["file"]):
        given |= {"sha256": known["sha256"], "n_bytes": known["bytes"]}
    return Source(**given)


def _variant(table: Mapping[str, Any], facts: Facts) -> Variant:
    pairs = [text.partition("=") for text in table["columns"]]
    given = {key: table[key] for key in ("where", "diverged_above") if key in table}
    return Variant(
        table["about"],
        ReadOptions(columns={role: column or role for role, _, column in pairs}, **given),
        _value("expected", table.get("expected", {})),
        prepare=_FUNCTIONS.get(table.get("prepare", "")),
        notes=tuple(table.get("notes", ())),
        curves=_source(table["curves"], facts) if "curves" in table else None,
    )


def _value(key: str, value: Any) -> Any:
    """A value of the file as an entry keeps it: functions for their names, tuples for lists."""
    if key in ("convert", "make"):
        return _FUNCTIONS[value]
    if key in ("paper", "expected"):
        return Counts(**{name: _value(name, count) for name, count in value.items()})
    return tuple(value) if isinstance(value, list) else value


ENTRIES: Mapping[str, Entry] = _entries()


def names() -> tuple[str, ...]:
    """Names of the catalogued studies, in the order of the catalogue."""
    return tuple(ENTRIES)


def entry(name: str, entries: Mapping[str, Entry] = ENTRIES) -> Entry:
    """The catalogued study ``name``, which may carry a :variant."""
    base = name.split(":", 1)[0]
    if base not in entries:
        raise unknown("study", base, tuple(entries))
    return entries[base]
