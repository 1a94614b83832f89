"""Studies as people plan them: in every cell the runs nearest the optimum that was expected.

Notation and shapes
    m         candidate rows; every column (m,)
    cell      the rows of one (N, D); a configuration is a cell and a setting of the searched axes
    order     (m,) which rows of a group are taken first
    thinning  γ: a group's share of the runs falls as C^-γ, as studies run fewer of the dear ones
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from lawsmith.arrays import BoolArray, FloatArray, IntArray, cell_ids
from lawsmith.datasets.synthetic import Bowl, Columns
from lawsmith.errors import LawsmithError


@dataclass(frozen=True, eq=False)
class Sweep:
    """A study as people plan one: in every cell the settings nearest its expected optimum.

    candidates        N, D and the searched axes of every run that could be, (m,) each
    expected          the searched axes, and where the optimum of each was expected
    n_settings        settings of the searched axes that occur: those nearest some cell's optimum
    n_configurations  at least one for every cell and one for every setting
    further           (N, D) → columns of every choice of the axes beyond those, if there are any
    n_runs            configurations with a choice of the further axes, drawn at random
    """

    candidates: Columns
    expected: Mapping[str, Bowl]
    n_settings: int
    n_configurations: int
    thinning: float = 0.0
    further: Callable[[float, float], Columns] | None = None
    n_runs: int = 0

    def __post_init__(self) -> None:
        n_cells = len(np.unique(_groups(self.candidates, ("N", "D"))))
        if self.n_configurations < n_cells + self.n_settings:
            want = f"one for each of {n_cells} cells and {self.n_settings} settings"
            raise LawsmithError("sweep", got=f"{self.n_configurations} configurations", want=want)

    def columns(self, rng: np.random.Generator) -> Columns:
        """One row per run, ascending in N and D; the searched part is the same for every rng."""
        found = self.configurations()
        if self.further is None:
            return found
        runs = _extended(found, self.further)
        configurations = _groups(runs, ("N", "D", *self.expected))
        order = rng.random(len(configurations))
        priority = _priority(runs, configurations, order, self.thinning)
        return _take(runs, _least(runs, priority, self.n_runs))

    def configurations(self) -> Columns:
        """The distinct (N, D, searched axes)."""
        settings = _groups(self.candidates, tuple(self.expected))
        distance = _distance(self.candidates, self.expected)
        nearest = np.full(settings.max() + 1, np.inf)
        np.minimum.at(nearest, settings, distance)
        kept = np.isin(settings, np.argsort(nearest, kind="stable")[: self.n_settings])
        rows, settings, distance = _take(self.candidates, kept), settings[kept], distance[kept]
        priority = _priority(rows, _groups(rows, ("N", "D")), distance, self.thinning)
        first_of_setting = _ranks(settings, priority) == 0
        chosen = _least(rows, priority, self.n_configurations)
        # A setting that no cell reached is run where it ranks highest, in place of the last choice,
        # which may in turn have been the only one of its setting.
        while len(missing := np.setdiff1d(settings, settings[chosen])):
            priority[first_of_setting & np.isin(settings, missing)] = -1.0
            chosen = _least(rows, priority, self.n_configurations)
        return _take(rows, chosen)


def crossed(cells: Sequence[tuple[float, float]], axes: Mapping[str, Sequence[float]]) -> Columns:
    """Every (N, D) of ``cells`` with every combination of the values of ``axes``."""
    table = np.array([(*cell, *values) for cell, values in product(cells, product(*axes.values()))])
    return dict(zip(("N", "D", *axes), table.T, strict=True))


def joined(*parts: Columns) -> Columns:
    """The rows of all parts, one after the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _distance(columns: Columns, expected: Mapping[str, Bowl]) -> FloatArray:
    """(m,) steps of the grid between a row's setting and the optimum expected for its cell."""
    squares: FloatArray = np.zeros(len(columns["N"]))
    for name, bowl in expected.items():
        values = np.unique(columns[name])
        step = np.log(values[-1] / values[0]) / (len(values) - 1)
        squares += (bowl.offset(columns[name], columns["N"], columns["D"]) / step) ** 2
    # Rounded, so that ties are ties on every machine and go to the lower row.
    return np.asarray(np.round(np.sqrt(squares), 9), dtype=np.float64)


def _priority(rows: Columns, groups: IntArray, order: FloatArray, thinning: float) -> FloatArray:
    """(m,) least first: the rank within a group, raised where runs are dear. 0 for its first."""
    C = rows["N"] * rows["D"]
    return np.asarray(_ranks(groups, order) * (C / C.min()) ** thinning, dtype=np.float64)


def _least(rows: Columns, priority: FloatArray, n: int) -> IntArray:
    """The n rows of least priority, the cheaper of equal ones, ascending."""
    cost = rows["N"] * rows["D"]
    return np.sort(np.lexsort((np.arange(len(cost)), cost, priority))[:n])


def _ranks(groups: IntArray, order: FloatArray) -> IntArray:
    """(m,) place of each row within its group by ``order``, from 0; ties to the lower row."""
    place = np.lexsort((np.arange(len(groups)), order, groups))
    _, starts, sizes = np.unique(groups[place], return_index=True, return_counts=True)
    ranks = np.empty(len(groups), dtype=np.int64)
    ranks[place] = np.arange(len(groups)) - np.repeat(starts, sizes)
    return ranks


def _groups(columns: Columns, names: Sequence[str]) -> IntArray:
    return cell_ids([columns[name] for name in names], len(columns["N"]))


def _take(columns: Columns, rows: IntArray | BoolArray) -> Columns:
    return {name: values[rows] for name, values in columns.items()}


def _extended(columns: Columns, further: Callable[[float, float], Columns]) -> Columns:
    """Every row with each of its choices of the further axes."""
    choices = [further(N, D) for N, D in zip(columns["N"], columns["D"], strict=True)]
    sizes = [len(next(iter(choice.values()))) for choice in choices]
    repeated = _take(columns, np.repeat(np.arange(len(sizes)), sizes))
    return {**repeated, **joined(*choices)}
