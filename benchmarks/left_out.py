"""What public tables tell of the numbers of a prior, and priors learnt without one study.

Results are kept in a dictionary of records, key table|all|broad, as `holdout.py` keeps its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from population import population, together

from lawsmith.surface import BROAD, Prior, fit_surface
from lawsmith.surface.learning import Evidence, Part, evidence

if TYPE_CHECKING:
    from holdout import Table

Record = dict[str, Any]
# Tables that repeat runs of another one teach nothing more.
REPEATS = ("porian-hp:beta2", "lr_bsz", "gemstones-shape")


def teaching(tables: Iterable[Table]) -> list[Table]:
    """Tables that a prior is learnt from."""
    return [t for t in tables if t.name not in REPEATS and not t.name.endswith("-inner")]


def evidence_of(table: Table, known: dict[str, Record]) -> Evidence:
    """What all runs of a table tell."""
    key = f"{table.name}|all|broad"
    if key not in known:
        study = table.load()
        parts = evidence(fit_surface(study.grid, study.runs, BROAD))
        known[key] = {"study": table.study, "parts": [_plain(part) for part in parts]}
    return tuple(_part(**part) for part in known[key]["parts"])


def _plain(part: Part) -> Record:
    return {**vars(part), "h": part.h.tolist(), "P": part.P.tolist()}


def _part(names: list[list[str]], h: list[float], P: list[list[float]], **rest: float) -> Part:
    return Part(tuple(map(tuple, names)), np.array(h), np.array(P), **rest)


def by_study(tables: Iterable[Table], known: dict[str, Record]) -> dict[str, Evidence]:
    """What each study tells, its tables together."""
    parts: dict[str, list[Evidence]] = {}
    for table in teaching(tables):
        parts.setdefault(table.study, []).append(evidence_of(table, known))
    return {study: together(found) for study, found in parts.items()}


class LeftOut:
    """Priors learnt from all studies but one."""

    def __init__(self, tables: Iterable[Table], known: dict[str, Record]) -> None:
        self.told = by_study(tables, known)
        self._made: dict[str, Prior] = {}

    def __call__(self, study: str) -> Prior:
        if study not in self._made:
            others = {name: told for name, told in self.told.items() if name != study}
            self._made[study] = population(others)
        return self._made[study]
