"""The tasks of ScaleBench (arXiv 2604.22753): pool, target region, law, budgets, published figures.

The training split of a table is the pool a search may run, the test split the target region, never
run. Where a table has groups (two corpora, three D2) each has a law, a search and a budget of its
own, and R² is over the target rows of all groups together: between-group differences count as
explained. A configuration that was run several times is one candidate, which costs and shows all of
its runs, so that the pool's cost is that of the benchmark.

The published figures are means and SDs over the benchmark's own law families (ten for most tasks)
and repeats; here a task has one law. The mixture of domains is left out: a run has five losses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import fsum

import numpy as np

from lawsmith.datasets import Study
from lawsmith.errors import unknown
from lawsmith.grid import BoolArray, FloatArray, Grid
from lawsmith.laws.catalogue import EXPERTS, REPEATED, SKALING, VOCABULARY
from lawsmith.laws.law import Law
from lawsmith.runs import Runs
from lawsmith_paper.scalebench import laws
from lawsmith_paper.studies import load


@dataclass(frozen=True)
class Published:
    """R² in the target region of the benchmark's method (MSPE), mean and SD, at a budget."""

    budget: float
    r2: float
    sd: float


@dataclass(frozen=True)
class ScaleTask:
    """One task of the benchmark.

    group     the column whose values are separate laws; None for one law
    offset    added to losses before the law is fitted, where they may be negative
    mspe      the published figures, one a budget, ascending
    all_data  the published R² of fits to the whole pool, mean and SD
    """

    name: str
    study: str
    law: Law
    mspe: tuple[Published, ...]
    all_data: tuple[float, float]
    group: str | None = None
    offset: float = 0.0

    @property
    def budgets(self) -> tuple[float, ...]:
        """Shares of the pool's cost at which the law is judged, ascending."""
        return tuple(figure.budget for figure in self.mspe)

    @property
    def n_init(self) -> int:
        """Runs of the initial design: as many as the law has parameters, at most ten."""
        return min(10, self.law.n_params)


@dataclass(frozen=True, eq=False)
class Group:
    """The part of a task that has one law: what may be run, and what is to be predicted.

    pool    m candidates; C is what all runs of a candidate cost, run_cost one of them, which slices
    runs    the finished runs of the pool's rows
    inputs  the law's inputs at the target rows, (h,) each, a row for every run there
    loss    (h,)
    """

    label: str
    pool: Grid
    runs: Runs
    inputs: Mapping[str, FloatArray]
    loss: FloatArray

    @cached_property
    def cost(self) -> float:
        """What the whole pool costs."""
        return fsum(self.pool.C.tolist())


def _figures(budgets: Sequence[float], *r2_and_sd: tuple[float, float]) -> tuple[Published, ...]:
    return tuple(Published(b, *pair) for b, pair in zip(budgets, r2_and_sd, strict=True))


_LOW, _HIGH = (0.01, 0.05, 0.10), (0.20, 0.35, 0.50)
_ALL = (
    ScaleTask(
        "lr&bsz",
        "scalebench-lr_bsz",
        laws.LR_BSZ,
        _figures(_LOW, (-0.66, 0.53), (0.00, 0.59), (0.22, 0.55)),
        (0.04, 0.67),
    ),
    ScaleTask(
        "farseer",
        "scalebench-farseer",
        SKALING,
        _figures(_LOW, (0.60, 0.11), (0.88, 0.02), (0.93, 0.00)),
        (0.91, 0.01),
    ),
    ScaleTask(
        "data_con",
        "scalebench-data_constrained",
        REPEATED,
        _figures(_LOW, (0.73, 0.37), (0.85, 0.16), (0.86, 0.11)),
        (0.79, 0.23),
    ),
    ScaleTask(
        "moe",
        "scalebench-moe",
        EXPERTS,
        _figures(_LOW, (0.59, 0.39), (0.65, 0.27), (0.83, 0.07)),
        (0.81, 0.04),
    ),
    ScaleTask(
        "sparsity",
        "scalebench-sparsity",
        laws.SPARSITY,
        _figures(_HIGH, (0.31, 0.39), (0.44, 0.17), (0.53, 0.08)),
        (0.37, 0.10),
        group="D2",
    ),
    ScaleTask(
        "vocab",
        "scalebench-vocab",
        VOCABULARY,
        _figures(_LOW, (0.96, 0.02), (0.98, 0.00), (0.98, 0.00)),
        (0.93, 0.16),
        offset=laws.VOCAB_OFFSET,
    ),
    ScaleTask(
        "parallel",
        "scalebench-parallel",
        laws.PARALLEL,
        _figures(_LOW, (-1.00, 0.00), (0.77, 0.39), (0.99, 0.00)),
        (0.99, 0.00),
        group="corpus",
    ),
)
TASKS: Mapping[str, ScaleTask] = {task.name: task for task in _ALL}


def get_task(name: str) -> ScaleTask:
    """The task of that name, as the benchmark's paper writes it."""
    if name not in TASKS:
        raise unknown("task", name, TASKS)
    return TASKS[name]


@cache
def groups_of(name: str) -> tuple[Group, ...]:
    """The groups of a task, read once."""
    task = get_task(name)
    return split(task, load(task.study))


def split(task: ScaleTask, study: Study) -> tuple[Group, ...]:
    """The groups of a task in ``study``, in ascending order of the column that makes them."""
    if task.group is None:
        return (_group("all", task, study, np.ones(len(study.grid), dtype=np.bool_)),)
    column = study.grid.column(task.group)
    return tuple(_group(f"{value}", task, study, column == value) for value in np.unique(column))


def _group(label: str, task: ScaleTask, study: Study, members: BoolArray) -> Group:
    grid, runs = study.grid, study.runs
    rows = np.flatnonzero(members & ~study.target)
    here = runs.select(rows)
    costs = grid.C[rows]
    columns = {name: grid.column(name)[rows] for name in grid.names if name != "C"}
    at = np.isin(runs.index, np.flatnonzero(members & study.target))
    return Group(
        label=label,
        pool=Grid(
            {**columns, "run_cost": costs},
            grid.axes,
            costs * here.replicate_counts(len(rows)),
            slice_by="run_cost",
        ),
        runs=here,
        inputs={name: grid.numbers(name)[runs.index[at]] for name in task.law.inputs},
        loss=runs.loss[at],
    )


def r_squared(loss: FloatArray, predicted: FloatArray) -> float:
    """1 − Σ(loss − predicted)²/Σ(loss − mean)²; for constant losses 1 if exact, else −1.

    −∞ where a prediction is so far off that its square overflows.
    """
    with np.errstate(over="ignore"):
        missed = float(((loss - predicted) ** 2).sum())
    spread = float(((loss - loss.mean()) ** 2).sum())
    if spread < 1e-30:
        return 1.0 if missed < 1e-30 else -1.0
    return 1.0 - missed / spread


def clipped(r2: float) -> float:
    """The benchmark's score: R² within [−1, 1]."""
    return float(np.clip(r2, -1.0, 1.0))
