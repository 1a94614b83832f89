"""The catalogued studies by name: bundled/catalogue.toml read to entries.

What a study needs beyond data is here, by the name that the file gives it: how a table is prepared,
how a download is converted, how a synthetic study is made.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lawsmith.datasets.entries import FOLDER, Counts, Entry, Source, Variant
from lawsmith.datasets.gadre import flatten
from lawsmith.datasets.records import ReadOptions
from lawsmith.datasets.synthetic import demo_study
from lawsmith.errors import unknown

if TYPE_CHECKING:
    import pandas as pd

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
        given["n_rows"] = facts[sources[0].file]["rows"]
    return Entry(
        name=name, folder=name, sources=sources, variants=variants, bundled=bool(facts), **given
    )


def _source(table: Mapping[str, Any], facts: Facts) -> Source:
    known = facts.get(table["file"])
    checks = {"sha256": known["sha256"], "n_bytes": known["bytes"]} if known else {}
    return Source(**{key: _value(key, value) for key, value in table.items()}, **checks)


def _variant(table: Mapping[str, Any], facts: Facts) -> Variant:
    pairs = [text.partition("=") for text in table["columns"]]
    given = {key: table[key] for key in ("where", "diverged_above") if key in table}
    curves = table.get("curves")
    return Variant(
        table["about"],
        ReadOptions(columns={role: column or role for role, _, column in pairs}, **given),
        _value("expected", table.get("expected", {})),
        prepare=_FUNCTIONS.get(table.get("prepare", "")),
        notes=tuple(table.get("notes", ())),
        curves=None if curves is None else _source(curves, facts),
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
